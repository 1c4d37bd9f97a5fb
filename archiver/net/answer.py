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
from archiver.wire.head import without_fields

SET_COOKIES = frozenset({"set-cookie", "set-cookie2"})


class Answer:
    """A response under way, of a connection that is held until it was read or given up.

    Attributes:
        head: of the response.

    Where a person gave cookies for it, it is private: neither they nor any that are set stand in
    its exchange.
    """

    def __init__(
        self,
        asked: Outgoing,
        at: datetime,
        response: TappedResponse,
        settings: Settings,
        *,
        is_private: bool = False,
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
        self._is_private = is_private

    async def payload(self) -> AsyncIterator[bytes]:
        """The body without its transfer coding, in pieces as they come; to be read once.

        Raises:
            FetchError: it is too large, or broke off before anything came.
        """
        self._refuse_too_large(self._reader.content_length or 0)
        async for wire in self._response.content.iter_any():
            yield await self._take(wire)
        if rest := await self._take_rest():
            yield rest

    async def whole(self) -> Exchange:
        """The exchange, once all of its body was read; whoever takes it closes that.

        Raises:
            FetchError: it is too large, or broke off before anything came.
        """
        try:
            self._refuse_too_large(self._reader.content_length or 0)
            while wire := await self._response.content.readany():
                await self._take(wire)
            await self._take_rest()
            return await self.exchange()
        except BaseException:
            self.discard()
            raise

    def _refuse_too_large(self, length: int) -> None:
        if length > self._limit:
            raise too_large(self._asked.url, self._limit)

    async def _take(self, wire: bytes) -> bytes:
        """What came next, without its transfer coding."""
        piece = self._reader.take_payload() if self._reader.is_chunked else wire
        await self._sink.take(wire, piece)
        self._refuse_too_large(max(self._sink.payload_length, self._sink.wire_length))
        return piece

    async def _take_rest(self) -> bytes:
        if rest := self._reader.take_payload():
            await self._sink.take(b"", rest)
        if self._reader.truncation and not self._sink.payload_length:
            raise FetchError(broken_off(self._asked.url))
        return rest

    async def exchange(self, *, truncated: Truncation | None = None) -> Exchange:
        """The exchange, as far as its body was read; whoever takes it closes that.

        Args:
            truncated: why no more is read, where the body was not at its end.
        """
        sink, reader = self._sink, self._reader
        self._is_taken = True
        body, digest = await sink.finish()
        head, headers = reader.head_bytes, self.head.headers
        if self._is_private:
            head = without_fields(head, SET_COOKIES)
            headers = tuple(each for each in headers if each[0] not in SET_COOKIES)
        request = request_bytes(self._response, is_private=self._is_private)
        return Exchange(
            url=self._asked.url,
            at=self._at,
            ip=self._response.peer,
            request=request + self._asked.body,
            head=head,
            body=body,
            chunked=reader.is_chunked,
            status=self.head.status,
            headers=headers,
            payload_digest=digest,
            payload_length=sink.payload_length,
            truncated=reader.truncation or truncated,
        )

    def discard(self) -> None:
        """Give up what was read, unless somebody took it."""
        if not self._is_taken:
            self._sink.discard()


def request_bytes(response: TappedResponse, *, is_private: bool = False) -> bytes:
    """The request's head as aiohttp wrote it, but for cookies where they are a person's."""
    info = response.request_info
    lines = [f"{info.method} {info.url.raw_path_qs} HTTP/1.1"]
    lines += [
        f"{name}: {value}"
        for name, value in info.headers.items()
        if not (is_private and name.lower() == "cookie")
    ]
    return "\r\n".join([*lines, "", ""]).encode()
