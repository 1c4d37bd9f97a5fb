"""Character references in attribute values (HTML §13.2.5.72 to §13.2.5.80)."""

import re
from html import unescape
from html.entities import html5

_REFERENCE = re.compile(r"&(?:#[0-9]++;?|#[xX][0-9a-fA-F]++;?|([a-zA-Z][a-zA-Z0-9]*+)(;|=)?)")

_MOST_DIGITS = 7


def decode_references(value: str) -> str:
    """The value that an attribute's source means.

    In an attribute a reference without semicolon that goes on with a letter, a digit or ``=`` is
    none: ``?a=1&copy=2`` holds no copyright sign.
    """
    return _REFERENCE.sub(_meaning, value) if "&" in value else value


def encode_references(value: str, quote: str, *, xml: bool = False) -> str:
    """The source of an attribute in those quotes that means ``value``."""
    encoded = value.replace("&", "&amp;") if "&" in value else value
    if quote in encoded:
        encoded = encoded.replace(quote, "&quot;" if quote == '"' else "&#39;")
    return encoded.replace("<", "&lt;") if xml else encoded


def _meaning(reference: re.Match[str]) -> str:
    name, end = reference[1], reference[2]
    if name is None:
        return _character(reference[0][2:].rstrip(";"))
    if end == ";":
        return html5.get(f"{name};", reference[0])
    return reference[0] if end == "=" else html5.get(name, reference[0])


def _character(number: str) -> str:
    """The character of a numeric reference; zeros in front of it may go on for ever."""
    is_hex = number[0] in "xX"
    digits = number[is_hex:].lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return "\ufffd"
    return unescape(f"&#{'x' * is_hex}{digits or '0'};")
