"""HTTP/1.1 response parser for bytes from a connection.

Browsers show many responses with invalid heads or bodies. This parser tolerates the same errors as
Chromium; docs/decisions/0013-read-as-browsers-do.md lists them. After an invalid response, the
connection is not reused.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto

from archiver.errors import InvalidRecord, InvalidResponse
from archiver.http.headers import ResponseHead, parse_head, parse_regular_head
from archiver.model.capture import Truncation

_MAX_LINE = 16 << 10
"""Maximum length of a chunk size line or a trailer field, as in Chromium."""
_MAX_DIGITS = 15
_HEXADECIMAL = b"0123456789abcdefABCDEF"


class _Expected(Enum):
    SIZE = auto()
    DATA = auto()
    END_OF_DATA = auto()
    TRAILER = auto()
    ANYTHING = auto()
    NOTHING = auto()


class ChunkDecoder:
    """Incremental decoder of a chunked body.

    A body that does not begin with a chunk size is returned unchanged, since it is not chunked.

    Attributes:
        is_complete: whether the last chunk and the trailer section have arrived.
        is_broken: whether the framing is invalid; bytes after the error are not decoded.
        is_lenient: whether the decoder tolerated framing that RFC 9112 does not allow.
        left_over: bytes after the end of the body in the last call of ``feed``.
    """

    def __init__(self) -> None:
        self.is_complete = self.is_broken = self.is_lenient = False
        self.left_over = b""
        self._expected = _Expected.SIZE
        self._line = b""
        self._size = 0
        self._is_first = True

    @property
    def was_never_chunked(self) -> bool:
        """Return whether the body is not chunked, so that it ends with the connection."""
        return self._expected is _Expected.ANYTHING

    def feed(self, data: bytes) -> list[bytes]:
        """Decode the next bytes of the body; return the pieces of payload in them."""
        payload: list[bytes] = []
        pos = 0
        while pos < len(data) and self._expected is not _Expected.NOTHING:
            if self._expected is _Expected.DATA:
                pos = self._take_data(data, pos, payload)
            elif self._expected is _Expected.ANYTHING:
                payload.append(data[pos:] if pos else data)
                return payload
            else:
                pos = self._take_line(data, pos, payload)
        self.left_over = data[pos:]
        return payload

    def finish(self) -> bytes:
        """Handle the end of the body; return buffered bytes if the body was not chunked."""
        if self._is_first and self._line and _size(self._line) is None:
            self._expected = _Expected.ANYTHING
            return self._line
        return b""

    def _take_data(self, data: bytes, pos: int, payload: list[bytes]) -> int:
        payload.append(data[pos : pos + self._size])
        self._size -= len(payload[-1])
        if not self._size:
            self._expected = _Expected.END_OF_DATA
        return pos + len(payload[-1])

    def _take_line(self, data: bytes, pos: int, payload: list[bytes]) -> int:
        """Consume the bytes of a line that have arrived; return the offset after them."""
        end = data.find(b"\n", pos) + 1
        line = self._line + data[pos : end or len(data)]
        if end or len(line) > _MAX_LINE:
            self._line = b""
            self._on_line(line, payload)
        else:
            self._line = line
        return end or len(data)

    def _on_line(self, line: bytes, payload: list[bytes]) -> None:
        is_whole = line.endswith(b"\n") and len(line) <= _MAX_LINE
        is_empty = line in (b"\r\n", b"\n")
        self.is_lenient |= not line.endswith(b"\r\n")
        if self._expected is _Expected.SIZE:
            self._on_size(line, _size(line) if is_whole else None, payload)
        elif self._expected is _Expected.END_OF_DATA:
            self._expected = _Expected.SIZE
            if not is_empty:
                self._break_off()
        elif is_empty:
            self._expected, self.is_complete = _Expected.NOTHING, True
        elif not is_whole:
            self._break_off()

    def _on_size(self, line: bytes, size: int | None, payload: list[bytes]) -> None:
        if size is None and self._is_first:
            self._expected, self.is_lenient = _Expected.ANYTHING, True
            payload.append(line)
        elif size is None:
            self._break_off()
        else:
            self._expected, self._size = _Expected.DATA if size else _Expected.TRAILER, size
        self._is_first = False

    def _break_off(self) -> None:
        self._expected, self.is_broken = _Expected.NOTHING, True


def dechunk(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Remove chunked framing. A truncated body is decoded up to its end."""
    decoder = ChunkDecoder()
    for piece in pieces:
        yield from decoder.feed(piece)
        if decoder.is_complete or decoder.is_broken:
            return
    remaining = decoder.finish()
    if remaining:
        yield remaining


def _size(line: bytes) -> int | None:
    digits = line.partition(b";")[0].strip()
    significant = digits.lstrip(b"0")
    if not digits or len(significant) > _MAX_DIGITS or digits.strip(_HEXADECIMAL):
        return None
    return int(digits, 16)


MAX_HEAD_BYTES = 256 << 10
"""Maximum total bytes of the heads of a response and of the interim responses before it.

Readers of WARC records have this limit too.
"""
_MAX_INTERIM = 100
_MAX_BEFORE_STATUS = 4
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_WITHOUT_BODY = frozenset({204, 205, 304})
_MAX_LENGTH = 1 << 63


class ResponseReader:
    """Incremental parser of one response.

    Args:
        is_bodiless: whether the request was HEAD, so that there is no body (RFC 9110 §9.3.2).

    Attributes:
        head: the final response head; None until it has arrived. Heads of interim responses
            (RFC 9110 §15.2) are dropped.
        head_bytes: bytes of the final response head as received.
        content_length: Content-Length of the response; None if absent or invalid.
        is_complete: whether the response has ended.
        truncation: reason why the body is incomplete; None if it is complete.
    """

    def __init__(self, *, is_bodiless: bool = False) -> None:
        self._is_bodiless = is_bodiless
        self.head: ResponseHead | None = None
        self.head_bytes = b""
        self.content_length: int | None = None
        self.is_complete = False
        self.truncation: Truncation | None = None
        self._buffer = bytearray()
        self._searched = 0
        self._head_bytes_read = self._interim = 0
        self._remaining = 0
        self._chunks: ChunkDecoder | None = None
        self._payload: list[bytes] = []
        self._is_regular = True

    @property
    def is_chunked(self) -> bool:
        """Return whether the body is declared to use chunked framing."""
        return self._chunks is not None

    @property
    def is_reusable(self) -> bool:
        """Return whether the connection may be reused for another request."""
        if self.head is None or not self.is_complete or not self._is_regular or self.truncation:
            return False
        options = (self.head.combined("connection") or "").lower()
        is_kept = "keep-alive" in options if self.head.version == "HTTP/1.0" else True
        return is_kept and "close" not in options

    def feed(self, data: bytes) -> bytes:
        """Parse the next bytes; return the bytes of the body among them, as received.

        Raises:
            InvalidResponse: the bytes are not an HTTP response, or the head is too long.
        """
        if self.head is None:
            self._buffer += data
            if not self._take_head():
                return b""
            data, self._buffer = bytes(self._buffer), bytearray()
        if self.is_complete:
            body = b""
        elif self._chunks:
            body = self._take_chunks(self._chunks, data)
        elif self.content_length is None:
            body = data
        else:
            body = data[: self._remaining]
            self._remaining -= len(body)
            self.is_complete = not self._remaining
        self._is_regular &= len(body) == len(data)
        return body

    def take_payload(self) -> bytes:
        """Return the payload of a chunked body that was received since the last call."""
        payload = b"".join(self._payload)
        self._payload.clear()
        return payload

    def end(self, *, is_clean: bool) -> None:
        """Handle the end of the connection; ``is_clean`` is false if it ended with an error."""
        if self.head is None or self.is_complete:
            return
        self.is_complete, self._is_regular = True, False
        is_framed = self.content_length is not None
        if self._chunks:
            self._payload.append(self._chunks.finish())
            is_framed = not self._chunks.was_never_chunked
        if is_framed or not is_clean:
            self.truncation = Truncation.DISCONNECT

    def _take_head(self) -> bool:
        """Consume response heads in the buffer; return whether the final head is complete."""
        while self.head is None:
            start = _start_of_status(self._buffer)
            match = _EMPTY_LINE.search(self._buffer, max(self._searched - 2, 0))
            end = self._searched = match.end() if match else len(self._buffer)
            if self._head_bytes_read + end > MAX_HEAD_BYTES:
                raise InvalidResponse("The header has no end.")
            if match is None:
                return False
            head = bytes(self._buffer[start:end])
            del self._buffer[:end]
            self._head_bytes_read, self._searched = self._head_bytes_read + end, 0
            regular = parse_regular_head(head)
            self._is_regular &= not start and regular is not None
            self._on_head(regular or _parse(head), head)
        return True

    def _on_head(self, head: ResponseHead, head_bytes: bytes) -> None:
        if head.status >= 200:
            self._begin_body(head, head_bytes)
            return
        self._interim += 1
        if self._interim > _MAX_INTERIM:
            raise InvalidResponse("There are too many interim responses.")

    def _begin_body(self, head: ResponseHead, head_bytes: bytes) -> None:
        self.head, self.head_bytes = head, head_bytes
        if self._is_bodiless or head.status in _WITHOUT_BODY:
            self.is_complete = True
        elif head.is_chunked:
            self._chunks = ChunkDecoder()
            self._is_regular &= head.header("content-length") is None
        else:
            lengths = head.combined("content-length") or ""
            self._is_regular &= "," not in lengths
            self.content_length = _content_length(lengths)
            self._remaining = self.content_length or 0
            self.is_complete = self.content_length == 0

    def _take_chunks(self, chunks: ChunkDecoder, data: bytes) -> bytes:
        self._payload += chunks.feed(data)
        self.is_complete = chunks.is_complete or chunks.is_broken
        self._is_regular &= not chunks.is_lenient
        if chunks.is_broken:
            self.truncation = Truncation.UNSPECIFIED
        return data[: len(data) - len(chunks.left_over)] if chunks.left_over else data


def _start_of_status(data: bytearray) -> int:
    """Return the offset of the status line; 0 if its start has not arrived yet.

    Raises:
        InvalidResponse: the first bytes contain no start of a status line.
    """
    start = data[: _MAX_BEFORE_STATUS + 4].lower().find(b"http")
    if start < 0 and len(data) >= _MAX_BEFORE_STATUS + 4:
        raise InvalidResponse("There is no status line.")
    return max(start, 0)


def _parse(head: bytes) -> ResponseHead:
    try:
        parsed = parse_head(head)
    except InvalidRecord as error:
        raise InvalidResponse("The status line has no status.") from error
    if parsed.status < 100:
        raise InvalidResponse("The status is not a number.")
    return parsed


def _content_length(field: str) -> int | None:
    """Return the value of the Content-Length field; None if it is empty or an invalid number.

    Raises:
        InvalidResponse: the response has several different lengths (RFC 9110 §8.6).
    """
    lengths = {each.strip() for each in field.split(",")}
    if len(lengths) > 1:
        raise InvalidResponse("There are several different content lengths.")
    (text,) = lengths
    is_number = text.isascii() and text.isdigit() and len(text) <= 20
    length = int(text) if is_number else _MAX_LENGTH
    return length if length < _MAX_LENGTH else None
