"""Text decoders and encoding labels (WHATWG Encoding), and encoding of text.

Python's codecs do most of the work. An error handler supplies vendor characters that Python lacks.
After an error, decoding resumes as the standard requires: an ASCII byte is never part of an error.
Three codes differ from the standard and are decoded to a similar character: 0xA241 and 0xA242 of
Big5, and 0x8FA2B7 of EUC-JP.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, NewType, Protocol

from webencodings import LABELS

_LONE = re.compile("[\ud800-\udfff]")
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def well_formed(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, as ECMA-262's String.prototype.toWellFormed does.

    Lone surrogates come from JSON escapes with one half of a pair (RFC 8259 §8.2), and from command
    line arguments that are not UTF-8.
    """
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def for_xml(text: str) -> str:
    """Return well-formed text without characters that XML 1.0 forbids even when escaped (§2.2)."""
    return _NOT_XML.sub("", well_formed(text))


Encoding = NewType("Encoding", str)
"""An encoding's name in the standard, lower case."""

UTF_8: Final = Encoding("utf-8")
UTF_16LE: Final = Encoding("utf-16le")
UTF_16BE: Final = Encoding("utf-16be")
WINDOWS_1252: Final = Encoding("windows-1252")
REPLACEMENT: Final = Encoding("replacement")
X_USER_DEFINED: Final = Encoding("x-user-defined")
ENCODINGS: Final = frozenset(map(Encoding, LABELS.values()))

WHITESPACE: Final = "\t\n\f\r "


def lookup(label: str) -> Encoding | None:
    """Return the encoding of a label ("get an encoding"), or None for an unknown label.

    >>> lookup(" Latin1 "), lookup("utf8"), lookup("idna")
    ('windows-1252', 'utf-8', None)
    """
    if not label.isascii():
        return None
    name = LABELS.get(label.strip(WHITESPACE).lower())
    return Encoding(name) if name else None


def lookup_inside(label: str) -> Encoding | None:
    """Return the encoding of a label found inside the text (HTML §13.2.3.2); None if unknown.

    A label that is readable as ASCII cannot mean UTF-16, so UTF-16 becomes UTF-8.
    """
    encoding = lookup(label)
    return UTF_8 if encoding in (UTF_16LE, UTF_16BE) else encoding


_RUNS: Final = """
8e69箸 8e6f簆 8e7e糎 8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都
907a銹 90dc靜 90f1響 91bf鼖 9244蔃 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 96fc嬨
9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏
9cbc尐秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹 9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏
a077拎 a0d5瑨 a0df煢 a0e4牐 c6cf廴 c6d3无 c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄
fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘 fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮
fe52猪 fe6f瑜 feaa瓩 fedd砉
877a㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆
87be㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋
92af兙兛兝兞
a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€
"""
"""Runs of consecutive characters: the first code in hexadecimal, then its characters."""


def _pairs() -> Iterator[tuple[bytes, str]]:
    for run in _RUNS.split():
        row, cell = int(run[:2], 16), int(run[2:4], 16)
        for char in run[4:]:
            yield bytes((row, cell)), char
            cell = 0xA1 if cell == 0x7E else cell + 1


BIG5_EXTENSION: Final = dict(_pairs())

_REPLACED_DOUBLE_BYTE: Final = "\ufffd"
_JIS_ROW: Final = 94
_SHIFT_JIS_ROW: Final = 188
_INCOMPLETE: Final = "incomplete multibyte sequence"

_Extension = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class _Codec:
    """Decoding rules of an encoding.

    Attributes:
        python: the name of Python's codec.
        erroneous: pattern of the bytes that one error consumes.
        extension: returns the character for bytes that Python cannot decode, or an empty string.
        different: maps characters of Python's codec to the standard's, where these differ.
    """

    python: str
    erroneous: re.Pattern[bytes]
    extension: _Extension
    different: dict[str, str]

    def replace_undecodable(self, data: bytes, start: int) -> tuple[str, int]:
        """Return the replacement of undecodable bytes, and where decoding resumes."""
        for end in range(min(start + 2, len(data)), start, -1):
            if characters := self.extension(data[start:end]):
                return characters, end
        match = self.erroneous.match(data, start)
        return _REPLACED_DOUBLE_BYTE, match.end() if match else start + 1


class _Decoder:
    def __init__(self, codec: _Codec, errors: str) -> None:
        self._inner = codecs.getincrementaldecoder(codec.python)(errors)
        self._different = codec.different
        self._find = re.compile(f"[{''.join(codec.different)}]") if codec.different else None

    def decode(self, data: bytes, final: bool = False) -> str:
        text = self._inner.decode(data, final)
        if self._find is None:
            return text
        return self._find.sub(lambda match: self._different[match[0]], text)


def double_byte_decoder(encoding: Encoding) -> _Decoder:
    """Return a decoder for one text in an encoding of ``DOUBLE_BYTE_NAMES``."""
    return _Decoder(_CODECS[encoding], _register(encoding))


def kanji(lead: int, trail: int) -> str:
    """Return the character of two JIS X 0208 bytes (0x21 to 0x7E), including vendor characters."""
    row, cell = divmod((lead - 0x21) * _JIS_ROW + trail - 0x21, _SHIFT_JIS_ROW)
    first = row + (0x81 if row < 0x1F else 0xC1)
    second = cell + (0x40 if cell < 0x3F else 0x41)
    return bytes((first, second)).decode("cp932", "replace")[0]


@cache
def _register(encoding: Encoding) -> str:
    """Register the error handler of an encoding; return its name."""
    name, codec = f"archiver.{encoding}", _CODECS[encoding]

    def handle(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        text, end = codec.replace_undecodable(error.object, error.start)
        if error.reason == _INCOMPLETE:
            # Python would stop decoding here, so the rest is decoded separately.
            return text + error.object[end:].decode(codec.python, name), len(error.object)
        return text, end

    codecs.register_error(name, handle)
    return name


def _no_extension(_: bytes) -> str:
    return ""


def _euc_jp(data: bytes) -> str:
    """Decode the vendor rows that EUC-JP shares with Windows-31J."""
    if len(data) != 2 or min(data) < 0xA1 or max(data) > 0xFE:
        return ""
    character = kanji(data[0] & 0x7F, data[1] & 0x7F)
    return "" if "\ue000" <= character <= "\uf8ff" else character


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
    Encoding("euc-kr"): _Codec("cp949", _PAIR, _no_extension, {}),
    Encoding("shift_jis"): _Codec(
        "cp932",
        re.compile(rb"[\x81-\x9f\xe0-\xfc][\x80-\xff]?"),
        _no_extension,
        dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", _REPLACED_DOUBLE_BYTE),
    ),
    Encoding("euc-jp"): _Codec(
        "euc_jp",
        re.compile(rb"\x8f[\xa1-\xfe](?:[\x80-\xff]|\Z)|[\x8e\x8f\xa1-\xfe][\x80-\xff]?"),
        _euc_jp,
        dict(zip("〜‖\u2212¢£¬", "\uff5e∥\uff0d￠￡￢", strict=True)),
    ),
}
DOUBLE_BYTE_NAMES: Final = frozenset(_CODECS)

_ESC: Final = 0x1B
_MAX_SEQUENCE: Final = 3
_REPLACED_ISO_2022_JP: Final = "\ufffd"
_ASCII: Final = b"(B"
_ROMAN: Final = b"(J"
_KATAKANA: Final = b"(I"
_KANJI: Final = frozenset({b"$@", b"$B"})
_ESCAPES: Final = frozenset({_ASCII, _ROMAN, _KATAKANA, *_KANJI})
_ROMAN_ONLY: Final = {0x5C: "¥", 0x7E: "‾"}
_SHIFTS: Final = frozenset({0x0E, 0x0F})


class Iso2022JpDecoder:
    """Incremental ISO-2022-JP decoder."""

    def __init__(self) -> None:
        self._mode = _ASCII
        self._rest_of_chunk = b""
        self._has_just_switched = False

    def decode(self, data: bytes, final: bool = False) -> str:
        """Decode more bytes; an incomplete character is held back."""
        data = self._rest_of_chunk + data
        last = len(data) if final else len(data) - _MAX_SEQUENCE + 1
        out: list[str] = []
        pos = 0
        while pos < last:
            pos += (
                self._escape(data, pos, out)
                if data[pos] == _ESC
                else self._character(data, pos, out)
            )
        self._rest_of_chunk = data[pos:]
        return "".join(out)

    def _escape(self, data: bytes, pos: int, out: list[str]) -> int:
        """Parse an escape sequence; return its length. Two consecutive ones are an error."""
        mode = data[pos + 1 : pos + 3]
        is_known = mode in _ESCAPES
        if not is_known or self._has_just_switched:
            out.append(_REPLACED_ISO_2022_JP)
        self._has_just_switched = is_known
        if not is_known:
            return 1
        self._mode = mode
        return 3

    def _character(self, data: bytes, pos: int, out: list[str]) -> int:
        self._has_just_switched = False
        if self._mode not in _KANJI:
            out.append(self._single(data[pos]))
            return 1
        pair = data[pos : pos + 2]
        if not _is_graphic(pair[0]) or pair[1:] in (b"", b"\x1b"):
            out.append(_REPLACED_ISO_2022_JP)
            return 1
        out.append(kanji(*pair) if _is_graphic(pair[1]) else _REPLACED_ISO_2022_JP)
        return 2

    def _single(self, byte: int) -> str:
        if self._mode == _KATAKANA:
            return chr(0xFF61 - 0x21 + byte) if 0x21 <= byte <= 0x5F else _REPLACED_ISO_2022_JP
        if byte > 0x7F or byte in _SHIFTS:
            return _REPLACED_ISO_2022_JP
        return _ROMAN_ONLY.get(byte, chr(byte)) if self._mode == _ROMAN else chr(byte)


def _is_graphic(byte: int) -> bool:
    return 0x21 <= byte <= 0x7E


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

SINGLE_BYTE: Final = ENCODINGS - {*_UNICODE, *DOUBLE_BYTE_NAMES, _ISO_2022_JP, REPLACEMENT}
ASCII_TRANSPARENT: Final = SINGLE_BYTE | {UTF_8, Encoding("euc-jp")}
"""Encodings in which a byte below 0x80 is always that ASCII character.

UTF-16, ISO-2022-JP, Shift_JIS, Big5, GBK, GB18030 and EUC-KR are not among them: the second byte of
a character can be a backslash or a letter.
"""


class Decoder(Protocol):
    """Incremental text decoder."""

    def decode(self, data: bytes, final: bool = False, /) -> str:
        """Decode more bytes; hold back the end of the input if the result is not certain."""


def decode_text(data: bytes, encoding: Encoding) -> str:
    """Decode a whole text without its byte order mark; undecodable bytes become U+FFFD."""
    if encoding in _UNICODE:
        return data.decode(_UNICODE[encoding], "replace").removeprefix(_BOM)
    return decoder(encoding).decode(data, True)


def decoder(encoding: Encoding) -> Decoder:
    """Return a decoder for one text, which removes a byte order mark."""
    if encoding in _UNICODE:
        return _WithoutMark(codecs.getincrementaldecoder(_UNICODE[encoding])("replace"))
    if encoding == REPLACEMENT:
        return _Replacement()
    if encoding == _ISO_2022_JP:
        return Iso2022JpDecoder()
    if encoding in DOUBLE_BYTE_NAMES:
        return double_byte_decoder(encoding)
    return _SingleByte(_table(encoding))


def decode_part(data: bytes, encoding: Encoding) -> str:
    """Decode a part of a document, in which no byte order mark is removed."""
    if encoding in SINGLE_BYTE:
        return codecs.charmap_decode(data, "replace", _table(encoding))[0]
    return data.decode("utf-8", "replace") if encoding == UTF_8 else decode_text(data, encoding)


_RUNS_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_UNKNOWN = re.compile(rb"&#([0-9]+);")
_WITHOUT_ENCODER = frozenset({UTF_16LE, UTF_16BE, REPLACEMENT})


def encode_query(reference: str, encoding: Encoding) -> str:
    """Percent-encode the query of a reference in the encoding of its document (URL §4.4, §5.2).

    >>> encode_query("/a?b=é#é", WINDOWS_1252)
    '/a?b=%E9#é'
    """
    if encoding == UTF_8 or encoding in _WITHOUT_ENCODER or reference.isascii():
        return reference
    before_fragment, hash_, fragment = reference.partition("#")
    path, mark, query = before_fragment.partition("?")

    def encode(run: re.Match[str]) -> str:
        if encoding in SINGLE_BYTE:
            encoded = encode_part(run[0], encoding)
        else:
            encoded = run[0].encode(_python_name(encoding), "xmlcharrefreplace")
        encoded = _UNKNOWN.sub(rb"%26%23\1%3B", encoded)
        return "".join(chr(byte) if 0x20 < byte < 0x7F else f"%{byte:02X}" for byte in encoded)

    return path + mark + _RUNS_BEYOND_ASCII.sub(encode, query) + hash_ + fragment


def encode_part(text: str, encoding: Encoding) -> bytes:
    """Encode text for markup in that encoding; unencodable characters become character references.

    Args:
        text: text of an attribute or similar.
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
    """Decoder for unsafe encodings: the whole content becomes one U+FFFD."""

    def __init__(self) -> None:
        self._text = _REPLACED

    def decode(self, data: bytes, _final: bool = False, /) -> str:
        text, self._text = (self._text, "") if data else ("", self._text)
        return text


@cache
def _table(encoding: Encoding) -> str:
    """Return the 256 characters of an encoding.

    Bytes from 0x80 to 0x9F that the encoding does not define become C1 control characters.
    """
    if encoding == X_USER_DEFINED:
        characters = bytes(range(256)).decode("latin-1")
    else:
        characters = bytes(range(256)).decode(_python_name(encoding), "replace")
    different = _DIFFERENT.get(encoding, {})
    return "".join(
        different.get(byte, chr(byte) if char == _REPLACED and byte < 0xA0 else char)
        for byte, char in enumerate(characters)
    )


@cache
def _encoding_map(encoding: Encoding) -> dict[int, int]:
    return {ord(char): byte for byte, char in enumerate(_table(encoding)) if char != _REPLACED}


def _python_name(encoding: Encoding) -> str:
    if encoding.startswith("windows-125"):
        return encoding.replace("windows-", "cp")
    return _PYTHON_NAMES.get(encoding, encoding)
