"""The ISO-2022-JP decoder (WHATWG Encoding §12.2.1), which Python's differs from in too much."""

from typing import Final

from archiver.encoding import double_byte

_ESC: Final = 0x1B
_LONGEST: Final = 3
_REPLACED: Final = "\ufffd"
_ASCII: Final = b"(B"
_ROMAN: Final = b"(J"
_KATAKANA: Final = b"(I"
_KANJI: Final = frozenset({b"$@", b"$B"})
_ESCAPES: Final = frozenset({_ASCII, _ROMAN, _KATAKANA, *_KANJI})
_ROMAN_ONLY: Final = {0x5C: "¥", 0x7E: "‾"}
_SHIFTS: Final = frozenset({0x0E, 0x0F})


class Iso2022JpDecoder:
    """Reads a text piece by piece."""

    def __init__(self) -> None:
        self._mode = _ASCII
        self._held = b""
        self._has_just_switched = False

    def decode(self, data: bytes, final: bool = False) -> str:
        """The text of some more bytes; what may be half a character is held back."""
        data = self._held + data
        last = len(data) if final else len(data) - _LONGEST + 1
        out: list[str] = []
        at = 0
        while at < last:
            at += (
                self._escape(data, at, out) if data[at] == _ESC else self._character(data, at, out)
            )
        self._held = data[at:]
        return "".join(out)

    def _escape(self, data: bytes, at: int, out: list[str]) -> int:
        """Read an escape sequence; return how many bytes were taken. Two in a row are an error."""
        mode = data[at + 1 : at + 3]
        is_known = mode in _ESCAPES
        if not is_known or self._has_just_switched:
            out.append(_REPLACED)
        self._has_just_switched = is_known
        if not is_known:
            return 1
        self._mode = mode
        return 3

    def _character(self, data: bytes, at: int, out: list[str]) -> int:
        self._has_just_switched = False
        if self._mode not in _KANJI:
            out.append(self._single(data[at]))
            return 1
        pair = data[at : at + 2]
        if not _is_graphic(pair[0]) or pair[1:] in (b"", b"\x1b"):
            out.append(_REPLACED)
            return 1
        out.append(double_byte.kanji(*pair) if _is_graphic(pair[1]) else _REPLACED)
        return 2

    def _single(self, byte: int) -> str:
        if self._mode == _KATAKANA:
            return chr(0xFF61 - 0x21 + byte) if 0x21 <= byte <= 0x5F else _REPLACED
        if byte > 0x7F or byte in _SHIFTS:
            return _REPLACED
        return _ROMAN_ONLY.get(byte, chr(byte)) if self._mode == _ROMAN else chr(byte)


def _is_graphic(byte: int) -> bool:
    return 0x21 <= byte <= 0x7E
