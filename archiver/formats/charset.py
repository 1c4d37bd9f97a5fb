"""From bytes to text: which charset a list is in, decided as it must be without reading twice.

A byte order mark decides, else what the markup declares as a page would, else UTF-8. Where bytes
that should be UTF-8 are not, they are read as windows-1252: old exports mix the two, and a title
with a wrong letter is better than a file that is refused. Nothing here ever raises on bad bytes.
"""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from archiver.encoding.decoders import Decoder, decode_part, decoder
from archiver.encoding.labels import (
    REPLACEMENT,
    UTF_8,
    UTF_16BE,
    UTF_16LE,
    WINDOWS_1252,
    Encoding,
)
from archiver.encoding.prescan import declared_in_markup
from archiver.logs import get_log

_LOG = get_log(__name__)

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell what it is."""
_CHUNK_BYTES = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, UTF_16LE),
    (codecs.BOM_UTF16_BE, UTF_16BE),
)
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
_MOST_CONTROLS = 0.02
"""Share of control characters beyond which bytes are no text; a stray NUL is forgiven."""
_UTF16_SHARE = 0.4
"""Share of NULs in every second byte that gives UTF-16 without a mark away."""


def read_text(source: BinaryIO) -> Iterator[str]:
    """Read a stream as text, in pieces of at most 64 Ki characters, without NULs."""
    chunk = source.read(HEAD_BYTES)
    charset = find_charset(chunk)
    decoder = _decoder(charset)
    first = True
    while chunk:
        text = decoder.decode(chunk)
        if first:
            text = text.removeprefix("\ufeff")
            first = False
        if text := text.replace("\0", ""):
            yield text
        chunk = source.read(_CHUNK_BYTES)
    if text := decoder.decode(b"", True).replace("\0", ""):
        yield text


def decode_head(head: bytes) -> str:
    """Decode the head of a file as ``read_text`` would."""
    decoder = _decoder(find_charset(head), quiet=True)
    return decoder.decode(head).removeprefix("\ufeff").replace("\0", "")


def find_charset(head: bytes) -> Encoding:
    """Decide the charset from the head of a file."""
    for mark, charset in _MARKS:
        if head.startswith(mark):
            return charset
    if unmarked := _unmarked_utf16(head):
        return unmarked
    declared = declared_in_markup(head)
    return declared[1] if declared and declared[1] != REPLACEMENT else UTF_8


def is_text(head: bytes) -> bool:
    """Whether the head of a file looks like text in any charset."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _unmarked_utf16(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= len(head) * _MOST_CONTROLS


def _unmarked_utf16(head: bytes) -> Encoding | None:
    """Tell UTF-16 without a byte order mark by where its NULs are."""
    sample = head[:1024]
    half = len(sample) // 2
    if not half:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > half * _UTF16_SHARE and even < odd // 8 + 1:
        return UTF_16LE
    if even > half * _UTF16_SHARE and odd < even // 8 + 1:
        return UTF_16BE
    return None


def _decoder(charset: Encoding, *, quiet: bool = False) -> Decoder:
    return _LenientUtf8(quiet=quiet) if charset == UTF_8 else decoder(charset)


class _LenientUtf8:
    """UTF-8, and windows-1252 for each line that is not; says once that it had to.

    Lines, because a line has one writer; and a chunk of them costs as much as it is long, however
    many are wrong.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._held = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        held = self._held + data
        try:
            text, usable = codecs.utf_8_decode(held, "strict", final)
        except UnicodeDecodeError as error:
            self._note(error)
            usable = _complete(held, final=final)
            text = "".join(map(_decode_line, held[:usable].splitlines(keepends=True)))
        self._held = held[usable:]
        return text

    def _note(self, error: UnicodeDecodeError) -> None:
        if not self._quiet:
            self._quiet = True
            _LOG.warning("not UTF-8; read as windows-1252 where it is not", why=str(error))


def _complete(data: bytes, *, final: bool) -> int:
    """Count the bytes that do not end inside a line, or inside a character of a long one."""
    if final:
        return len(data)
    newline = data.rfind(b"\n") + 1
    if newline:
        return newline
    return len(data) - min(3, len(data) - 1)


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return decode_part(line, WINDOWS_1252)
