"""In which encoding a document is read, and which one is stated for it.

A document that is rewritten is served in its encoding, byte for byte but for what was rewritten,
where that is ASCII-transparent, and else as UTF-8. What is stated in ``Content-Type`` browsers
believe before anything in the document.
"""

import re
from dataclasses import dataclass

from archiver.encoding.choose import Source, choose_encoding, is_enough
from archiver.encoding.decoders import ASCII_TRANSPARENT
from archiver.encoding.labels import UTF_8, Encoding
from archiver.wire.media_type import MediaType


@dataclass(frozen=True, slots=True)
class DocumentCharset:
    """How the text of a document is read and written.

    Attributes:
        encoding: the one it is stored in.
        label: of the one it is served in (WHATWG Encoding §4.2); empty where none is stated.
    """

    encoding: Encoding
    label: str

    @property
    def is_kept(self) -> bool:
        """Whether it can be rewritten in the encoding it is stored in."""
        return self.encoding in ASCII_TRANSPARENT


def document_charset(
    start: bytes, media_type: MediaType, url: str, *, is_rewritten: bool
) -> DocumentCharset:
    """The charset of a document; a style sheet that declares none takes that of its page.

    Args:
        start: its first bytes, so many that ``has_enough``.
        media_type: what it is taken for.
        url: where it was.
        is_rewritten: whether it is served as other bytes than it came in.
    """
    choice = choose_encoding(start, media_type.essence, media_type.get("charset"), url)
    if choice.source is Source.ENVIRONMENT:
        return DocumentCharset(choice.encoding, "")
    is_kept = choice.encoding in ASCII_TRANSPARENT or not is_rewritten
    return DocumentCharset(choice.encoding, choice.encoding if is_kept else UTF_8)


def has_enough(start: bytes, media_type: MediaType) -> bool:
    """Whether these first bytes of a document decide on its charset, whatever follows."""
    return is_enough(start, media_type.essence, media_type.get("charset"))


def stated_charset(media_type: MediaType) -> str:
    """The charset parameter of a media type that is passed on; empty if it is no label."""
    label = media_type.get("charset").strip()
    return label.lower() if re.fullmatch(r"[\w.:-]{1,40}", label, re.ASCII) else ""
