"""Markup is read byte by byte, its text only where it has to be.

A document in a charset that is ASCII-transparent is rewritten as if each byte were a character
(latin-1), so that bytes that are not touched, invalid sequences among them, come out as they went
in. What stands in an attribute is decoded only when it has to be understood.
"""

from typing import Final

LABELS: Final = {
    "utf-8": "utf-8",
    **{f"cp{number}": f"windows-{number}" for number in (874, *range(1250, 1259))},
    **{f"iso8859-{part}": f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "cp866": "ibm866",
    "euc_jp": "euc-jp",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
}
"""ASCII-transparent charsets: Python's name, and the one browsers know (WHATWG Encoding §4.2).

In these a byte under 0x80 is always that ASCII character. Not so in UTF-16, ISO-2022-JP, Shift_JIS,
Big5, GBK, GB18030 and EUC-KR (windows-949), whose second bytes can be a backslash or a letter.
"""


class Raw:
    """Between characters that stand for bytes and the text they mean.

    Args:
        charset: Python's name of the document's charset, where the characters rewritten stand
            for bytes; None where they are text already.
    """

    def __init__(self, charset: str | None = None) -> None:
        self._charset = charset

    def to_text(self, raw: str) -> str:
        """The text that ``raw`` means; what is no text becomes U+FFFD."""
        if self._charset is None or raw.isascii():
            return raw
        return raw.encode("latin-1", "replace").decode(self._charset, "replace")

    def from_text(self, text: str) -> str:
        """How ``text`` is written in an attribute: what the charset lacks as a reference."""
        if self._charset is None or text.isascii():
            return text
        return text.encode(self._charset, "xmlcharrefreplace").decode("latin-1")
