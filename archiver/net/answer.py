"""A response as it comes: its head at once, its body piece by piece, the whole exchange at last."""

from collections.abc import AsyncIterator
from datetime import datetime

from archiver.config import Settings
from archiver.errors import FetchError, InvalidResponse
from archiver.model.exchange import Exchange
from archiver.model.truncation import Truncation
from archiver.net.body import BodySink
from archiver.net.outgoing import Outgoing
from archiver.net.refusals import broken_off, too_large
from archiver.net.tap import TappedResponse


class Answer:
    """A response under way, of a connection that is held until it was read or given up.

    Attributes:
        head: of the response.
    """

    def __init__(
        self, asked: Outgoing, at: datetime, response: TappedResponse, settings: Settings
    ) -> None:
        reader = response.reader
        if reader.head is None:
            raise InvalidResponse("The response has no head.")
        self.head = reader.head
        self._asked = asked
        self._at = at
        self._response = response
        self._reader = reader
        self._limit = settings.max_body_bytes
        self._sink = BodySink()
        self._is_taken = False

    async def payload(self) -> AsyncIterator[bytes]:
        """The body without its transfer coding, in pieces as they come; to be read once.

        Raises:
            FetchError: it is too large, or broke off before anything came.
        """
        reader, sink, limit = self._reader, self._sink, self._limit
        if (reader.content_length or 0) > limit:
            raise too_large(self._asked.url, limit)
        async for wire in self._response.content.iter_any():
            piece = reader.take_payload() if reader.is_chunked else wire
            await sink.take(wire, piece)
            if max(sink.payload_length, sink.wire_length) > limit:
                raise too_large(self._asked.url, limit)
            yield piece
        rest = reader.take_payload()
        await sink.take(b"", rest)
        if reader.truncation and not sink.payload_length:
            raise FetchError(broken_off(self._asked.url))
        if rest:
            yield rest

    async def exchange(self, *, truncated: Truncation | None = None) -> Exchange:
        """The exchange, as far as its body was read; whoever takes it closes that.

        Args:
            truncated: why no more is read, where the body was not at its end.
        """
        sink, reader = self._sink, self._reader
        self._is_taken = True
        body, digest = await sink.finish()
        return Exchange(
            url=self._asked.url,
            at=self._at,
            ip=self._response.peer,
            request=request_bytes(self._response) + self._asked.body,
            head=reader.head_bytes,
            body=body,
            chunked=reader.is_chunked,
            status=self.head.status,
            headers=self.head.headers,
            payload_digest=digest,
            payload_length=sink.payload_length,
            truncated=reader.truncation or truncated,
        )

    def discard(self) -> None:
        """Give up what was read, unless somebody took it."""
        if not self._is_taken:
            self._sink.discard()


def request_bytes(response: TappedResponse) -> bytes:
    """The request's head as aiohttp wrote it."""
    info = response.request_info
    lines = [f"{info.method} {info.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in info.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()
