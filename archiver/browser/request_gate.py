"""Request gate: forward proxy for one browser page.

The one client is our own Chromium; a page may still be behind what it sends, so heads and bodies
are bounded (RFC 9112).

TLS ends here, so that requests are seen; whoever answers them stands where the guard does. To the
page the network failed for a request that is refused, or fails: it is led to where none may be led
(``proxied.REFUSAL``), on the connection that it came by, since ten thousand refusals would be as
many connections, with TLS each. An answer that breaks off, and a WebSocket, is a connection that
closes.
"""

import asyncio
import os
import socket
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Protocol

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from archiver.config import Settings
from archiver.errors import FetchError, InvalidResponse, InvalidUrl
from archiver.http.address_guard import BlockedAddressError
from archiver.http.fetcher import Fetcher
from archiver.http.headers import ResponseHead
from archiver.http.requests import Outgoing
from archiver.http.response_parser import ChunkDecoder
from archiver.http.urls import parse_url
from archiver.model.failure import Failure, FailureKind

_VALID = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class GateKey:
    """What the gate shows to the browser.

    Attributes:
        tls: the server's side of TLS, by HTTP/1.1.
        fingerprint: Base64 of the SHA-256 of its SubjectPublicKeyInfo, as Chromium takes it.
    """

    tls: ssl.SSLContext
    fingerprint: str


def make_gate_key() -> GateKey:
    """A key and a certificate signed by itself; nothing of it is ever on disk."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    pem = _certificate(key) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.set_alpn_protocols(["http/1.1"])
    with os.fdopen(os.memfd_create("gate"), "wb") as file:
        file.write(pem)
        file.flush()
        tls.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
    return GateKey(tls, b64encode(sha256(public).digest()).decode())


def _certificate(key: ec.EllipticCurvePrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "archiver")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _VALID)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


MOST_HEAD_BYTES = 256 << 10
MOST_CONTENT_BYTES = 16 << 20
REFUSAL = b"HTTP/1.1 302 Refused\r\nlocation: about:blank\r\ncontent-length: 0\r\n\r\n"
"""An answer that fails in the browser as the network does: no redirect leads to ``about:``."""
_PIECE = 64 << 10
_WITHOUT_BODY = frozenset({204, 205, 304})
_HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade".split()
)
"""Fields of one connection (RFC 9110 §7.6.1)."""
_NOT_ANSWERED = _HOP_BY_HOP | {"content-length", "alt-svc"}
"""Nor is the browser told of other ways to a host."""


@dataclass(frozen=True, slots=True)
class Proxied:
    """A request as it came to the gate.

    Attributes:
        method, target: of its first line.
        headers: (name, value) in order.
        body: its content.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def header(self, name: str) -> str:
        """The first field of that lower-case name; empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def is_websocket(self) -> bool:
        """Whether it wants to go on as a WebSocket (RFC 6455 §4.1)."""
        return self.header("upgrade").lower() == "websocket"

    @property
    def onward(self) -> tuple[tuple[str, str], ...]:
        """The fields that are for whoever answers."""
        return tuple(
            (name, value)
            for name, value in self.headers
            if name.lower() not in _HOP_BY_HOP | {"host", "content-length"}
        )


async def read_request(stream: asyncio.StreamReader) -> Proxied | None:
    """The next request; None where there is none.

    Raises:
        InvalidResponse: it is none, or too large.
    """
    try:
        head = await stream.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise InvalidResponse("The head of a request does not end.") from error
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3:
        raise InvalidResponse("This is no request.")
    fields = [line.partition(":") for line in lines[1:] if ":" in line]
    headers = tuple((name.strip(), value.strip()) for name, _, value in fields)
    asked = Proxied(parts[0], parts[1], headers)
    return Proxied(asked.method, asked.target, headers, await _content(stream, asked))


async def _content(stream: asyncio.StreamReader, asked: Proxied) -> bytes:
    length = asked.header("content-length")
    if "chunked" in asked.header("transfer-encoding").lower():
        return await _chunked(stream)
    if not length:
        return b""
    if not length.isdecimal() or int(length) > MOST_CONTENT_BYTES:
        raise InvalidResponse("A request has more content than is taken.")
    return await stream.readexactly(int(length))


async def _chunked(stream: asyncio.StreamReader) -> bytes:
    decoder, found = ChunkDecoder(), bytearray()
    while not (decoder.is_complete or decoder.is_broken):
        piece = await stream.read(_PIECE)
        if not piece or len(found) > MOST_CONTENT_BYTES:
            raise InvalidResponse("A request breaks off, or has more content than is taken.")
        for each in decoder.feed(piece):
            found += each
    return bytes(found)


async def write_answer(
    stream: asyncio.StreamWriter, method: str, head: ResponseHead, payload: AsyncIterator[bytes]
) -> None:
    """Write an answer, its body framed anew as chunks."""
    has_body = method != "HEAD" and head.status not in _WITHOUT_BODY
    stream.write(_head(head.status, head.reason, head.headers, is_chunked=has_body))
    async for piece in payload:
        if has_body and piece:
            stream.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await stream.drain()
    if has_body:
        stream.write(b"0\r\n\r\n")
    await stream.drain()


def _head(
    status: int, reason: str, headers: Sequence[tuple[str, str]], *, is_chunked: bool
) -> bytes:
    lines = [f"HTTP/1.1 {status} {reason}".strip()]
    lines += [f"{name}: {value}" for name, value in headers if name not in _NOT_ANSWERED]
    if is_chunked:
        lines.append("transfer-encoding: chunked")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


async def connect(
    fetcher: Fetcher, settings: Settings, host: str, port: int, is_tls: bool
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to an address of a host that may be connected to; certificates are checked.

    Raises:
        FetchError: none may be, or none can be.
    """
    # It reads all certificates that the machine trusts: tens of milliseconds of the loop.
    context = await asyncio.to_thread(ssl.create_default_context) if is_tls else None
    try:
        async with asyncio.timeout(settings.connect_timeout):
            for address in await _addresses(fetcher, host, port):
                name = host if is_tls else None
                return await asyncio.open_connection(
                    address, port, ssl=context, server_hostname=name
                )
    except BlockedAddressError as error:
        raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, f"{error}.")) from error
    except (OSError, TimeoutError) as error:
        message = f"{host} can't be reached: {error}."
        raise FetchError(Failure(FailureKind.REFUSED, message)) from error
    raise FetchError(Failure(FailureKind.DNS, f"The name {host} can't be resolved."))


async def _addresses(fetcher: Fetcher, host: str, port: int) -> list[str]:
    if ":" in host or host.replace(".", "").isdecimal():
        if not fetcher.guard.permits(host):
            raise BlockedAddressError(host, host)
        return [host]
    found = await fetcher.resolver.resolve(host, port, socket.AF_UNSPEC)
    return [each["host"] for each in found]


MOST_CONNECTIONS = 256
"""Of one page; Chromium has 32 to a proxy, and WebSockets beside them."""
_CONNECT = b"CONNECT "
_MOST_CONNECT_BYTES = 4096
_HANDSHAKE = 0x16
"""The first byte of a TLS record that holds a handshake (RFC 8446 §5.1)."""
_PATIENCE_SECONDS = 30

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Answering(Protocol):
    """What the gate passes on of an answer."""

    @property
    def head(self) -> ResponseHead:
        """Its status and fields."""

    def payload(self) -> AsyncIterator[bytes]:
        """The body without its transfer coding."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """What is behind the gate.

    Attributes:
        answer: answers a request while the block runs; raises ``FetchError`` where it can't.
        connect: a connection to a host and port, with TLS or without, for a WebSocket.
    """

    answer: Callable[[Outgoing], AbstractAsyncContextManager[Answering]]
    connect: Callable[[str, int, bool], Awaitable[_Streams]]


class Gate:
    """One page's way out.

    Args:
        listening: where its browser context connects to; closed with the gate.
        tls: the server's side.
        beyond: who answers.
    """

    def __init__(self, listening: socket.socket, tls: ssl.SSLContext, beyond: Beyond) -> None:
        self._listening = listening
        self._tls = tls
        self._beyond = beyond
        self._room = asyncio.Semaphore(MOST_CONNECTIONS)

    async def serve(self) -> None:
        """Serve until cancelled; no connection outlives it."""
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    await self._room.acquire()
                    accepted, _ = await loop.sock_accept(self._listening)
                    group.create_task(self._converse(accepted))
        finally:
            self._listening.close()

    async def _converse(self, accepted: socket.socket) -> None:
        """Serve one connection to its end, whatever comes."""
        accepted.setblocking(False)
        streams: _Streams | None = None
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                authority = await _read_connect(accepted)
                is_tls = bool(authority) and await _first_byte(accepted) == _HANDSHAKE
                streams = await _streams(accepted, self._tls if is_tls else None)
            origin = f"http{'s' if is_tls else ''}://{authority}" if authority else ""
            while await self._exchange(*streams, origin):
                pass
        except (OSError, EOFError, TimeoutError, FetchError, InvalidResponse, InvalidUrl):
            pass  # the page is told by the connection's end
        finally:
            self._room.release()
            if streams:
                streams[1].transport.abort()
            else:
                accepted.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, origin: str
    ) -> bool:
        """Serve one request; whether another may follow."""
        proxied = await read_request(reader)
        if proxied is None:
            return False
        url = parse_url(origin + proxied.target)
        if proxied.is_websocket:
            await self._pass_through(reader, writer, proxied, url)
            return False
        asked = Outgoing(url, proxied.method, proxied.onward, proxied.body, is_browser=True)
        is_begun = False
        try:
            async with self._beyond.answer(asked) as answer:
                is_begun = True
                await write_answer(writer, asked.method, answer.head, answer.payload())
        except FetchError:
            if is_begun:
                raise
            writer.write(REFUSAL)
            await writer.drain()
        return True

    async def _pass_through(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        proxied: Proxied,
        url: str,
    ) -> None:
        """Let a WebSocket through to a host that may be connected to; nothing of it is kept."""
        scheme, _, rest = url.partition("://")
        authority, slash, path = rest.partition("/")
        host, port = _split(authority, 443 if scheme == "https" else 80)
        far_reader, far_writer = await self._beyond.connect(host, port, scheme == "https")
        try:
            far_writer.write(_write_request(proxied, slash + path))
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, far_writer))
                group.create_task(_pump(far_reader, writer))
        finally:
            far_writer.transport.abort()


async def _read_connect(accepted: socket.socket) -> str:
    """The authority that a connection asks a tunnel to; empty if it asks for none.

    Raises:
        InvalidResponse: what it sends is no such request.
    """
    loop = asyncio.get_running_loop()
    if not await _begins_with(accepted, _CONNECT):
        return ""
    head = bytearray()
    while b"\r\n\r\n" not in head:
        piece = await loop.sock_recv(accepted, _MOST_CONNECT_BYTES)
        head += piece
        if not piece or len(head) > _MOST_CONNECT_BYTES:
            raise InvalidResponse("A tunnel is asked for without end.")
    authority = head.split(b" ")[1].decode("latin-1")
    await loop.sock_sendall(accepted, b"HTTP/1.1 200 Connection established\r\n\r\n")
    return authority


async def _begins_with(accepted: socket.socket, wanted: bytes) -> bool:
    """Whether a connection's next bytes are those; they stay where they are."""
    while True:
        await _readable(accepted)
        start = accepted.recv(len(wanted), socket.MSG_PEEK)
        if not start:
            raise EOFError
        if not wanted.startswith(start) or len(start) == len(wanted):
            return start == wanted
        await asyncio.sleep(0.01)


async def _first_byte(accepted: socket.socket) -> int:
    await _readable(accepted)
    start = accepted.recv(1, socket.MSG_PEEK)
    return start[0] if start else -1


async def _readable(accepted: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(accepted, wake)
    try:
        await ready
    finally:
        loop.remove_reader(accepted)


async def _streams(accepted: socket.socket, tls: ssl.SSLContext | None) -> _Streams:
    """A connection as streams, with TLS or without."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MOST_HEAD_BYTES, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted, ssl=tls)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _split(authority: str, default: int) -> tuple[str, int]:
    name, colon, port = authority.rpartition(":")
    if not colon or not port.isdecimal():
        name, port = authority, str(default)
    return name.strip("[]"), int(port)


def _write_request(proxied: Proxied, path: str) -> bytes:
    lines = [f"{proxied.method} {path or '/'} HTTP/1.1"]
    lines += [
        f"{name}: {value}"
        for name, value in proxied.headers
        if not name.lower().startswith("proxy-")
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass on what comes, and the end of it."""
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
        else:
            sink.close()
