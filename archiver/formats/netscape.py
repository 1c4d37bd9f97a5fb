"""Netscape bookmark files, as every browser and most services export them, and HTML like them.

There is no standard; this reads what producers write. The doctype may be missing or mis-cased,
nothing needs to be closed, and any HTML with links in it is read as a list of its links.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from archiver.formats.dates import parse_date
from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import guessed_tags
from archiver.formats.importer import Importer
from archiver.formats.markup import Link, Tag, attributes_of, resolve, tokenize_list
from archiver.formats.refusal import is_binary
from archiver.formats.rows import MAX_URL
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked
from archiver.model.source_record import write_source_record

MAX_TITLE = 10_000
"""Characters kept of a title, a folder's name or a tag, references in it unresolved."""
MAX_NOTE = 500_000
"""Characters kept of a note, likewise."""
MAX_TAGS = 200
"""Tags kept of one bookmark."""
_MAX_DEPTH = 64
_SHORT = 500

_BOOKMARKS = re.compile(
    r"<!doctype\s{1,20}netscape-bookmark|<dt\b[^<]{0,20}<(?:a|h3)\b", re.IGNORECASE
)
_HTML = re.compile(r"\s*+<(?!https?:)", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^<>]{0,2000}?\bhref\s{0,20}=", re.IGNORECASE)
# What browsers call their own top folders; a folder of that name further down is the person's.
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
_NOTES_MARKS = re.compile(r"\[/?linkding-notes\]")
_SAID_TAGS = {"linkding:bookmarks.archived": "archived"}
_READ_SECTIONS = frozenset({"read archive", "archive", "archived", "read"})
_STARRED_SECTIONS = frozenset({"starred", "liked", "favorites", "favourites"})
_PLAIN_SECTIONS = frozenset({"unread", "bookmarks"}) | _READ_SECTIONS | _STARRED_SECTIONS
GENERATOR = '<META NAME="generator" CONTENT="archiver">'
"""By which a file that is ours is known."""
ALL_TAGS = "all_tags"
"""The attribute that holds tags as JSON, where one of them has a comma in it."""
_NOT_KEPT = frozenset({"icon", "toread"})
_MAX_NAME = 100
_UNIX = datetime(1970, 1, 1, tzinfo=UTC)
_ENDS_LINK = frozenset({"dl", "/dl", "h1", "h2", "h3", "hr", "/dd"})
_LINE_BREAKS = frozenset({"br", "p", "/p", "div", "/div", "li"})


def _recognises(file: GivenFile) -> bool:
    """Whether it is a bookmark file, however it begins, or any HTML with a link in it."""
    if is_binary(file) or file.json_paths or file.root:
        return False
    if is_bookmark_file(file.text):
        return True
    # Markdown and mails hold HTML too; there, and only there, URLs stand outside of it.
    is_html = _HTML.match(file.text) is not None and file.suffix not in ("md", "txt")
    return is_html and _LINK.search(file.text) is not None


def is_bookmark_file(text: str) -> bool:
    """Whether a text is a bookmark file by its structure, and no other HTML with links in it."""
    return _BOOKMARKS.search(text) is not None


def read_netscape(file: GivenFile) -> Iterator[Bookmark]:
    """Read the links in order, with the folders around them; ``<DD>`` texts are notes."""
    return _read(file, is_ours=False)


def _read(file: GivenFile, *, is_ours: bool) -> Iterator[Bookmark]:
    reader = _Reader(is_ours=is_ours)
    for token in tokenize_list(file.chunks()):
        if isinstance(token, str):
            reader.text(token)
        elif bookmark := reader.link(token) if isinstance(token, Link) else reader.tag(token):
            yield bookmark
    if bookmark := reader.finish():
        yield bookmark


class _Reader:
    """Where in the file we are: the folders around, the link being read, the text wanted.

    What ``bookmarks_html`` wrote is taken as it stands: no folder in it is a browser's own, and no
    text is a mark of another service.
    """

    def __init__(self, *, is_ours: bool) -> None:
        self._is_ours = is_ours
        self._folders = _Folders(has_roots=not is_ours)
        self._link: dict[str, str] | None = None
        self._title = _Text(MAX_TITLE)
        self._note = _Text(MAX_NOTE)
        self._wanted: _Text | None = None
        self._in_item = False
        self._section = ""

    def text(self, text: str) -> None:
        """Take the text between two tags."""
        if self._wanted is not None:
            self._wanted.add(text)

    def link(self, link: Link) -> Bookmark | None:
        """Take an item whole, as ``tag`` and ``text`` take it in parts; gives the one before."""
        ended = self.finish()
        self._in_item = True
        attributes = attributes_of(link)
        if "href" in attributes:
            self._link = attributes
            self._note.take()
            self._title.take()
            self._title.add(link.text)
        return ended

    def tag(self, tag: Tag) -> Bookmark | None:
        """Take a tag; gives the bookmark that it ends, if it ends one."""
        match tag.name:
            case "dt":
                self._in_item = True
                return self.finish()
            case "a":
                return self._begin_link(tag)
            case "/a":
                if self._wanted is self._title:
                    self._wanted = None
            case "dd":
                self._wanted = self._note if self._link is not None else None
            case "/h3":
                self._end_folder_name()
            case "/h1" if self._link is None and self._wanted is self._title:
                self._wanted = None
                self._section = " ".join(self._title.take().split()).lower()
            case name if name in _LINE_BREAKS:
                self.text("\n")
            case name if name in _ENDS_LINK:
                return self._structure(tag)
        return None

    def finish(self) -> Bookmark | None:
        """Give the link that was being read."""
        self._wanted = None
        link, self._link = self._link, None
        if link is None:
            return None
        folders, note = self._folders, self._note.take()
        if self._is_ours:
            return self._as_it_was(link, note.strip())
        note, is_outside = _note(note) if note else "", not folders.depth
        return Bookmark(
            Annotation(
                url_given=link.pop("href").strip()[:MAX_URL],
                title=" ".join(self._title.take().split()),
                note=note or link.pop("description", "")[:MAX_NOTE].strip(),
                added_at=_added_at(link),
                is_read=is_outside and self._section in _READ_SECTIONS,
                is_starred=is_outside and self._section in _STARRED_SECTIONS,
                folders=_folders(folders.path) if folders.path else (),
                tags=_tags(link),
                source_record=_record(link, folders.root, self._section if is_outside else ""),
            )
        )

    def _as_it_was(self, link: dict[str, str], note: str) -> Bookmark:
        """A link of a file that is ours."""
        split = link.get("tags", "").split(",")
        names = self._folders.path
        annotation = Annotation(
            link["href"],
            _in_seconds(link.get("add_date", "")),
            title=" ".join(self._title.take().split()),
            tags=guessed_tags(link[ALL_TAGS]) if ALL_TAGS in link else tuple(filter(None, split)),
            note=note,
            is_read=link.get("read") == "1",
            is_starred=link.get("starred") == "1",
            folders=_folders(names) if names else (),
        )
        return Bookmark(annotation)

    def _begin_link(self, tag: Tag) -> Bookmark | None:
        if self._wanted is self._note and self._in_item:
            # Where items begin with <DT>, a link behind <DD> is part of what the person wrote.
            return None
        attributes = attributes_of(tag)
        if "href" not in attributes:
            return None
        ended = self.finish()
        self._link = attributes
        self._want_title()
        self._note.take()
        return ended

    def _want_title(self) -> None:
        self._title.take()
        self._wanted = self._title

    def _structure(self, tag: Tag) -> Bookmark | None:
        self._end_folder_name()
        ended = self.finish()
        self._in_item = False
        if tag.name == "h3":
            self._folders.announce(attributes_of(tag))
            self._want_title()
        elif tag.name == "h1":
            self._want_title()
        elif tag.name == "dl":
            self._folders.enter()
        elif tag.name == "/dl":
            self._folders.leave()
        return ended

    def _end_folder_name(self) -> None:
        """Take the text of an ``<H3>``, closed or not."""
        if self._link is None and self._wanted is self._title:
            self._folders.named(self._title.take())
            self._wanted = None


class _Folders:
    """The folders around a link: ``path`` holds their names, ``root`` that of the browser's own.

    ``has_roots``: whether browsers' own folders are there, that are none of the person's.
    """

    def __init__(self, *, has_roots: bool) -> None:
        self._has_roots = has_roots
        self.path: tuple[str, ...] = ()
        self.root = ""
        self._outer: list[tuple[tuple[str, ...], str]] = []
        self._too_deep = 0
        self._next = ""
        self._next_is_root = False

    @property
    def depth(self) -> int:
        """How many lists are open."""
        return len(self._outer)

    def announce(self, attributes: dict[str, str]) -> None:
        self._next = ""
        self._next_is_root = any(attributes.get(key) == "true" for key in _ROOT_ATTRIBUTES)

    def named(self, name: str) -> None:
        self._next = " ".join(name.split())

    def enter(self) -> None:
        if len(self._outer) >= _MAX_DEPTH:
            self._too_deep += 1
            return
        self._outer.append((self.path, self.root))
        is_root = self._has_roots and (
            self._next_is_root or (not self.path and self._next.lower() in _ROOT_FOLDERS)
        )
        if self._next and not is_root:
            self.path = (*self.path, self._next)
        elif is_root:
            self.root = self._next[:MAX_TITLE]
        self._next, self._next_is_root = "", False

    def leave(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif self._outer:
            self.path, self.root = self._outer.pop()


class _Text:
    """Text that comes in pieces, kept up to a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._room = limit
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        if self._room > 0:
            self._pieces.append(piece[: self._room])
            self._room -= len(piece)

    def take(self) -> str:
        """Give what there is, references resolved, and be empty again."""
        if not self._pieces:
            return ""
        text = resolve("".join(self._pieces))
        self._pieces.clear()
        self._room = self._limit
        return text


def _note(text: str) -> str:
    """Join what linkding keeps apart: its description, and its notes between marks."""
    parts = (part.strip() for part in _NOTES_MARKS.split(text))
    return "\n\n".join(part for part in parts if part)


@lru_cache(4096)
def _folders(names: tuple[str, ...]) -> tuple[str, ...]:
    return (folder_path(names),)


def _added_at(link: dict[str, str]) -> datetime | None:
    for name in ("add_date", "time_added"):
        if moment := parse_date(link.get(name, "")):
            del link[name]
            return moment
    return None


def _in_seconds(text: str) -> datetime | None:
    """A moment of any year."""
    try:
        return _UNIX + timedelta(seconds=int(text[:20]))
    except (ValueError, OverflowError):
        return None


def _tags(link: dict[str, str]) -> tuple[str, ...]:
    """The file's own tags, then what it says in attributes of its own."""
    given = link.pop("tags", "")
    later = link.get("toread") == "1"
    if not given and not later:
        return ()
    named = (_known_tags if len(given) < _SHORT else _tags_in)(given)
    return tuple(dict.fromkeys((*named, "toread")))[:MAX_TAGS] if later else named


def _tags_in(given: str) -> tuple[str, ...]:
    own = (_SAID_TAGS.get(tag, tag) for tag in (word.strip() for word in given.split(",")))
    return tuple(dict.fromkeys(tag[:MAX_TITLE] for tag in own if tag))[:MAX_TAGS]


_known_tags = lru_cache(8192)(_tags_in)
"""The tags of one bookmark are often those of another."""


def _record(link: dict[str, str], root: str, section: str) -> str:
    """What no field holds; the pictures of sites are theirs, and not the person's."""
    said: dict[str, Any] = {
        name[:_MAX_NAME]: value
        for name, value in link.items()
        if name not in _NOT_KEPT and value != "0"
    }
    if root:
        said["root"] = root
    if section and section not in _PLAIN_SECTIONS:
        said["section"] = section
    return write_source_record(said) if said else ""


def _is_ours(file: GivenFile) -> bool:
    return GENERATOR in file.text and is_bookmark_file(file.text)


OWN_HTML = Importer(
    "archiver HTML",
    _is_ours,
    lambda file: _read(file, is_ours=True),
    ("html",),
    marked("archiver: Export, Bookmarks (HTML)"),
    says_all_tags=True,
)
NETSCAPE = Importer(
    "Netscape HTML",
    _recognises,
    read_netscape,
    ("html", "htm"),
    marked("the bookmarks of any browser, and what most services export as HTML"),
)
