"""Exports of note-taking programs: ENEX and folders of Markdown.

A note that this program exported is imported as one entry, without the links in its article. From
any other note, the page that it was clipped from or the links in it are imported.
"""

import binascii
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import md5
from html import escape
from typing import Any

import yaml

from archiver.formats.archive_members import Members
from archiver.formats.entry_markdown import read_entry
from archiver.formats.html_items import element_text, parse_fragment
from archiver.formats.importer import Importer
from archiver.formats.plain_text import links_in_text, read_plain_text
from archiver.formats.rows import Row, guessed_tags, parse_date, text_of
from archiver.formats.saved_pages import MAX_PARTS_BYTES, page_with_parts
from archiver.formats.source_file import SourceFile
from archiver.formats.xml_events import elements, is_xml_file
from archiver.model.entry_list import folder_path
from archiver.model.message import marked
from archiver.model.seed import ArchivedPage, Bookmark, unreadable

_NOTE_FIELDS = frozenset({"title", "created", "updated"})
_ATTRIBUTES, _RESOURCE = "note-attributes", "resource"
_NO_LINK = marked("This note contains no links.")
_HTTP = re.compile(r"^https?://", re.IGNORECASE)
_MAX_LINKS = 10_000
_MAX_NOTE = 10_000
_MEDIA = re.compile(r"<en-media\b[^>]{0,2000}>", re.IGNORECASE)
_HASH = re.compile(r"""\bhash\s*=\s*["']?([0-9a-fA-F]{32})""")
_REFERENCE_PREFIX = "en-media:"


def _read(file: SourceFile) -> Iterator[Bookmark]:
    fields: dict[str, str] = {}
    tags: list[str] = []
    content, attachments = "", _Attachments()
    inside = ""
    for element in elements(file):
        if element.name in (_ATTRIBUTES, _RESOURCE):
            inside = "" if element.is_end else element.name
        if element.name == "note" and not element.is_end:
            fields, tags, content, attachments = {}, [], "", _Attachments()
        elif element.name == "note":
            yield from _note(fields, tuple(dict.fromkeys(tags)), content, attachments)
        elif element.is_end and element.name == "tag":
            tags.append(element.text.strip())
        elif element.is_end and element.name == "content":
            content = element.text
        elif element.is_end and element.name in ("data", "mime", _RESOURCE):
            attachments.take(element.name, element.text)
        elif element.is_end and (inside == _ATTRIBUTES or element.name in _NOTE_FIELDS - {inside}):
            fields.setdefault(element.name, element.text.strip())


class _Attachments:
    """Attachments of one note by MD5 digest; the content of the note refers to these digests."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}
        self._data = b""
        self._kind = ""
        self._bytes_left = MAX_PARTS_BYTES

    def take(self, name: str, text: str) -> None:
        """Process the end of an element: ``data``, ``mime`` or ``resource``.

        The end of ``resource`` completes an attachment.
        """
        if name == "data":
            with suppress(binascii.Error):
                self._data = binascii.a2b_base64(text.encode("ascii", "ignore"))
        elif name == "mime":
            self._kind = text.strip()
        else:
            self._bytes_left -= len(self._data)
            if self._data and self._bytes_left >= 0:
                key = md5(self._data, usedforsecurity=False).hexdigest()
                self._files[key] = self._kind or "application/octet-stream", self._data
            self._data, self._kind = b"", ""

    def page(self, content: str) -> ArchivedPage:
        """Return the clipped content of a note with its attachments."""
        linked = _MEDIA.sub(self._attachment_link, content)
        parts = ((_REFERENCE_PREFIX + key, kind, data) for key, (kind, data) in self._files.items())
        return page_with_parts(linked.encode(), parts, "text/html; charset=utf-8")

    def _attachment_link(self, match: re.Match[str]) -> str:
        key = _HASH.search(match[0])
        kind, _ = self._files.get(key[1].lower(), ("", b"")) if key else ("", b"")
        if not key or not kind:
            return match[0]
        place = _REFERENCE_PREFIX + key[1].lower()
        if kind.startswith("image/"):
            return f'<img src="{place}">'
        return f'<a href="{place}">{escape(kind)}</a>'


def _note(
    fields: dict[str, str], tags: tuple[str, ...], content: str, attachments: _Attachments
) -> Iterator[Bookmark]:
    """Yield the page that a note was clipped from, or each link in a note that was not clipped."""
    row = Row(fields)
    url = row.text("sourceurl")
    if url:
        title, added_at = row.text("title"), row.moment("created")
        page = attachments.page(content) if content else ""
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
    """Return the link texts in a note by URL, including bare URLs, and the text of the note."""
    links: dict[str, str] = {}
    soup = parse_fragment(content)
    for anchor in soup.find_all("a", href=_HTTP, limit=_MAX_LINKS):
        links.setdefault(str(anchor["href"]), element_text(anchor).strip())
    whole = _tidy(element_text(soup))
    for line in whole.split("\n"):
        for each in links_in_text(line):
            if len(links) < _MAX_LINKS:
                links.setdefault(each.annotation.url_given, each.annotation.title)
    return links, whole[:_MAX_NOTE]


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(filter(None, lines))


ENEX = Importer(
    "Evernote (ENEX)",
    lambda file: is_xml_file(file, "en-export"),
    _read,
    ("enex",),
    marked("Evernote: Export notes, ENEX; imports clipped pages and the links in notes"),
    has_other_addresses=True,
)

_NOTES = (".md", ".markdown", ".org")
_SETTINGS = (".obsidian/", "logseq/config.edn")
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_PROPERTY = re.compile(r"^[-\s]*([\w-]+)::\s*(.+?)\s*$", re.MULTILINE)
_ADDRESSES = ("url", "source", "link", "website")
_HTTP_NOTES_ZIP = ("http://", "https://")
_MAX_FRONT = 1 << 14
_OWN = re.compile(r"(?:\A|/)([0-9a-f]{32})/index\.md\Z")
_MAX_OWN_FRONT = 4 << 20
"""Maximum characters of the front matter of our own exports.

It is enough for the longest note and source record, and for hundreds of highlights.
"""
_MAX_TRIED = 5
_MAX_OPEN_BRACKETS = 50
"""Maximum nesting of brackets in front matter."""


def _read_notes_zip(file: SourceFile) -> Iterator[Bookmark]:
    packed = file.zip
    for name in packed.names if packed else ():
        if packed and name.lower().endswith(_NOTES) and not name.startswith("."):
            if entry := _own_entry(packed, name):
                yield entry
                continue
            with packed.open(name) as member:
                yield from _read_markdown_note(SourceFile(member, name), name)


def _own_entry(packed: Members, name: str) -> Bookmark | None:
    """Return the entry that this program exported as a note; None for other notes."""
    match = _OWN.search(name)
    if match is None:
        return None
    text = packed.read(name, _MAX_OWN_FRONT).decode("utf-8", "replace")
    annotation = read_entry(_front_matter(text, _MAX_OWN_FRONT), match[1])
    return Bookmark(annotation) if annotation else None


def _read_markdown_note(file: SourceFile, name: str) -> Iterator[Bookmark]:
    *folders, last = name.split("/")
    path = folder_path(folders)
    front = _front_matter(file.text)
    row = Row(front)
    address = next((each for each in _ADDRESSES if _is_address(row.peek(each))), "")
    tags = guessed_tags(row.take("tags", "tag"))
    url = row.text(address) if address else ""
    if url:
        yield row.bookmark(
            url,
            title=row.text("title") or last.rpartition(".")[0],
            note=row.text("description"),
            added_at=row.moment("created", "date", "datesaved", "saved"),
            tags=tags,
            folder=folders,
        )
    added_at = parse_date(text_of(front.get("created") or front.get("date")))
    for bookmark in read_plain_text(file):
        if bookmark.annotation.url_given != url and _is_address(bookmark.annotation.url_given):
            note = Row({"note": name}).bookmark("").annotation.source_record
            yield Bookmark(
                replace(
                    bookmark.annotation,
                    added_at=added_at,
                    tags=tags,
                    folders=(path,) if path else (),
                    source_record=note,
                )
            )


def _front_matter(text: str, most: int = _MAX_FRONT) -> dict[str, Any]:
    """Return the properties at the head of a note: YAML, or Logseq's ``name:: value``."""
    match = _FRONT.match(text)
    if match is None:
        return {each[1]: each[2] for each in _PROPERTY.finditer(text[:_MAX_FRONT])}
    try:
        front = yaml.load(match[1][:most], Loader=_Loader)  # noqa: S506 - it is a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        return {}
    return {str(name): each for name, each in front.items()} if isinstance(front, dict) else {}


class _Loader(yaml.SafeLoader):
    """YAML loader that reads scalars as text and rejects aliases, which can grow exponentially."""

    flow_level: int

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node unless it is an alias."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)

    def fetch_flow_collection_start(self, token_class: Any) -> None:
        """Open a bracket unless too many are open; the cost of a bracket grows with its depth."""
        if self.flow_level >= _MAX_OPEN_BRACKETS:
            raise yaml.YAMLError("too many brackets")
        super().fetch_flow_collection_start(token_class)

    def compose_scalar_node(self, anchor: Any) -> Any:
        """Compose each scalar as text, because parsing sexagesimal numbers takes quadratic time."""
        node = super().compose_scalar_node(anchor)
        node.tag = "tag:yaml.org,2002:str"
        return node


_Loader.yaml_implicit_resolvers = {}


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_HTTP_NOTES_ZIP)


def _is_notes_zip(file: SourceFile) -> bool:
    notes = sum(each.lower().endswith(_NOTES) for each in file.members)
    is_vault = any(mark in each for each in file.members for mark in _SETTINGS)
    return notes > 0 and (is_vault or notes * 2 > len(file.members))


def _is_ours(file: SourceFile) -> bool:
    packed = file.zip
    if packed is None:
        return False
    members = [each for each in packed.names if _OWN.search(each)]
    notes = sum(each.lower().endswith(_NOTES) for each in packed.names)
    return len(members) * 2 > notes and any(
        _own_entry(packed, each) for each in members[:_MAX_TRIED]
    )


OWN_MARKDOWN = Importer(
    "archiver Markdown",
    _is_ours,
    _read_notes_zip,
    ("zip",),
    marked("archiver: Export, Markdown"),
    tags_include_folders=True,
)
NOTES_ZIP = Importer(
    marked("zip file of notes"),
    _is_notes_zip,
    _read_notes_zip,
    ("zip",),
    marked(
        "Obsidian, Logseq or any folder of Markdown files: imports the links in notes, with "
        "folders and tags"
    ),
)
