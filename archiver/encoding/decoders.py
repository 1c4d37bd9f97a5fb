"""Decoders as the standard has them (WHATWG Encoding §8 to §14), made of Python's.

Python's codecs differ in bytes that vendors added, and in what they do after an error; both are
mended here. Left as they are: three look-alikes (0xA241, 0xA242 of Big5, 0x8FA2B7 of EUC-JP).
"""

import codecs
from functools import cache
from typing import Final, Protocol

from archiver.encoding import double_byte
from archiver.encoding.iso_2022_jp import Iso2022JpDecoder
from archiver.encoding.labels import (
    ENCODINGS,
    REPLACEMENT,
    UTF_8,
    UTF_16BE,
    UTF_16LE,
    X_USER_DEFINED,
    Encoding,
)

_REPLACED = "\ufffd"
_BOM = "\ufeff"
_UNICODE = {UTF_8: "utf-8", UTF_16LE: "utf-16-le", UTF_16BE: "utf-16-be"}
_ISO_2022_JP = Encoding("iso-2022-jp")
_PYTHON_NAMES = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
_DIFFERENT = {
    "koi8-u": {0xAE: "ў", 0xBE: "Ў"},
    "windows-1255": {0xCA: "\u05ba"},
    X_USER_DEFINED: {byte: chr(0xF700 + byte) for byte in range(0x80, 0x100)},
}

SINGLE_BYTE: Final = ENCODINGS - {*_UNICODE, *double_byte.NAMES, _ISO_2022_JP, REPLACEMENT}
ASCII_TRANSPARENT: Final = SINGLE_BYTE | {UTF_8, Encoding("euc-jp")}
"""Encodings in which a byte under 0x80 is always that ASCII character.

Not so in UTF-16, ISO-2022-JP, Shift_JIS, Big5, GBK, GB18030 and EUC-KR, whose second bytes can be a
backslash or a letter.
"""


class Decoder(Protocol):
    """Reads a text piece by piece."""

    def decode(self, data: bytes, final: bool = False, /) -> str:
        """The text of some more bytes, as far as it is certain."""


def decode(data: bytes, encoding: Encoding) -> str:
    """All of a text, without its byte order mark; what is no text in it becomes U+FFFD."""
    if encoding in _UNICODE:
        return data.decode(_UNICODE[encoding], "replace").removeprefix(_BOM)
    return decoder(encoding).decode(data, True)


def decoder(encoding: Encoding) -> Decoder:
    """A decoder for one text; it leaves a byte order mark out."""
    if encoding in _UNICODE:
        return _WithoutMark(codecs.getincrementaldecoder(_UNICODE[encoding])("replace"))
    if encoding == REPLACEMENT:
        return _Replacement()
    if encoding == _ISO_2022_JP:
        return Iso2022JpDecoder()
    if encoding in double_byte.NAMES:
        return double_byte.decoder(encoding)
    return _SingleByte(_table(encoding))


def decode_part(data: bytes, encoding: Encoding) -> str:
    """Some text out of the middle of a document, where no mark is one."""
    if encoding in SINGLE_BYTE:
        return codecs.charmap_decode(data, "replace", _table(encoding))[0]
    return data.decode("utf-8", "replace") if encoding == UTF_8 else decode(data, encoding)


def encode_part(text: str, encoding: Encoding) -> bytes:
    """Text as it can stand in markup of that encoding; what the encoding lacks as a reference.

    Args:
        text: of an attribute or the like.
        encoding: one of ``ASCII_TRANSPARENT``.
    """
    if encoding == UTF_8:
        return text.encode("utf-8", "replace")
    if encoding in SINGLE_BYTE:
        return codecs.charmap_encode(text, "xmlcharrefreplace", _encoding_map(encoding))[0]
    return text.encode("ascii", "xmlcharrefreplace")


class _WithoutMark:
    def __init__(self, inner: codecs.IncrementalDecoder) -> None:
        self._inner = inner
        self._is_start = True

    def decode(self, data: bytes, final: bool = False, /) -> str:
        text = self._inner.decode(data, final)
        if self._is_start and text:
            self._is_start = False
            return text.removeprefix(_BOM)
        return text


class _SingleByte:
    def __init__(self, table: str) -> None:
        self._table = table

    def decode(self, data: bytes, _final: bool = False, /) -> str:
        return codecs.charmap_decode(data, "replace", self._table)[0]


class _Replacement:
    """What is in an encoding that can be abused is one U+FFFD, however much it is."""

    def __init__(self) -> None:
        self._text = _REPLACED

    def decode(self, data: bytes, _final: bool = False, /) -> str:
        text, self._text = (self._text, "") if data else ("", self._text)
        return text


@cache
def _table(encoding: Encoding) -> str:
    """The 256 characters of an encoding: where Python's has a gap in C1, that control character."""
    if encoding == X_USER_DEFINED:
        known = bytes(range(256)).decode("latin-1")
    else:
        known = bytes(range(256)).decode(_python_name(encoding), "replace")
    different = _DIFFERENT.get(encoding, {})
    return "".join(
        different.get(byte, chr(byte) if char == _REPLACED and byte < 0xA0 else char)
        for byte, char in enumerate(known)
    )


@cache
def _encoding_map(encoding: Encoding) -> dict[int, int]:
    return {ord(char): byte for byte, char in enumerate(_table(encoding)) if char != _REPLACED}


def _python_name(encoding: Encoding) -> str:
    if encoding.startswith("windows-125"):
        return encoding.replace("windows-", "cp")
    return _PYTHON_NAMES.get(encoding, encoding)
