"""From bytes to text: which charset a list is in, decided as it must be without reading twice.

A byte order mark decides, else a ``<META charset>`` in the head, else UTF-8. Where bytes that
should be UTF-8 are not, they are read as windows-1252: old exports mix the two, and a title with
a wrong letter is better than a file that is refused. Nothing here ever raises on bad bytes.
"""

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from archiver.formats.importer import HEAD_BYTES
from archiver.logs import get_log

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_LOG = get_log(__name__)

_CHUNK_BYTES = 1 << 16
_META = re.compile(
    rb"<meta\b[^>]{0,500}?charset\s{0,20}=\s{0,20}[\"']?\s{0,20}([a-z0-9_:.-]{2,40})",
    re.IGNORECASE,
)
_UTF8 = "archiver-utf-8"
"""UTF-8 with windows-1252 for what is not: a mark for ``_decoder``, not a codec's name."""

# WHATWG Encoding, §4.2: the labels old bookmark files carry. A table, because Python's own names
# include codecs that are no charsets at all.
_LABELS = {
    **dict.fromkeys(("utf-8", "utf8", "unicode-1-1-utf-8"), _UTF8),
    **dict.fromkeys(
        ("ascii", "us-ascii", "iso-8859-1", "latin1", "latin-1", "windows-1252", "cp1252"),
        "cp1252",
    ),
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{page}": f"cp{page}" for page in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "windows-874": "cp874",
    "tis-620": "cp874",
    "ibm866": "cp866",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "euc-jp": "euc-jp",
    "iso-2022-jp": "iso2022-jp",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
}
_MARKS = (
    (codecs.BOM_UTF8, _UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
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
    if text := decoder.decode(b"", final=True).replace("\0", ""):
        yield text


def decode_head(head: bytes) -> str:
    """Decode the head of a file as ``read_text`` would."""
    decoder = _decoder(find_charset(head), quiet=True)
    return decoder.decode(head).removeprefix("\ufeff").replace("\0", "")


def find_charset(head: bytes) -> str:
    """Decide the charset from the head of a file."""
    for mark, charset in _MARKS:
        if head.startswith(mark):
            return charset
    if charset := _unmarked_utf16(head):
        return charset
    declared = _META.search(head)
    label = declared[1].decode("ascii").lower() if declared else ""
    return _LABELS.get(label, _UTF8)


def is_text(head: bytes) -> bool:
    """Whether the head of a file looks like text in any charset."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _unmarked_utf16(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= len(head) * _MOST_CONTROLS


def _unmarked_utf16(head: bytes) -> str:
    """Tell UTF-16 without a byte order mark by where its NULs are."""
    sample = head[:1024]
    half = len(sample) // 2
    if not half:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > half * _UTF16_SHARE and even < odd // 8 + 1:
        return "utf-16-le"
    if even > half * _UTF16_SHARE and odd < even // 8 + 1:
        return "utf-16-be"
    return ""


def _decoder(charset: str, *, quiet: bool = False) -> codecs.IncrementalDecoder:
    if charset == _UTF8:
        return _LenientUtf8(quiet=quiet)
    return codecs.getincrementaldecoder(charset)(errors="replace")


class _LenientUtf8(codecs.IncrementalDecoder):
    """UTF-8, and windows-1252 for each line that is not; says once that it had to.

    Lines, because a line has one writer; and a chunk of them costs as much as it is long, however
    many are wrong.
    """

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet
        self._held = b""

    def decode(self, data: "ReadableBuffer", final: bool = False) -> str:
        held = self._held + bytes(data)
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
        return line.decode("cp1252", errors="replace")
