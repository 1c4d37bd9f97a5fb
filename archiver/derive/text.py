"""The text of a document, as both who looks at it and who reads it take it."""

from archiver.derive.messages import Document
from archiver.encoding.choose import Choice, Decoded, choose_encoding, decode_document


def decode(document: Document) -> Decoded:
    """Its text, and how it was decoded."""
    return decode_document(document.payload, document.media_type, document.charset, document.url)


def choose(document: Document) -> Choice:
    """How it would be decoded."""
    return choose_encoding(document.payload, document.media_type, document.charset, document.url)
