"""Responses that browsers display are stored as received; their connection is not reused."""

import io
import socket
import struct
from contextlib import asynccontextmanager, suppress

import pytest
from warcio.archiveiterator import ArchiveIterator

from archiver.config import Settings
from archiver.errors import FetchError
from archiver.http.fetcher import Fetcher
from archiver.http.requests import OutgoingRequest
from archiver.http.response_parser import dechunk
from archiver.model.capture import Truncation
from archiver.warc import writer as warc_writer
from archiver.warc.reader import open_payload, read_record
from archiver.warc.records import new_record_id
from archiver.warc.writer import write_record
from tests.chromium import new_page
from tests.http.odd_responses import BODY, LENGTH, ODD, response
from tests.raw_server import raw_connections

NAMES = list(ODD)


def serving(answers):
    """Run a server that sends the n-th answer to ``/n`` and closes.

    Yield its origin and connections. An answer that begins with ``+`` leaves the connection open,
    one with ``!`` resets it.
    """

    async def serve(reader, writer, _number):
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            answer = answers[request.split()[1].decode()]
            writer.write(answer.lstrip(b"+!"))
            await writer.drain()
            if answer.startswith(b"!"):
                linger = struct.pack("ii", 1, 0)
                connection = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            if not answer.startswith(b"+"):
                break

    return raw_connections(serve)


@asynccontextmanager
async def fetching(answers):
    """Yield a function that fetches a path of a server with these answers, and its connections."""
    async with (
        serving(answers) as (origin, connections),
        Fetcher(Settings(allow_networks="127.0.0.0/8")) as fetcher,
    ):
        yield lambda path: fetcher.fetch(OutgoingRequest(origin + path)), connections


ITS_STATUS = {"HTTP/1.1\t200\tOK": "", "HTTP/1.1 200OK": "200OK"}
"""Status codes that warcio reports for status lines that it splits at the wrong place."""

NOT_DECHUNKED = {
    *("LF after chunks", "LF at the end of chunks", "a trailer", "an odd trailer"),
    *("no end of trailers", "half a last chunk", "a size that is none", "more than a chunk's size"),
    *(f"the coding {codings}" for codings in (", chunked", "chunked, chunked", "gzip, chunked")),
    "the coding Chunked",
}
"""Responses in whose payload warcio leaves chunk framing, or bytes after the body."""


async def test_responses_that_a_browser_shows_are_stored_as_received():
    async with fetching({f"/{n}": ODD[name].answer for n, name in enumerate(NAMES)}) as (fetch, _):
        for number, name in enumerate(NAMES):
            if ODD[name].is_kept:
                check_stored(name, await fetch(f"/{number}"))
            else:
                with pytest.raises(FetchError) as raised:
                    await fetch(f"/{number}")
                assert raised.value.failure.kind in ("protocol", "disconnected"), name


def check_stored(name, exchange):
    """Check the bytes of an exchange, and that warcio and we read its record."""
    odd, file = ODD[name], io.BytesIO()
    write_record(warc_writer.response(exchange, id=new_record_id(), request_id=None), file)
    with exchange.body as body:
        body.seek(0)
        assert exchange.head + body.getvalue() == (odd.kept or odd.answer), name
        payload = b"".join(dechunk([body.read()])) if exchange.chunked else body.getvalue()
    assert (payload, exchange.payload_length) == (BODY, len(BODY)), name
    assert (exchange.status, exchange.truncated) == (200, odd.truncated), name
    file.seek(0)
    theirs = next(ArchiveIterator(file))
    assert theirs.http_headers.get_statuscode() == ITS_STATUS.get(name, "200"), name
    assert theirs.rec_headers.get_header("WARC-Truncated") == exchange.truncated, name
    payload = theirs.content_stream().read()
    assert BODY in payload, name
    assert (payload == BODY) is (name not in NOT_DECHUNKED), name
    head, payload = open_payload(read_record(file, 0))
    assert (head.status, b"".join(payload)) == (200, BODY), name


LENIENT = (
    "a body longer than its length",
    "the same length twice",
    "a length before chunks",
    "no colon",
    "a space before the colon",
    "a folded value",
    "LF for CRLF",
    "HTTP/1.1 200OK",
    "HTTP/2 200 OK",
    "HTTP/1.0 200 OK",
    "four bytes before the status",
    "LF after chunks",
    "more behind the last chunk",
    "two lengths",
)
REGULAR = ("a value in UTF-8", "a trailer", "an extension", "103 Early Hints before it")


async def test_a_connection_is_reused_after_regular_responses_only():
    for name, count in (dict.fromkeys(LENIENT, 2) | dict.fromkeys(REGULAR, 1)).items():
        answers = {"/": b"+" + ODD[name].answer, "/next": b"+" + response(LENGTH)}
        async with fetching(answers) as (fetch, connections):
            for path in ("/", "/next", "/next"):
                with suppress(FetchError):
                    (await fetch(path)).body.close()

        assert len(connections) == count, name


async def test_a_body_truncated_by_a_reset_is_stored():
    for field in (b"Content-Length: 500", b"X: no length", b"Connection: close"):
        answer = response(field)
        async with fetching({"/": b"!" + answer}) as (fetch, _):
            exchange = await fetch("/")

        with exchange.body as body:
            assert exchange.head + body.read() == answer
        assert exchange.truncated is Truncation.DISCONNECT


async def chromium_shows_and_refuses_the_same_responses(browser):
    """Run by ``test_encoding_detection``, in one browser."""
    answers = {f"/{number}": ODD[name].answer for number, name in enumerate(NAMES)}
    frames = "".join(f'<iframe src="/{number}"></iframe>' for number in range(len(NAMES)))
    page = f"<!DOCTYPE html>{frames}".encode()
    answers["/"] = response(b"Content-Length: %d" % len(page), body=page)
    answers["/favicon.ico"] = response(LENGTH)
    async with serving(answers) as (origin, _):
        tab = await new_page(browser)
        await tab.goto(f"{origin}/")
        shown = await tab.evaluate(
            "[...document.querySelectorAll('iframe')]"
            ".map(frame => frame.contentDocument?.body?.innerText.trim() ?? '')"
        )

    results = {name: text == "hello world" for name, text in zip(NAMES, shown, strict=True)}
    assert results == {name: odd.is_shown for name, odd in ODD.items()}
