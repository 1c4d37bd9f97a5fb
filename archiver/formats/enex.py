"""Evernote's ENEX: what was clipped is a page with its pictures, other notes are their links."""

import binascii
import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import md5
from html import escape

from archiver.formats.given_file import GivenFile
from archiver.formats.html_items import parse_fragment, text_of
from archiver.formats.importer import Importer
from archiver.formats.kept_pages import MOST_PARTS_BYTES, page_with_parts
from archiver.formats.plain_text import links_in_text
from archiver.formats.rows import Row
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.kept_page import KeptPage
from archiver.model.message import marked

_OF_NOTE = frozenset({"title", "created", "updated"})
_ATTRIBUTES, _OF_FILE = "note-attributes", "resource"
_NO_LINK = marked("This note holds no link.")
_HTTP = re.compile(r"^https?://", re.IGNORECASE)
_MOST_LINKS = 10_000
_MOST_NOTE = 10_000
_MEDIA = re.compile(r"<en-media\b[^>]{0,2000}>", re.IGNORECASE)
_HASH = re.compile(r"""\bhash\s*=\s*["']?([0-9a-fA-F]{32})""")
_NAMED = "en-media:"


def _read(file: GivenFile) -> Iterator[Bookmark]:
    fields: dict[str, str] = {}
    tags: list[str] = []
    content, attached = "", _Attached()
    inside = ""
    for element in elements(file):
        if element.name in (_ATTRIBUTES, _OF_FILE):
            inside = "" if element.is_end else element.name
        if element.name == "note" and not element.is_end:
            fields, tags, content, attached = {}, [], "", _Attached()
        elif element.name == "note":
            yield from _note(fields, tuple(dict.fromkeys(tags)), content, attached)
        elif element.is_end and element.name == "tag":
            tags.append(element.text.strip())
        elif element.is_end and element.name == "content":
            content = element.text
        elif element.is_end and element.name in ("data", "mime", _OF_FILE):
            attached.take(element.name, element.text)
        elif element.is_end and (inside == _ATTRIBUTES or element.name in _OF_NOTE - {inside}):
            fields.setdefault(element.name, element.text.strip())


class _Attached:
    """The files of one note, by the MD5 that its content names them by."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}
        self._data = b""
        self._kind = ""
        self._room = MOST_PARTS_BYTES

    def take(self, name: str, text: str) -> None:
        """Take the end of an element of a resource; that of the resource closes it."""
        if name == "data":
            with suppress(binascii.Error):
                self._data = binascii.a2b_base64(text.encode("ascii", "ignore"))
        elif name == "mime":
            self._kind = text.strip()
        else:
            self._room -= len(self._data)
            if self._data and self._room >= 0:
                key = md5(self._data, usedforsecurity=False).hexdigest()
                self._files[key] = self._kind or "application/octet-stream", self._data
            self._data, self._kind = b"", ""

    def page(self, content: str) -> KeptPage:
        """What was clipped, with its pictures where it has them."""
        shown = _MEDIA.sub(self._shown, content)
        parts = ((_NAMED + key, kind, data) for key, (kind, data) in self._files.items())
        return page_with_parts(shown.encode(), parts, "text/html; charset=utf-8")

    def _shown(self, found: re.Match[str]) -> str:
        key = _HASH.search(found[0])
        kind, _ = self._files.get(key[1].lower(), ("", b"")) if key else ("", b"")
        if not key or not kind:
            return found[0]
        place = _NAMED + key[1].lower()
        if kind.startswith("image/"):
            return f'<img src="{place}">'
        return f'<a href="{place}">{escape(kind)}</a>'


def _note(
    fields: dict[str, str], tags: tuple[str, ...], content: str, attached: _Attached
) -> Iterator[Bookmark]:
    """A note: the page it was clipped from, or else each link in it, with the note's name."""
    row = Row(fields)
    url = row.text("sourceurl")
    if url:
        title, added_at = row.text("title"), row.moment("created")
        page = attached.page(content) if content else ""
        yield row.bookmark(url, title=title, added_at=added_at, tags=tags, page=page)
        return
    links, whole = _links(content)
    if not links:
        yield unreadable(row.text("title"), _NO_LINK)
    for link, text in links.items():
        row = Row({name: each for name, each in fields.items() if name != "title"})
        row.put("note", fields.get("title", ""))
        yield row.bookmark(
            link,
            title=text,
            note=whole if whole not in (link, text) else "",
            added_at=row.moment("created"),
            tags=tags,
        )


def _links(content: str) -> tuple[dict[str, str], str]:
    """The links of a note with their texts, those that stand in its text too, and that text."""
    found: dict[str, str] = {}
    soup = parse_fragment(content)
    for anchor in soup.find_all("a", href=_HTTP, limit=_MOST_LINKS):
        found.setdefault(str(anchor["href"]), text_of(anchor).strip())
    whole = _tidy(text_of(soup))
    for line in whole.split("\n"):
        for each in links_in_text(line):
            if len(found) < _MOST_LINKS:
                found.setdefault(each.annotation.url_given, each.annotation.title)
    return found, whole[:_MOST_NOTE]


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(filter(None, lines))


ENEX = Importer(
    "Evernote (ENEX)",
    lambda file: is_xml(file, "en-export"),
    _read,
    ("enex",),
    marked("Evernote: Export notes, ENEX; what was clipped, and the links in notes"),
)
