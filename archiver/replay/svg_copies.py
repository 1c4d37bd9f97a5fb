"""Copies of elements of SVG files in the pages that refer to them.

Browsers load ``<use href="file#id">`` and ``filter: url(file#id)`` only from the page's own
origin, which is opaque in replay. So a copy of the element is put into the page, and a filter
becomes a data URL.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from archiver.replay.tag_syntax import ATTRIBUTE, TAG, decode_references

ReadSvg = Callable[[str], str]
"""Function that returns the SVG file at a URL; an empty text if there is none."""


def no_svg(_: str) -> str:
    """Return an empty text for every URL."""
    return ""


MAX_FILES: Final = 64
"""Maximum number of files whose elements are copied into one document."""
MAX_COPIED: Final = 4 << 20
"""Maximum number of characters that are copied into one document."""
_MAX_COPY: Final = 256 << 10
_MAX_REPEATED: Final = 1024
"""Maximum length of a copy that is put into the page again for each ``<use>``.

It is repeated because a ``<use>`` in another shadow tree can't refer to an earlier copy. A longer
element is copied only once.
"""
_MAX_STYLE: Final = 64 << 10
_MAX_OPEN: Final = 256
_SKIPPED: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))
_ID = re.compile(r"""([\t\n\r ]id[\t\n\r ]*=[\t\n\r ]*["'])""")
_REFERENCE = re.compile(
    r"""(href[\t\n\r ]*=[\t\n\r ]*["'][\t\n\r ]*|url\([\t\n\r ]*(?:["']|&quot;|&apos;)?)"""
    r"""\#([^"')&\t\n\r ]+)"""
)
_PREFIX = re.compile(r"(</?)svg:")
_SVG: Final = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'


@dataclass(frozen=True, slots=True)
class _Element:
    """Element of a file: its name without a prefix, and its position in the text."""

    name: str
    start: int
    end: int

    def contains(self, other: "_Element") -> bool:
        """Return whether another element is this one or inside it."""
        return self.start <= other.start and other.end <= self.end


class SvgFile:
    """The elements of an SVG file. A malformed file is read up to the error."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._elements: dict[str, _Element] = {}
        self._styles: list[_Element] = []
        opened: list[tuple[str, str, int]] = []
        for tag in _tags(text):
            name = tag[2].rpartition(":")[2]
            if not tag[1]:
                opened.append((name, _id_of(tag[0]), tag.start()))
            if tag[1] or tag[0].endswith("/>"):
                self._close(opened, name, tag.end())
            if len(opened) > _MAX_OPEN:
                break

    def _close(self, opened: list[tuple[str, str, int]], name: str, end: int) -> None:
        while opened:
            open_name, own_id, start = opened.pop()
            element = _Element(open_name, start, end)
            if own_id:
                self._elements.setdefault(own_id, element)
            if not opened:
                self._elements.setdefault("", element)
            if open_name == "style":
                self._styles.append(element)
            if open_name == name:
                return

    def name_of(self, id: str) -> str:
        """Return the name of an element; empty if it is missing."""
        return self._elements[id].name if id in self._elements else ""

    def copy(self, id: str) -> str:
        """Return the markup of an element and of the elements that it refers to.

        The result is empty if the element is missing or too long.

        Args:
            id: the element's id; empty for the root.
        """
        copied: list[_Element] = []
        seen, waiting, length = {id}, [id], 0
        while waiting:
            element = self._elements.get(waiting.pop())
            if element is None or any(each.contains(element) for each in copied):
                continue
            copied.append(element)
            length += element.end - element.start
            if length > _MAX_COPY:
                return ""
            named = _REFERENCE.finditer(self._text, element.start, element.end)
            new = {reference[2] for reference in named} - seen
            seen |= new
            waiting += sorted(new)
        return "".join(map(self._without_styles, copied))

    def _without_styles(self, element: _Element) -> str:
        parts, pos = [], element.start
        for style in self._styles:
            if pos <= style.start and style.end <= element.end:
                parts.append(self._text[pos : style.start])
                pos = style.end
        return "".join([*parts, self._text[pos : element.end]])

    @property
    def style(self) -> str:
        """Return the style sheets of the file, with CDATA as escaped text; empty if too long."""
        sheets = (self._text[each.start : each.end] for each in self._styles)
        inner = (each.partition(">")[2].rpartition("</")[0].strip() for each in sheets)
        style = "\n".join(map(_without_section, inner))
        return style if len(style) <= _MAX_STYLE else ""


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags of an XML text up to the first error."""
    pos = 0
    while (pos := text.find("<", pos)) >= 0:
        skipped = next((pair for pair in _SKIPPED if text.startswith(pair[0], pos)), None)
        if skipped:
            end = text.find(skipped[1], pos + len(skipped[0]))
            if end < 0:
                return
            pos = end + len(skipped[1])
            continue
        tag = TAG.match(text, pos)
        if tag is None:
            return
        yield tag
        pos = tag.end()


def _id_of(tag: str) -> str:
    if not _ID.search(tag):
        return ""
    attributes = (each for each in ATTRIBUTE.finditer(tag, 1) if each[1] == "id")
    return next((decode_references(each[2] or each[3] or "") for each in attributes), "")


def _without_section(sheet: str) -> str:
    if not sheet.startswith("<![CDATA["):
        return sheet
    inner = sheet.removeprefix("<![CDATA[").removesuffix("]]>")
    return inner.replace("&", "&amp;").replace("<", "&lt;")


@dataclass(frozen=True, slots=True)
class SvgCopy:
    """A copy to be put into a page.

    Attributes:
        id: the id of the copied element in the page.
        markup: markup of the element and of the elements that it refers to; empty if the page
            already contains a copy.
    """

    id: str
    markup: str


class SvgCopies:
    """Copies of elements that one document uses.

    Args:
        read: returns the SVG file at a URL.
    """

    def __init__(self, read: ReadSvg) -> None:
        self._read = read
        self._files: dict[str, SvgFile] = {}
        self._included: set[str] = set()
        self._remaining = MAX_COPIED

    def included(self, url: str, id: str) -> SvgCopy | None:
        """Return the copy of an element of a file; None if it is missing or too long.

        Args:
            url: URL of the file.
            id: the element's id; empty for the root element.
        """
        file = self._file(url)
        source = file.copy(id) if file else ""
        if file is None or not source or len(source) > self._remaining:
            return None
        prefix = f"archived-{list(self._files).index(url)}-"
        new_id = prefix + id
        if new_id in self._included and len(source) > _MAX_REPEATED:
            return SvgCopy(new_id, "")
        self._included.add(new_id)
        self._remaining -= len(source)
        markup = _ID.sub(rf"\1{prefix}", _PREFIX.sub(r"\1", source))
        if not id:
            markup = f'<g id="{prefix}">{markup}</g>'
        if file.style:
            markup += f'<style>@scope ([id="{new_id}"]) {{{file.style}}}</style>'
        return SvgCopy(new_id, _REFERENCE.sub(rf"\1#{prefix}\2", markup))

    def filter_url(self, url: str, id: str) -> str:
        """Return the data URL of a filter; empty if the element is missing or is not a filter."""
        file = self._file(url)
        if file is None or file.name_of(id) != "filter":
            return ""
        markup = _PREFIX.sub(r"\1", file.copy(id))
        if not markup or len(markup) > self._remaining:
            return ""
        self._remaining -= len(markup)
        return f"data:image/svg+xml,{quote(f'{_SVG}{markup}</svg>')}#{quote(id)}"

    def _file(self, url: str) -> SvgFile | None:
        if url not in self._files:
            if len(self._files) >= MAX_FILES:
                return None
            self._files[url] = SvgFile(self._read(url))
        return self._files[url]
