"""Streaming responses and their bodies."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import datetime
from io import BytesIO
from typing import BinaryIO

from aiohttp.connector import Connection

from archiver.config import Settings
from archiver.errors import FetchError
from archiver.helpers import run_to_completion, scratch_file
from archiver.http.connections import HttpConnection, close
from archiver.http.headers import without_fields
from archiver.http.network_errors import too_large, truncated_response
from archiver.http.requests import OutgoingRequest
from archiver.model.capture import Exchange, PayloadDigest, Truncation

SPOOL_BYTES = 1 << 20
INLINE_DIGEST_BYTES = 64 << 10


class BodySink:
    """Buffer of a body while it arrives, and the digest of the body.

    Large bodies are hashed and written to a file in a thread.
    """

    def __init__(self) -> None:
        self._wire: list[bytes] = []
        self._payload: list[bytes] = []
        self._size = 0
        self._digest = hashlib.sha256()
        self._file: BinaryIO | None = None
        self.payload_length = self.wire_length = 0

    async def take(self, wire: bytes, payload: bytes) -> None:
        """Add bytes: ``wire`` as received, ``payload`` without transfer coding."""
        self._wire.append(wire)
        self._payload.append(payload)
        self._size += len(wire)
        self.payload_length += len(payload)
        self.wire_length += len(wire)
        if self._size >= SPOOL_BYTES:
            # If writing were cancelled halfway, the next call would write the same bytes again.
            await run_to_completion(asyncio.to_thread(self._spool))

    async def finish(self) -> tuple[BinaryIO, PayloadDigest]:
        """Return the whole body as a file at position 0, and the digest of the payload."""
        if self._size > INLINE_DIGEST_BYTES or self._file:
            await asyncio.to_thread(self._finish)
        else:
            self._finish()
        body = self._file or BytesIO(b"".join(self._wire))
        body.seek(0)
        return body, PayloadDigest(f"sha256:{self._digest.hexdigest()}")

    def discard(self) -> None:
        """Discard the body."""
        if self._file:
            self._file.close()

    def _spool(self) -> None:
        if self._file is None:
            # The caller of ``finish``, or ``discard``, closes this file.
            self._file = scratch_file()
        self._file.write(b"".join(self._wire))
        self._wire.clear()
        self._size = 0
        self._digest_payload()

    def _finish(self) -> None:
        if self._file:
            self._spool()
        self._digest_payload()

    def _digest_payload(self) -> None:
        for piece in self._payload:
            self._digest.update(piece)
        self._payload.clear()


SET_COOKIES = frozenset({"set-cookie", "set-cookie2"})
COOKIE = frozenset({"cookie"})


class OpenResponse:
    """Open response, which keeps its connection until ``release`` or ``discard``.

    The response is private if a private cookie matches the URL (``CookieField.is_private``). The
    exchange of a private response contains neither the cookies of the request nor those that the
    server sets.

    Attributes:
        head: the response head.
    """

    def __init__(
        self,
        request: OutgoingRequest,
        at: datetime,
        request_head: bytes,
        connection: Connection,
        settings: Settings,
        *,
        is_private: bool = False,
    ) -> None:
        line = connection.protocol
        if not isinstance(line, HttpConnection) or line.reader is None or line.reader.head is None:
            raise TypeError("this connection has no response head")
        self.head = line.reader.head
        self._request = request
        self._at = at
        self._request_head = request_head
        self._connection = connection
        self._line = line
        self._reader = line.reader
        self._limit = settings.max_body_bytes
        self._sink = BodySink()
        self._is_taken = False
        self._is_private = is_private

    async def payload(self) -> AsyncIterator[bytes]:
        """Yield the body without transfer coding as it arrives; can be iterated once.

        Raises:
            FetchError: the body is too large, or the response ended before any content arrived.
        """
        self._refuse_too_large(self._reader.content_length or 0)
        while wire := await self._line.piece():
            yield await self._take(wire)
        if remaining := await self._read_remaining():
            yield remaining

    async def whole(self) -> Exchange:
        """Read the whole body and return the exchange; the caller closes the exchange.

        Raises:
            FetchError: the body is too large, or the response ended before any content arrived.
        """
        try:
            async for _ in self.payload():
                pass
            self.release()
            return await self.exchange()
        except BaseException:
            self.discard()
            raise

    def _refuse_too_large(self, length: int) -> None:
        if length > self._limit:
            raise too_large(self._request.url, self._limit)

    async def _take(self, wire: bytes) -> bytes:
        """Return the next bytes without transfer coding."""
        piece = self._reader.take_payload() if self._reader.is_chunked else wire
        await self._sink.take(wire, piece)
        self._refuse_too_large(max(self._sink.payload_length, self._sink.wire_length))
        return piece

    async def _read_remaining(self) -> bytes:
        if payload := self._reader.take_payload():
            await self._sink.take(b"", payload)
        if self._reader.truncation and not self._sink.payload_length:
            raise FetchError(truncated_response(self._request.url))
        return payload

    async def exchange(self, *, truncated: Truncation | None = None) -> Exchange:
        """Return the exchange with the body read so far; the caller closes the exchange.

        Args:
            truncated: the reason why reading stopped early, if the body is incomplete.
        """
        sink, reader = self._sink, self._reader
        self._is_taken = True
        body, digest = await sink.finish()
        head, headers = reader.head_bytes, self.head.headers
        request_head = self._request_head
        if self._is_private:
            request_head = without_fields(request_head, COOKIE)
            head = without_fields(head, SET_COOKIES)
            headers = tuple(each for each in headers if each[0] not in SET_COOKIES)
        return Exchange(
            url=self._request.url,
            at=self._at,
            ip=self._line.peer,
            request=request_head + self._request.body,
            head=head,
            body=body,
            chunked=reader.is_chunked,
            status=self.head.status,
            headers=headers,
            payload_digest=digest,
            payload_length=sink.payload_length,
            truncated=reader.truncation or truncated,
        )

    def release(self) -> None:
        """Return the connection to the pool; close the connection if more bytes may arrive."""
        if self._line.is_free:
            self._connection.release()
        else:
            close(self._connection)

    def discard(self) -> None:
        """Close the connection and discard the body unless the caller took it."""
        close(self._connection)
        if not self._is_taken:
            self._sink.discard()
