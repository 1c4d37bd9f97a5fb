"""A capture's media type in the index is the one that its replay sends."""

from dataclasses import replace
from io import BytesIO

from hypothesis import example, given
from hypothesis import strategies as st

from archiver.crawl.record_building import capture_of
from archiver.http.headers import parse_head
from archiver.http.media_types import parse_media_type
from archiver.http.timestamps import to_datetime
from archiver.model.capture import Exchange, PayloadDigest, RecordId
from archiver.replay.response import ReplayRequest, build_presentation
from archiver.replay.response_headers import Viewer
from archiver.services.reindex import reindex
from tests.raw_server import raw_web
from tests.segments import segments

ASKED = ReplayRequest(Viewer("http://localhost"))
PAGE = b"<!DOCTYPE html><title>Here</title><p>What this is, its head says more than once."
DECLARED = (
    ("application/pdf", "text/html"),
    ("text/html", "text/plain; charset=utf-8"),
    ("text/html", "*/*"),
    ("bogus", "text/html; charset=utf-8"),
    ("application/pdf, text/html",),
    ("text/plain", "image/png", "text/html;charset=koi8-r", "nothing"),
    ('text/html;x="', "text/plain"),
)
kinds = st.sampled_from(
    ["text/html", "TEXT/Plain;charset=x", "image/png", "*/*", "no", "", 'a/b;"']
)


def head_with(declared) -> bytes:
    fields = "".join(f"Content-Type: {each}\r\n" for each in declared)
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(PAGE)}\r\n{fields}\r\n".encode()


def sent_type(headers) -> str:
    return parse_media_type(dict(headers)["Content-Type"]).essence


@given(st.lists(st.lists(kinds, min_size=1, max_size=3).map(", ".join), max_size=4))
@example(["application/pdf", "text/html"])
def test_of_any_fields_replay_and_index_make_the_same(declared):
    head = parse_head(head_with(declared))
    exchange = Exchange(
        url="http://a.example/",
        at=to_datetime("20260301120000"),
        ip="",
        request=b"",
        head=head_with(declared),
        body=BytesIO(PAGE),
        chunked=False,
        status=200,
        headers=head.headers,
        payload_digest=PayloadDigest("sha256:" + "0" * 64),
        payload_length=len(PAGE),
    )

    capture = capture_of(exchange, RecordId("urn:uuid:0"))

    assert capture.media_type in (
        "",
        sent_type(build_presentation(capture, head, PAGE, ASKED).headers),
    )


async def types(archive, origin) -> list[tuple[str, str]]:
    """Return the media types of each capture in the index and in the replay."""
    found = []
    for n in range(len(DECLARED)):
        (capture,) = await archive.replay.captures_of(f"{origin}/{n}")
        replayed = await archive.replay.open(capture, ASKED)
        await replayed.body.aclose()
        found.append((capture.media_type, sent_type(replayed.headers)))
    return found


def answer(target: bytes) -> bytes:
    if not target[1:].isdigit():
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    return head_with(DECLARED[int(target[1:])]) + PAGE


async def test_content_types_agree_after_crawl_import_and_reindex(settings, open_archive, tmp_path):
    async with raw_web(answer) as origin, open_archive() as archive:
        await archive.entries.save([f"{origin}/{n}" for n in range(len(DECLARED))], source="cli")
        await archive.crawling.work()
        crawled = await types(archive, origin)
    (tmp_path / "all.warc.gz").write_bytes(b"".join(segments(settings.data).values()))
    async with open_archive(replace(settings, data=tmp_path / "other")) as archive:
        with (tmp_path / "all.warc.gz").open("rb") as source:
            await archive.imports.read_file(source, name="all.warc.gz")
        imported = await types(archive, origin)
    await reindex(settings)
    async with open_archive() as archive:
        rebuilt = await types(archive, origin)

    assert all(held == sent for held, sent in crawled)
    assert crawled == imported == rebuilt
