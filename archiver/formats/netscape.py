"""Netscape bookmark files, read and written.

There is no standard; this module reads what producers write. The doctype may be missing or in the
wrong case, tags need not be closed, and any HTML with links is read as a list of its links.

Chrome reads line by line, and supports only five entities (`content_bookmark_parser_utils.cc`). So
the writer puts each link on one line, with ``HREF`` first, and uses only some of these entities.
``TAGS`` is an attribute of Firefox (`BookmarkHTMLUtils`), ``TOREAD`` of Pinboard and linkding. Only
this program uses ``READ``, ``STARRED``, ``ALL_TAGS`` and ``PAGE_TITLE``; others ignore them. A
link without a title gets its address as title, because browsers would show nothing. Notes follow
``<DD>``. An entry in several folders is written once in each.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from bs4 import Tag

from archiver.formats.html_items import Item, element_text, html_items
from archiver.formats.importer import Importer
from archiver.formats.list_writer import Heading, ListForm, Order
from archiver.formats.own_json import captured_title, captured_title_record
from archiver.formats.refusal import is_binary
from archiver.formats.rows import MAX_URL, guessed_tags, parse_date
from archiver.formats.source_file import FileLists, SourceFile
from archiver.http.text_decoders import well_formed
from archiver.model.annotation import Annotation, write_source_record
from archiver.model.entry import Entry, ExportedEntry
from archiver.model.entry_list import folder_names, folder_path
from archiver.model.imports import NO_LINK
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken

# Attributes and notes of one bookmark, as producers write them.

MAX_TITLE = 10_000
"""Maximum characters of a title, folder name or tag."""
MAX_NOTE = 500_000
"""Maximum characters of a note."""
MAX_TAGS = 200
"""Maximum number of tags of one bookmark."""
_SHORT = 500

_NOTES_MARKS = re.compile(r"\[/?linkding-notes\]")
_ARCHIVED_TAG = "linkding:bookmarks.archived"
"""Tag by which linkding marks archived links; they are imported as read."""
_FAVOURITE = "data-important"
"""Attribute by which Raindrop.io marks favourites."""
_READ_SECTIONS = frozenset({"read archive", "archive", "archived", "read"})
_STARRED_SECTIONS = frozenset({"starred", "liked", "favorites", "favourites"})
_PLAIN_SECTIONS = frozenset({"unread", "bookmarks"}) | _READ_SECTIONS | _STARRED_SECTIONS
_IGNORED_ATTRIBUTES = frozenset({"icon", "toread"})
_MAX_NAME = 100
_WEB = ("http://", "https://")
_UNIX = datetime(1970, 1, 1, tzinfo=UTC)


def note_of(text: str) -> str:
    """Join linkding's description and its notes, which it writes between markers."""
    parts = (part.strip() for part in _NOTES_MARKS.split(text))
    return "\n\n".join(part for part in parts if part)


def added_at_of(link: dict[str, str]) -> datetime | None:
    """Remove the date of saving from a link's attributes and return it; None if there is none."""
    for name in ("add_date", "time_added"):
        if moment := parse_date(link.get(name, "")):
            del link[name]
            return moment
    return None


def unix_time(text: str) -> datetime | None:
    """Parse a Unix time of any year; None if it is invalid.

    Files that this program wrote may contain dates of any year.
    """
    try:
        return _UNIX + timedelta(seconds=int(text[:20]))
    except (ValueError, OverflowError):
        return None


def tags_of(link: dict[str, str]) -> tuple[str, ...]:
    """Remove the tags from a link's attributes and return them.

    The attribute ``toread`` stays, and adds the tag ``toread`` if it is set.
    """
    tags = link.pop("tags", "")
    later = ("toread",) if link.get("toread") == "1" else ()
    if not (tags or later):
        return ()
    named = (_cached_tags if len(tags) < _SHORT else _tags_in)(tags)
    return tuple(dict.fromkeys((*named, *later)))[:MAX_TAGS] if later else named


def _tags_in(text: str) -> tuple[str, ...]:
    names = (word.strip() for word in text.split(","))
    tags = (tag[:MAX_TITLE] for tag in names if tag and tag != _ARCHIVED_TAG)
    return tuple(dict.fromkeys(tags))[:MAX_TAGS]


_cached_tags = lru_cache(8192)(_tags_in)
"""Cached, because neighbouring bookmarks often have the same tags."""


def state_of(section: str) -> tuple[bool, bool]:
    """Return whether links under a heading are read, and whether they are starred."""
    return section in _READ_SECTIONS, section in _STARRED_SECTIONS


def record_of(
    link: dict[str, str], root: str, section: str, folders: Sequence[Mapping[str, str]]
) -> str:
    """Return a source record of a link's attributes that were not used, without favicons.

    The record also contains the built-in folder, the metadata of folders and the heading.
    """
    fields: dict[str, Any] = {
        name[:_MAX_NAME]: value
        for name, value in link.items()
        if name not in _IGNORED_ATTRIBUTES and value != "0"
    }
    if root:
        fields["root"] = root
    if folders:
        fields["folders"] = folders
    if section and section not in _PLAIN_SECTIONS:
        fields["section"] = section
    return write_source_record(fields) if fields else ""


# Folders around the links of a Netscape file, with their metadata.

_MAX_DEPTH = 64
_FOLDER_DATES = ("add_date", "last_modified")
_MAX_DATE = 100
_MAX_PENDING = 64
_MAX_DESCRIPTION = 10_000
# Names of browsers' built-in top folders; a nested folder of that name is the user's.
_ROOT_FOLDERS = frozenset(
    {
        "bookmarks",
        "bookmarks bar",
        "bookmarks menu",
        "bookmarks toolbar",
        "bookmarks toolbar folder",
        "favorites",
        "favorites bar",
        "favourites",
        "favourites bar",
        "mobile bookmarks",
        "other bookmarks",
        "other favorites",
        "other favourites",
        "personal toolbar folder",
        "speed dial",
        "unsorted bookmarks",
    }
)
_ROOT_ATTRIBUTES = ("personal_toolbar_folder", "unfiled_bookmarks_folder")


class Folders:
    """Folders around the current position in a file. A folder without links becomes a list.

    Args:
        lists: the lists of the file, to which folders without links are added.
        has_roots: whether the file contains built-in folders, which are not the user's.

    Attributes:
        path: the path of the innermost folder; empty outside of folders.
        root: the name of the built-in folder around them; empty if there is none.
        pending: metadata of folders entered since the last link; the next link stores it.
    """

    def __init__(self, lists: FileLists, *, has_roots: bool) -> None:
        self._lists = lists
        self._has_roots = has_roots
        self._metadata: dict[str, str] = {}
        self.pending: list[Mapping[str, str]] = []
        self._filled = 0
        self.path = ""
        self.root = ""
        self._outer: list[tuple[str, str]] = []
        self._too_deep = 0
        self._next = ""
        self._next_is_root = False

    @property
    def depth(self) -> int:
        """Return the number of open lists."""
        return len(self._outer)

    @property
    def is_announced(self) -> bool:
        """Return whether a folder heading was read whose list has not begun."""
        return bool(self._next)

    def fill(self) -> Sequence[Mapping[str, str]]:
        """Mark the current folder as not empty; remove and return the pending metadata."""
        self._filled = len(self._outer)
        if not self.pending:
            return ()
        pending, self.pending = self.pending, []
        return pending

    def describe(self, text: str) -> None:
        """Set the description of the announced folder."""
        if description := text.strip():
            self._metadata["description"] = description[:_MAX_DESCRIPTION]

    def announce(self, attributes: Mapping[str, object]) -> None:
        """Start a folder from the attributes of its heading."""
        self._next = ""
        dates = {name: str(attributes.get(name, ""))[:_MAX_DATE] for name in _FOLDER_DATES}
        self._metadata = {name: each for name, each in dates.items() if each not in ("", "0")}
        self._next_is_root = any(attributes.get(key) == "true" for key in _ROOT_ATTRIBUTES)

    def named(self, name: str) -> None:
        """Set the name of the started folder."""
        self._next = " ".join(name.split())

    def enter(self) -> None:
        """Enter a list, and with it the announced folder, if any."""
        if len(self._outer) >= _MAX_DEPTH:
            self._too_deep += 1
            return
        self._outer.append((self.path, self.root))
        is_root = self._has_roots and (
            self._next_is_root or (not self.path and self._next.lower() in _ROOT_FOLDERS)
        )
        if self._next and not is_root:
            self.path = f"{self.path}/{folder_path([self._next])}".removeprefix("/")
            if self._metadata and len(self.pending) < _MAX_PENDING:
                self.pending.append({"path": self.path, **self._metadata})
        elif is_root:
            self.root = self._next[:MAX_TITLE]
        self._next, self._next_is_root, self._metadata = "", False, {}

    def leave(self) -> None:
        """Leave the current list."""
        if self._too_deep:
            self._too_deep -= 1
        elif self._outer:
            depth = len(self._outer)
            if self._filled < depth and self.path != self._outer[-1][0]:
                self._lists.add(self.path, "")
                self._filled = depth  # lists for its parents are added with it
            self._filled = min(self._filled, depth - 1)
            self.path, self.root = self._outer.pop()


_BOOKMARKS = re.compile(
    r"<!doctype\s{1,20}netscape-bookmark|<dt\b[^<]{0,20}<(?:a|h3)\b", re.IGNORECASE
)
_HTML = re.compile(r"\s*+<(?!https?:)", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^<>]{0,2000}?\bhref\s{0,20}=", re.IGNORECASE)
GENERATOR = '<META NAME="generator" CONTENT="archiver">'
"""Line that identifies files written by this program."""
ALL_TAGS = "all_tags"
"""Attribute for tags as JSON, written if a tag contains a comma."""
PAGE_TITLE = "page_title"
"""Attribute that marks a title as not user-supplied, and states its source."""
PAGES = "1"
"""Value of ``PAGE_TITLE``: the title is that of the page."""
NO_TITLE = "0"
"""Value of ``PAGE_TITLE``: there is no title, so the address was written instead."""
MAX_TAGS_WITHOUT_LINK = 2_000_000
"""Maximum number of consecutive list tags and headings without a link; the rest is skipped.

An archive of two megabytes can unpack to fifty million empty tags, which take minutes.
"""


def _recognises(file: SourceFile) -> bool:
    """Return whether a file is a bookmark file, or any HTML with a link in it."""
    if is_binary(file) or file.json_paths or file.root:
        return False
    if is_bookmark_file(file.text):
        return True
    # Markdown and text files may contain HTML, too. Other importers read them, because URLs outside
    # of tags are also links.
    is_html = _HTML.match(file.text) is not None and file.suffix not in ("md", "txt")
    return is_html and _LINK.search(file.text) is not None


def is_bookmark_file(text: str) -> bool:
    """Return whether a text has the structure of a bookmark file, not just HTML with links."""
    return _BOOKMARKS.search(text) is not None


def read_netscape(file: SourceFile) -> Iterator[Bookmark]:
    """Yield the links in order, with their folders; ``<DD>`` texts are notes."""
    return _read(file, is_ours=False)


def _read(file: SourceFile, *, is_ours: bool) -> Iterator[Bookmark]:
    reader = _Reader(FileLists(file), is_ours=is_ours)
    without_link = 0
    for items in html_items(file.chunks()):
        bookmarks = [*filter(None, map(reader.take, items))]
        yield from bookmarks
        without_link = 0 if bookmarks else without_link + len(items)
        if without_link > MAX_TAGS_WITHOUT_LINK:
            break
    if bookmark := reader.finish():
        yield bookmark
    if without_link > MAX_TAGS_WITHOUT_LINK:
        yield broken("", NO_LINK)


class _Reader:
    """State of one pass: current folders, link and note.

    Files written by this program are read literally: no folder in them is built in, and no text is
    a marker of another service.
    """

    def __init__(self, lists: FileLists, *, is_ours: bool) -> None:
        self._is_ours = is_ours
        self._folders = Folders(lists, has_roots=not is_ours)
        self._link: dict[str, str] | None = None
        self._title = self._note = self._section = ""
        self._note_before = ""

    def take(self, item: Item) -> Bookmark | None:
        """Process the next item; return the bookmark that it ends, if any."""
        name, element = item
        if name == "dd" and element is not None:
            note = _note_text(element)[:MAX_NOTE]
            if self._link is not None:
                self._note = f"{self._note}{note}"[:MAX_NOTE]
            elif self._folders.is_announced:
                self._folders.describe(note)
            else:
                self._note_before = note
            return None
        if not name:
            return None
        ended = self.finish()
        if name == "a" and element is not None:
            self._link = {key: str(value) for key, value in element.attrs.items()}
            self._title = element_text(element)[:MAX_TITLE]
            self._note, self._note_before = self._note_before, ""
        elif name == "h3" and element is not None:
            self._folders.announce(element.attrs)
            self._folders.named(element_text(element)[:MAX_TITLE])
        elif name == "h1" and element is not None:
            self._section = " ".join(element_text(element)[:MAX_TITLE].split()).lower()
        elif name == "dl":
            self._folders.enter()
        elif name == "/dl":
            self._folders.leave()
        return ended

    def finish(self) -> Bookmark | None:
        """Return the bookmark of the current link, which is complete; None if there is no link."""
        if self._link is None:
            return None
        link, title, note = self._link, " ".join(self._title.split()), self._note
        self._link, self._title, self._note = None, "", ""
        if self._is_ours:
            return self._own_bookmark(link, title, note.strip())
        folders = self._folders
        folder_metadata = folders.fill()
        note = note_of(note) or link.pop("description", "")[:MAX_NOTE].strip()
        section = "" if folders.depth else self._section
        is_read, is_starred = state_of(section) if section else (False, False)
        url = link.pop("href", "").strip()
        return Bookmark(
            Annotation(
                url_given=url[:MAX_URL],
                # many services write the address if there is no title
                title="" if title == url else title,
                note=note,
                added_at=added_at_of(link),
                is_read=is_read or _ARCHIVED_TAG in link.get("tags", ""),
                is_starred=is_starred or link.pop(_FAVOURITE, "") == "true",
                folders=(folders.path,) if folders.path else (),
                tags=tags_of(link),
                source_record=record_of(link, folders.root, section, folder_metadata),
            )
        )

    def _own_bookmark(self, link: dict[str, str], title: str, note: str) -> Bookmark:
        """Return the bookmark of a link in a file that this program wrote."""
        split = link.get("tags", "").split(",")
        self._folders.fill()
        title_source = link.get(PAGE_TITLE)
        annotation = Annotation(
            link.get("href", ""),
            unix_time(link.get("add_date", "")),
            title="" if title_source in (PAGES, NO_TITLE) else title,
            tags=guessed_tags(link[ALL_TAGS]) if ALL_TAGS in link else tuple(filter(None, split)),
            note=note,
            is_read=link.get("read") == "1",
            is_starred=link.get("starred") == "1",
            folders=(path,) if (path := self._folders.path) else (),
            source_record=captured_title_record(title) if title_source == PAGES else "",
        )
        return Bookmark(annotation)


def _note_text(element: Tag) -> str:
    """Return the text of a note, with the addresses of the links in it."""
    for link in element.find_all("a", href=True):
        address = str(link["href"])
        if address.startswith(_WEB) and address not in link.get_text():
            link.append(f" ({address})")
    return element_text(element)


def _is_ours(file: SourceFile) -> bool:
    return GENERATOR in file.text and is_bookmark_file(file.text)


OWN_HTML = Importer(
    "archiver HTML",
    _is_ours,
    lambda file: _read(file, is_ours=True),
    ("html",),
    marked("archiver: Export, Bookmarks (HTML)"),
    tags_include_folders=True,
)
NETSCAPE = Importer(
    "Netscape HTML",
    _recognises,
    read_netscape,
    ("html", "htm"),
    marked("bookmarks from any browser, and HTML exports from most services"),
)

TO_READ = "toread"
_ADDRESS = re.compile(r"https?://[^\s\x00-\x20\"\\<>\x7f-\x9f]+")
_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_ESCAPED = re.compile('[&<>"]')
_OPENING = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
{GENERATOR}
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
"""


class _BookmarksHtml:
    def __init__(self, _: Heading) -> None:
        self._within: tuple[str, ...] = ()

    def opening(self) -> str:
        return _OPENING

    def item(self, exported: ExportedEntry, place: str) -> str:
        lines = [
            *self._folder_changes(folder_names(place)),
            *_link(exported.entry, len(self._within) + 1),
        ]
        return "".join(f"{line}\n" for line in lines)

    def closing(self) -> str:
        return "".join(f"{line}\n" for line in [*self._folder_changes(()), "</DL><p>"])

    def _folder_changes(self, folders: tuple[str, ...]) -> Iterator[str]:
        """Yield the tags that leave the old folders and enter the new ones."""
        if folders == self._within:
            return
        shared = 0
        while folders[: shared + 1] == self._within[: shared + 1] and shared < len(folders):
            shared += 1
        for depth in range(len(self._within), shared, -1):
            yield f"{_indent(depth)}</DL><p>"
        for depth, name in enumerate(folders[shared:], shared + 1):
            yield f"{_indent(depth)}<DT><H3>{_escaped(_on_one_line(name))}</H3>"
            yield f"{_indent(depth)}<DL><p>"
        self._within = folders


def _link(entry: Entry, depth: int) -> Iterator[str]:
    annotation = entry.annotation
    url = annotation.url_given.strip()
    title = _on_one_line(entry.title or captured_title(annotation.source_record))
    tags = [*filter(None, map(_on_one_line, annotation.tags))]
    address = url if _ADDRESS.fullmatch(url) else entry.url
    attributes = {
        "HREF": address,
        "ADD_DATE": str(int(annotation.saved_at.timestamp())),
        "TAGS": ",".join(tags),
        "TOREAD": "1" if TO_READ in tags else "",
        "READ": "1" if annotation.is_read else "",
        "STARRED": "1" if annotation.is_starred else "",
        PAGE_TITLE.upper(): _title_attribute(annotation.title, title),
        ALL_TAGS.upper(): json.dumps(tags) if any("," in tag for tag in tags) else "",
    }
    written = "".join(f' {name}="{_escaped(value)}"' for name, value in attributes.items() if value)
    yield f"{_indent(depth)}<DT><A{written}>{_escaped(title or address)}</A>"
    if note := _clean(annotation.note).strip():
        yield f"{_indent(depth)}<DD>{_escaped(note)}"


def _title_attribute(user_title: str, title: str) -> str:
    """Return the value of ``PAGE_TITLE``; empty if the title is user-supplied."""
    if not title:
        return NO_TITLE
    return "" if user_title else PAGES


def _indent(depth: int) -> str:
    return "    " * depth


def _on_one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    """Return text without characters that HTML forbids, and with uniform line ends."""
    return _NO_TEXT.sub("", well_formed(text).replace("\r\n", "\n").replace("\r", "\n"))


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text)


BOOKMARKS_HTML = ListForm(_BookmarksHtml, Order.FOLDERS)
