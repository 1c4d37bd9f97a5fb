"""A response as it comes: its head at once, its body piece by piece, the whole exchange at last."""

from collections.abc import AsyncIterator
from datetime import datetime

from aiohttp.connector import Connection

from archiver.config import Settings
from archiver.errors import FetchError
from archiver.model.exchange import Exchange
from archiver.model.truncation import Truncation
from archiver.net.body import BodySink
from archiver.net.line import Line, close
from archiver.net.outgoing import Outgoing
from archiver.net.refusals import broken_off, too_large
from archiver.wire.head import without_fields

SET_COOKIES = frozenset({"set-cookie", "set-cookie2"})
COOKIE = frozenset({"cookie"})


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
        request: bytes,
        connection: Connection,
        settings: Settings,
        *,
        is_private: bool = False,
    ) -> None:
        line = connection.protocol
        if not isinstance(line, Line) or line.reader is None or line.reader.head is None:
            raise TypeError("no head of a response has come over this connection")
        self.head = line.reader.head
        self._asked = asked
        self._at = at
        self._request = request
        self._connection = connection
        self._line = line
        self._reader = line.reader
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
        while wire := await self._line.piece():
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
            while wire := await self._line.piece():
                await self._take(wire)
            self.let_go()
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
        request = self._request
        if self._is_private:
            request = without_fields(request, COOKIE)
            head = without_fields(head, SET_COOKIES)
            headers = tuple(each for each in headers if each[0] not in SET_COOKIES)
        return Exchange(
            url=self._asked.url,
            at=self._at,
            ip=self._line.peer,
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

    def let_go(self) -> None:
        """Give the connection back; one over which more may come is closed."""
        if self._line.is_free:
            self._connection.release()
        else:
            close(self._connection)

    def discard(self) -> None:
        """Give up the connection, and what was read unless somebody took it."""
        close(self._connection)
        if not self._is_taken:
            self._sink.discard()
