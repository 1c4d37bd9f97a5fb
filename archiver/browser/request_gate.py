"""Request gate: forward proxy for one browser page.

The only client is Chromium, but a hostile page can control its requests. So the sizes of request
heads and bodies are limited (RFC 9112).

The gate terminates TLS in order to read the requests. ``GateHandlers`` respond to the requests, and
connect only to permitted addresses. A refused or failed request looks like a network error to the
page: the gate redirects the request to a target that Chromium rejects (``REFUSAL``). If the gate
closed the connection instead, each refusal would cost a new connection and TLS handshake. The gate
closes a connection if a request is invalid, a response is truncated, or a WebSocket ends.
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

from archiver.config import CONNECT_SECONDS
from archiver.errors import FetchError, InvalidResponse, InvalidUrl
from archiver.helpers import wait_until_readable
from archiver.http.address_guard import BlockedAddressError
from archiver.http.fetcher import Fetcher
from archiver.http.headers import ResponseHead
from archiver.http.requests import OutgoingRequest
from archiver.http.response_parser import ChunkDecoder
from archiver.http.urls import parse_url
from archiver.model.failure import Failure, FailureKind

_VALID = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class GateKey:
    """Key and certificate of the gate.

    Attributes:
        tls: the server-side TLS context, for HTTP/1.1.
        fingerprint: Base64 of the SHA-256 of the certificate's SubjectPublicKeyInfo, as Chromium
            expects it.
    """

    tls: ssl.SSLContext
    fingerprint: str


def make_gate_key() -> GateKey:
    """Create a key and a self-signed certificate in memory only."""
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
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _VALID)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


MAX_HEAD_BYTES = 256 << 10
MAX_CONTENT_BYTES = 16 << 20
REFUSAL = b"HTTP/1.1 302 Refused\r\nlocation: about:blank\r\ncontent-length: 0\r\n\r\n"
"""Response that Chromium treats as a network error: redirects to ``about:`` are forbidden."""
_PIECE = 64 << 10
_WITHOUT_BODY = frozenset({204, 205, 304})
_HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade".split()
)
"""Hop-by-hop fields (RFC 9110 §7.6.1)."""
_NOT_FORWARDED = _HOP_BY_HOP | {"content-length", "alt-svc"}
"""Response fields that are not forwarded; Alt-Svc would advertise servers other than the gate."""


@dataclass(frozen=True, slots=True)
class GatedRequest:
    """Request as received by the gate.

    Attributes:
        method: method of the request line.
        target: target of the request line.
        headers: (name, value) in the order received.
        body: body of the request.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return the value of the first field called ``name`` (in lower case); empty if none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def is_websocket(self) -> bool:
        """Whether the request is for an upgrade to WebSocket (RFC 6455 §4.1)."""
        return self.header("upgrade").lower() == "websocket"

    @property
    def onward(self) -> tuple[tuple[str, str], ...]:
        """Headers to forward: all except hop-by-hop fields, Host and Content-Length."""
        return tuple(
            (name, value)
            for name, value in self.headers
            if name.lower() not in _HOP_BY_HOP | {"host", "content-length"}
        )


async def read_request(stream: asyncio.StreamReader) -> GatedRequest | None:
    """Read the next request; return None at the end of the connection.

    Raises:
        InvalidResponse: the request is invalid or too large.
    """
    try:
        head = await stream.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise InvalidResponse("The header of a request has no end.") from error
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3:
        raise InvalidResponse("This is not an HTTP request.")
    fields = [line.partition(":") for line in lines[1:] if ":" in line]
    headers = tuple((name.strip(), value.strip()) for name, _, value in fields)
    request = GatedRequest(parts[0], parts[1], headers)
    return GatedRequest(request.method, request.target, headers, await _content(stream, request))


async def _content(stream: asyncio.StreamReader, request: GatedRequest) -> bytes:
    length = request.header("content-length")
    if "chunked" in request.header("transfer-encoding").lower():
        return await _chunked(stream)
    if not length:
        return b""
    if not length.isdecimal() or int(length) > MAX_CONTENT_BYTES:
        raise InvalidResponse("The request body is too large.")
    return await stream.readexactly(int(length))


async def _chunked(stream: asyncio.StreamReader) -> bytes:
    decoder, body = ChunkDecoder(), bytearray()
    while not (decoder.is_complete or decoder.is_broken):
        piece = await stream.read(_PIECE)
        if not piece or len(body) > MAX_CONTENT_BYTES:
            raise InvalidResponse("The request is truncated or too large.")
        for each in decoder.feed(piece):
            body += each
    return bytes(body)


async def write_response(
    stream: asyncio.StreamWriter, method: str, head: ResponseHead, payload: AsyncIterator[bytes]
) -> None:
    """Write a response, with its body in chunked transfer coding if it has one."""
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
    lines += [f"{name}: {value}" for name, value in headers if name not in _NOT_FORWARDED]
    if is_chunked:
        lines.append("transfer-encoding: chunked")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


async def connect(
    fetcher: Fetcher, host: str, port: int, is_tls: bool
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a permitted address of a host, verifying TLS certificates.

    Raises:
        FetchError: no address is permitted, or none can be reached.
    """
    # Loading the machine's certificates would block the event loop for tens of milliseconds.
    context = await asyncio.to_thread(ssl.create_default_context) if is_tls else None
    try:
        fetcher.rules.check(host)
        async with asyncio.timeout(CONNECT_SECONDS):
            for address in await _addresses(fetcher, host, port):
                name = host if is_tls else None
                return await asyncio.open_connection(
                    address, port, ssl=context, server_hostname=name
                )
    except BlockedAddressError as error:
        raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, f"{error}.")) from error
    except (OSError, TimeoutError) as error:
        message = f"Cannot connect to {host}: {error}."
        raise FetchError(Failure(FailureKind.REFUSED, message)) from error
    raise FetchError(Failure(FailureKind.DNS, f"Cannot resolve the name {host}."))


async def _addresses(fetcher: Fetcher, host: str, port: int) -> list[str]:
    if ":" in host or host.replace(".", "").isdecimal():
        if not fetcher.guard.permits(host):
            raise BlockedAddressError(host, host)
        return [host]
    addresses = await fetcher.resolver.resolve(host, port, socket.AF_UNSPEC)
    return [each["host"] for each in addresses]


MAX_CONNECTIONS = 256
"""Maximum connections of one page; Chromium uses 32 for a proxy, plus WebSockets."""
_CONNECT = b"CONNECT "
_MAX_CONNECT_BYTES = 4096
_HANDSHAKE = 0x16
"""First byte of a TLS handshake record (RFC 8446 §5.1)."""
_PATIENCE_SECONDS = 30

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class ForwardedResponse(Protocol):
    """Response that the gate forwards to the browser."""

    @property
    def head(self) -> ResponseHead:
        """Status and headers of the response."""

    def payload(self) -> AsyncIterator[bytes]:
        """Yield the body without its transfer coding."""


@dataclass(frozen=True, slots=True)
class GateHandlers:
    """Functions with which the gate handles requests.

    Attributes:
        respond: context manager that fetches a response, which can be read inside the ``with``
            block; raises ``FetchError`` on failure.
        connect: opens a connection to a host and port, with or without TLS, for a WebSocket.
    """

    respond: Callable[[OutgoingRequest], AbstractAsyncContextManager[ForwardedResponse]]
    connect: Callable[[str, int, bool], Awaitable[_Streams]]


class Gate:
    """Proxy server of one browser page.

    Args:
        listening: socket that the page's browser context connects to; ``serve`` closes it.
        tls: the server-side TLS context.
        handlers: handlers of the page's requests.
    """

    def __init__(
        self, listening: socket.socket, tls: ssl.SSLContext, handlers: GateHandlers
    ) -> None:
        self._listening = listening
        self._tls = tls
        self._handlers = handlers
        self._free_connections = asyncio.Semaphore(MAX_CONNECTIONS)

    async def serve(self) -> None:
        """Serve until cancelled, then close all connections."""
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    await self._free_connections.acquire()
                    accepted, _ = await loop.sock_accept(self._listening)
                    group.create_task(self._converse(accepted))
        finally:
            self._listening.close()

    async def _converse(self, accepted: socket.socket) -> None:
        """Serve one connection until it closes or sends an invalid request."""
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
            pass  # the page sees the closed connection
        finally:
            self._free_connections.release()
            if streams:
                streams[1].transport.abort()
            else:
                accepted.close()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, origin: str
    ) -> bool:
        """Serve one request; return whether the connection may have another request."""
        proxied = await read_request(reader)
        if proxied is None:
            return False
        url = parse_url(origin + proxied.target)
        if proxied.is_websocket:
            await self._pass_through(reader, writer, proxied, url)
            return False
        request = OutgoingRequest(
            url, proxied.method, proxied.onward, proxied.body, is_browser=True
        )
        is_begun = False
        try:
            async with self._handlers.respond(request) as response:
                is_begun = True
                await write_response(writer, request.method, response.head, response.payload())
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
        proxied: GatedRequest,
        url: str,
    ) -> None:
        """Relay a WebSocket to a permitted host without archiving its messages."""
        scheme, _, target = url.partition("://")
        authority, slash, path = target.partition("/")
        host, port = _split(authority, 443 if scheme == "https" else 80)
        far_reader, far_writer = await self._handlers.connect(host, port, scheme == "https")
        try:
            far_writer.write(_write_request(proxied, slash + path))
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, far_writer))
                group.create_task(_pump(far_reader, writer))
        finally:
            far_writer.transport.abort()


async def _read_connect(accepted: socket.socket) -> str:
    """Read and accept a CONNECT request; return its authority, or "" for other methods.

    Raises:
        InvalidResponse: the request is invalid.
    """
    loop = asyncio.get_running_loop()
    if not await _begins_with(accepted, _CONNECT):
        return ""
    head = bytearray()
    while b"\r\n\r\n" not in head:
        piece = await loop.sock_recv(accepted, _MAX_CONNECT_BYTES)
        head += piece
        if not piece or len(head) > _MAX_CONNECT_BYTES:
            raise InvalidResponse("The header of a CONNECT request has no end.")
    authority = head.split(b" ")[1].decode("latin-1")
    await loop.sock_sendall(accepted, b"HTTP/1.1 200 Connection established\r\n\r\n")
    return authority


async def _begins_with(accepted: socket.socket, prefix: bytes) -> bool:
    """Return whether a connection's next bytes are ``prefix``, without consuming them."""
    while True:
        await wait_until_readable(accepted.fileno())
        start = accepted.recv(len(prefix), socket.MSG_PEEK)
        if not start:
            raise EOFError
        if not prefix.startswith(start) or len(start) == len(prefix):
            return start == prefix
        await asyncio.sleep(0.01)


async def _first_byte(accepted: socket.socket) -> int:
    await wait_until_readable(accepted.fileno())
    start = accepted.recv(1, socket.MSG_PEEK)
    return start[0] if start else -1


async def _streams(accepted: socket.socket, tls: ssl.SSLContext | None) -> _Streams:
    """Wrap a connection in streams, with or without TLS."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_HEAD_BYTES, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted, ssl=tls)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _split(authority: str, default: int) -> tuple[str, int]:
    name, colon, port = authority.rpartition(":")
    if not colon or not port.isdecimal():
        name, port = authority, str(default)
    return name.strip("[]"), int(port)


def _write_request(proxied: GatedRequest, path: str) -> bytes:
    lines = [f"{proxied.method} {path or '/'} HTTP/1.1"]
    lines += [
        f"{name}: {value}"
        for name, value in proxied.headers
        if not name.lower().startswith("proxy-")
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy bytes from source to sink, including the end of the stream."""
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
        else:
            sink.close()
