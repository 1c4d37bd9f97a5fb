"""Encoding declared in a page's own markup (HTML §13.2.3.2).

The HTML standard scans the first 1,024 bytes, and restarts parsing if a later ``<meta>`` declares
another encoding. Browsers search the whole ``<head>`` instead. This module does both, on the bytes
and without an HTML parser.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from archiver.http.text_decoders import WINDOWS_1252, X_USER_DEFINED, Encoding, lookup_inside

PRESCAN_BYTES: Final = 1024
MAX_HEAD_BYTES: Final = 64 << 10
"""Maximum number of bytes of the ``<head>`` that are searched."""

_MARKUP = re.compile(rb"<(?=[a-zA-Z!/?])")
_META = re.compile(rb"<meta(?=[\t\n\f\r /])", re.IGNORECASE)
_TAG = re.compile(rb"</?[a-zA-Z][^\t\n\f\r >]*")
_REST_OF_TAG = re.compile(
    rb"""
    (?:
        [\t\n\f\r /]*+ [^\t\n\f\r />] [^\t\n\f\r />=]*+ [\t\n\f\r ]*+
        (?: = [\t\n\f\r ]*+ (?: "[^"]*+" | '[^']*+' | (?=>) | [^\t\n\f\r >"'][^\t\n\f\r >]*+ )
        |   (?!=)
        )
    )*+
    [\t\n\f\r /]*+ >
    """,
    re.VERBOSE,
)
"""Pattern for the attributes and the end of a tag; it does not match a truncated tag."""
_ATTRIBUTE = re.compile(
    rb"([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >]*+)))?+"
)
_CHARSET = re.compile(rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)
_LABEL = re.compile(rb"[^\t\n\f\r ;]*")
_XML_ENCODING = re.compile(
    rb"<\?xml(?:(?!encoding)[^>])*encoding[\x00-\x20]*=[\x00-\x20]*([\"'])([^\x00-\x20]*?)\1",
    re.DOTALL,
)
_HEAD_TAG = re.compile(rb"<(/?)([a-zA-Z][^\t\n\f\r />]*)")
_HEAD = frozenset(b"script noscript style link meta object title base html".split())
_RAW_TEXT = frozenset(b"script style title textarea xmp iframe noembed noframes".split())

_Declared = tuple[str, Encoding] | None


class _EndOfDataError(Exception):
    """The bytes end before the end of a tag, comment or element, or the search must stop."""


def declared_in_markup(start: bytes) -> _Declared:
    """Return (label, encoding) that a ``<meta>`` or an XML declaration declares.

    Priorities: ``<meta>`` in the first 1,024 bytes, XML declaration, ``<meta>`` in the ``<head>``.

    Args:
        start: the first bytes of a page; at most 64 KiB are examined.
    """
    head = start[:PRESCAN_BYTES]
    return _find(_prescan, head) or xml_declaration(head) or _find(_in_head, start[:MAX_HEAD_BYTES])


def xml_declaration(start: bytes) -> _Declared:
    """Return (label, encoding) of ``<?xml … encoding="…"?>`` (HTML's "get an XML encoding")."""
    end = start.find(b">")
    if not start.startswith(b"<?xml") or end < 0:
        return None
    match = _XML_ENCODING.match(start)
    if not match:
        return None
    label = match[2].decode("latin-1")
    encoding = lookup_inside(label)
    return (label, encoding) if encoding else None


def _find(read: Callable[[bytes, int], _Declared], data: bytes) -> _Declared:
    """Return the declaration that ``read`` finds in ``data``; None if it finds none.

    ``read`` also gets the offset of the last ``charset``, since no declaration can begin after it.
    """
    last = data.lower().rfind(b"charset")
    try:
        return read(data, last) if last > 0 else None
    except _EndOfDataError:
        return None


def _prescan(data: bytes, last: int) -> _Declared:
    """Return the first declaration by the standard's algorithm ("prescan a byte stream")."""
    return _first_declaration(data, last, _TAG, lambda tag: _end_of_tag(data, tag.end()))


def _in_head(data: bytes, last: int) -> _Declared:
    """Return the first declaration in the ``<head>``; a tag of the body ends the search."""

    def index_after(tag: re.Match[bytes]) -> int:
        name = tag[2].lower()
        if name not in _HEAD and (name != b"head" or tag[1]):
            raise _EndOfDataError
        pos = _end_of_tag(data, tag.end())
        return pos if tag[1] else _end_of_raw_text(data, name, pos)

    return _first_declaration(data, last, _HEAD_TAG, index_after)


def _first_declaration(
    data: bytes,
    last: int,
    any_tag: re.Pattern[bytes],
    index_after: Callable[[re.Match[bytes]], int],
) -> _Declared:
    """Return the first declaration in a ``<meta>``.

    ``index_after`` returns the index at which the search continues after any other tag.
    """
    pos = 0
    while markup := _MARKUP.search(data, pos, last):
        pos = markup.start()
        if data.startswith(b"<!--", pos):
            pos = _position_after(data, b"-->", pos + 2)
        elif meta := _META.match(data, pos):
            pos = _end_of_tag(data, meta.end())
            if declaration := _declaration(_attributes(data, meta.end(), pos - 1)):
                return declaration
        elif tag := any_tag.match(data, pos):
            pos = index_after(tag)
        else:
            pos = _position_after(data, b">", pos)
    return None


def _end_of_tag(data: bytes, pos: int) -> int:
    match = _REST_OF_TAG.match(data, pos)
    if not match:
        raise _EndOfDataError
    return match.end()


def _end_of_raw_text(data: bytes, name: bytes, pos: int) -> int:
    """Return the end of a raw text element's content; ``pos`` for other elements."""
    if name not in _RAW_TEXT:
        return pos
    while (pos := data.find(b"</", pos)) >= 0:
        tag = _HEAD_TAG.match(data, pos)
        if tag and tag[2].lower() == name:
            return pos
        pos += 2
    raise _EndOfDataError


def _position_after(data: bytes, mark: bytes, pos: int) -> int:
    position = data.find(mark, pos)
    if position < 0:
        raise _EndOfDataError
    return position + len(mark)


def _attributes(data: bytes, pos: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield (name, value) of the attributes of a tag, in lower case."""
    for match in _ATTRIBUTE.finditer(data, pos, end):
        yield match[1].lower(), (match[2] or match[3] or match[4] or b"").lower()


def _declaration(attributes: Iterable[tuple[bytes, bytes]]) -> _Declared:
    """Return the encoding that the attributes of a ``<meta>`` declare.

    If an attribute is repeated, its first value is used.
    """
    seen: set[bytes] = set()
    is_pragma = needs_pragma = False
    label: str | None = None
    encoding: Encoding | None = None
    for name, value in attributes:
        if name in seen:
            continue
        seen.add(name)
        if name == b"http-equiv":
            is_pragma = value == b"content-type"
        elif name == b"charset":
            label = value.decode("latin-1")
            encoding, needs_pragma = lookup_inside(label), False
        elif name == b"content" and label is None:
            inside = _in_content(value)
            if inside and (encoding := lookup_inside(inside)):
                label, needs_pragma = inside, True
    if label is None or encoding is None or (needs_pragma and not is_pragma):
        return None
    return label.strip(), WINDOWS_1252 if encoding == X_USER_DEFINED else encoding


def _in_content(value: bytes) -> str:
    """Return the encoding label in a ``content`` attribute (HTML §2.6.5), or an empty text."""
    match = _CHARSET.search(value)
    if not match:
        return ""
    pos = match.end()
    quote = value[pos : pos + 1]
    if quote in (b'"', b"'"):
        end = value.find(quote, pos + 1)
        return value[pos + 1 : end].decode("latin-1") if end > 0 else ""
    label = _LABEL.match(value, pos)
    return label[0].decode("latin-1") if label else ""
