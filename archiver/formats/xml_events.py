"""Parser of XML files that yields events.

The document type declaration is removed before parsing, so that a file cannot define entities.
Entities of HTML are replaced by their characters. Malformed input is read as far as possible.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html.entities import html5

from lxml import etree

from archiver.formats.refusal import is_binary
from archiver.formats.source_file import SourceFile, end_of_prologue

MAX_TEXT = 16 << 20
"""Maximum number of characters of one element's own text, such as an article in CDATA."""
MAX_DEPTH = 1000
_REFERENCE = re.compile(
    r"(?P<begin><!\[CDATA\[)|(?P<end>\]\]>)|&(?:(?P<name>[a-zA-Z][a-zA-Z0-9]{1,31});|(?P<code>#))?"
)
_INCOMPLETE = re.compile(r"(?:&[a-zA-Z0-9]{0,32}|<!?\[?[CDAT]{0,5}|\]{1,2})\Z")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


@dataclass(slots=True)
class Element:
    """Start or end of an element.

    Attributes:
        name: name in lower case, without namespace prefix.
        attributes: values by name in lower case, without namespace prefix.
        text: text directly inside the element; empty at its start.
        is_end: whether the event is the end of the element.
        pieces: parts of ``text`` that have been read so far.
        room: number of characters that ``pieces`` may still get.
    """

    name: str
    attributes: Mapping[str, str]
    text: str = ""
    is_end: bool = False
    pieces: list[str] = field(default_factory=list)
    room: int = MAX_TEXT


def elements(file: SourceFile) -> Iterator[Element]:
    """Yield each element twice, in file order: for its start tag and its end tag."""
    complete: list[Element] = []
    parser = etree.XMLParser(
        target=_Target(complete), recover=True, huge_tree=True, no_network=True, encoding="utf-8"
    )
    for chunk in xml_text(file):
        try:
            parser.feed(chunk.encode())
        except etree.XMLSyntaxError:
            break
        yield from complete
        complete.clear()
    with suppress(etree.XMLSyntaxError, ValueError):
        parser.close()
    yield from complete


class _Target:
    """Target of lxml's parser, which collects the events."""

    def __init__(self, complete: list[Element]) -> None:
        self._found = complete
        self._open: list[Element] = []
        self._deeper = 0
        """Number of open elements nested deeper than ``MAX_DEPTH``; they are not reported."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) == MAX_DEPTH:
            self._deeper += 1
            return
        element = Element(_local(tag), {_local(name): each for name, each in attributes.items()})
        self._found.append(element)
        self._open.append(element)

    def end(self, _tag: str) -> None:
        if self._deeper:
            self._deeper -= 1
        elif self._open:
            element = self._open.pop()
            text = "".join(element.pieces)
            self._found.append(Element(element.name, element.attributes, text, is_end=True))

    def data(self, text: str) -> None:
        if self._open and not self._deeper and self._open[-1].room > 0:
            self._open[-1].pieces.append(text)
            self._open[-1].room -= len(text)

    def close(self) -> None:
        """Return None, because no tree is built."""


def xml_text(file: SourceFile) -> Iterator[str]:
    """Yield the text from the root element on, in a form that any XML parser accepts.

    HTML's named character references become numeric references. An unescaped ``&``, which is
    frequent in addresses, is escaped.
    """
    is_in_cdata = False

    def replaced(match: re.Match[str]) -> str:
        nonlocal is_in_cdata
        if match["begin"] or match["end"]:
            is_in_cdata = bool(match["begin"])
        elif not is_in_cdata and match["name"]:
            return _character(match[0], match["name"])
        elif not is_in_cdata and not match["code"]:
            return "&amp;"
        return match[0]

    unread = ""
    is_first = True
    for chunk in file.chunks():
        text = unread + chunk
        if is_first:
            text = text[end_of_prologue(text) :]
            is_first = False
        incomplete = _INCOMPLETE.search(text)
        unread = text[incomplete.start() :] if incomplete else ""
        text = text[: incomplete.start()] if incomplete else text
        yield _NOT_XML.sub("\ufffd", _REFERENCE.sub(replaced, text))
    yield _REFERENCE.sub(replaced, unread)


def _character(reference: str, name: str) -> str:
    if name in _XML_ENTITIES:
        return reference
    character = html5.get(f"{name};", "\ufffd")
    return "".join(f"&#{ord(each)};" for each in character)


def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2].lower()


def is_xml_file(file: SourceFile, *roots: str) -> bool:
    """Return whether a file is XML with one of these root elements; any root if none is given."""
    if file.root is None or is_binary(file):
        return False
    return not roots or file.root.name in roots
