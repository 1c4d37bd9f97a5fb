"""Decoders of East Asian encodings whose characters are one byte or several.

Python's codecs read most; what they have no character for comes to a handler of errors, which knows
the characters that the web has there, and goes on after an error where the standard does: an ASCII
byte is never part of one.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from archiver.encoding.big5_extension import BIG5_EXTENSION
from archiver.encoding.labels import Encoding

_REPLACED: Final = "\ufffd"
_JIS_ROW: Final = 94
_SHIFT_JIS_ROW: Final = 188
_INCOMPLETE: Final = "incomplete multibyte sequence"

_Extension = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class _Codec:
    """How an encoding is read.

    Attributes:
        python: Python's codec.
        erroneous: how many bytes belong to an error, matched where it begins.
        extension: the character of bytes that Python has none for; empty if there is none.
        different: characters that Python gives, and what they should be.
    """

    python: str
    erroneous: re.Pattern[bytes]
    extension: _Extension
    different: dict[str, str]

    def mend(self, data: bytes, start: int) -> tuple[str, int]:
        """What stands for bytes that Python can't read, and where reading goes on."""
        for end in range(min(start + 2, len(data)), start, -1):
            if known := self.extension(data[start:end]):
                return known, end
        found = self.erroneous.match(data, start)
        return _REPLACED, found.end() if found else start + 1


class _Decoder:
    def __init__(self, codec: _Codec, errors: str) -> None:
        self._inner = codecs.getincrementaldecoder(codec.python)(errors)
        self._different = codec.different
        self._find = re.compile(f"[{''.join(codec.different)}]") if codec.different else None

    def decode(self, data: bytes, final: bool = False) -> str:
        text = self._inner.decode(data, final)
        if self._find is None:
            return text
        return self._find.sub(lambda found: self._different[found[0]], text)


def decoder(encoding: Encoding) -> _Decoder:
    """A decoder for one text of an encoding in ``NAMES``."""
    return _Decoder(_CODECS[encoding], _register(encoding))


def kanji(lead: int, trail: int) -> str:
    """A character of JIS X 0208 with the web's additions, by its two bytes of 0x21 to 0x7E."""
    row, cell = divmod((lead - 0x21) * _JIS_ROW + trail - 0x21, _SHIFT_JIS_ROW)
    first = row + (0x81 if row < 0x1F else 0xC1)
    second = cell + (0x40 if cell < 0x3F else 0x41)
    return bytes((first, second)).decode("cp932", "replace")[0]


@cache
def _register(encoding: Encoding) -> str:
    """The name under which Python finds the handler of an encoding's errors."""
    name, codec = f"archiver.{encoding}", _CODECS[encoding]

    def handle(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        text, end = codec.mend(error.object, error.start)
        if error.reason == _INCOMPLETE:
            # Python reads no further at the end of a text, whatever is left.
            return text + error.object[end:].decode(codec.python, name), len(error.object)
        return text, end

    codecs.register_error(name, handle)
    return name


def _none(_: bytes) -> str:
    return ""


def _euc_jp(data: bytes) -> str:
    """Rows that vendors added, which Windows-31J has too."""
    if len(data) != 2 or min(data) < 0xA1 or max(data) > 0xFE:
        return ""
    found = kanji(data[0] & 0x7F, data[1] & 0x7F)
    return "" if "\ue000" <= found <= "\uf8ff" else found


def _gb18030(data: bytes) -> str:
    return "€" if data == b"\x80" else ""


def _big5(data: bytes) -> str:
    return BIG5_EXTENSION.get(data, "")


_PAIR: Final = re.compile(rb"[\x81-\xfe][\x80-\xff]?")
_GB18030: Final = {
    "\ue5e5": "\u3000",
    "\ue7c7": "ḿ",
    "ḿ": "\ue7c7",
    **dict(zip(map(chr, range(0xE78D, 0xE797)), "︐︒︑︓︔︕︖︗︘︙", strict=True)),
    **dict(
        zip("\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864", "龴龵龶龷龸龹龺龻", strict=True)
    ),
}
_CHINESE: Final = _Codec(
    "gb18030",
    re.compile(rb"[\x81-\xfe](?:[\x80-\xff]|[0-9](?:[\x81-\xfe](?:[0-9]|\Z)|\Z))?", re.DOTALL),
    _gb18030,
    _GB18030,
)
_CODECS: Final = {
    Encoding("gbk"): _CHINESE,
    Encoding("gb18030"): _CHINESE,
    Encoding("big5"): _Codec(
        "big5hkscs",
        _PAIR,
        _big5,
        dict(zip("•､‾\u223c♁☉¥¢£", "‧﹑¯\uff5e⊕⊙￥￠￡", strict=True)),
    ),
    Encoding("euc-kr"): _Codec("cp949", _PAIR, _none, {}),
    Encoding("shift_jis"): _Codec(
        "cp932",
        re.compile(rb"[\x81-\x9f\xe0-\xfc][\x80-\xff]?"),
        _none,
        dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", _REPLACED),
    ),
    Encoding("euc-jp"): _Codec(
        "euc_jp",
        re.compile(rb"\x8f[\xa1-\xfe](?:[\x80-\xff]|\Z)|[\x8e\x8f\xa1-\xfe][\x80-\xff]?"),
        _euc_jp,
        dict(zip("〜‖\u2212¢£¬", "\uff5e∥\uff0d￠￡￢", strict=True)),
    ),
}
NAMES: Final = frozenset(_CODECS)
