"""Markup is read byte by byte, its text only where it has to be.

A document in an encoding that is ASCII-transparent is rewritten as if each byte were a character
(latin-1), so that bytes that are not touched, invalid sequences among them, come out as they went
in. What stands in an attribute is decoded only when it has to be understood.
"""

from archiver.encoding.decoders import decode_part, encode_part
from archiver.encoding.labels import Encoding


class Raw:
    """Between characters that stand for bytes and the text they mean.

    Args:
        encoding: of the document, ASCII-transparent, where the characters rewritten stand for
            bytes; None where they are text already.
    """

    def __init__(self, encoding: Encoding | None = None) -> None:
        self._encoding = encoding

    def to_text(self, raw: str) -> str:
        """The text that ``raw`` means; what is no text becomes U+FFFD."""
        if self._encoding is None or raw.isascii():
            return raw
        return decode_part(raw.encode("latin-1", "replace"), self._encoding)

    def from_text(self, text: str) -> str:
        """How ``text`` is written in an attribute: what the encoding lacks as a reference."""
        if self._encoding is None or text.isascii():
            return text
        return encode_part(text, self._encoding).decode("latin-1")
