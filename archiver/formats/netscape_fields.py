"""Fields and folders of Netscape bookmark files."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from archiver.formats.dates import parse_date
from archiver.formats.file_lists import FileLists
from archiver.model.folder_path import folder_path
from archiver.model.source_record import write_source_record

# What producers write into the attributes and notes of one bookmark of a Netscape file.

MAX_TITLE = 10_000
"""Characters kept of a title, a folder's name or a tag."""
MAX_NOTE = 500_000
"""Characters kept of a note."""
MAX_TAGS = 200
"""Tags kept of one bookmark."""
_SHORT = 500

_NOTES_MARKS = re.compile(r"\[/?linkding-notes\]")
_SAID_TAGS = {"linkding:bookmarks.archived": "archived"}
_READ_SECTIONS = frozenset({"read archive", "archive", "archived", "read"})
_STARRED_SECTIONS = frozenset({"starred", "liked", "favorites", "favourites"})
_PLAIN_SECTIONS = frozenset({"unread", "bookmarks"}) | _READ_SECTIONS | _STARRED_SECTIONS
_NOT_KEPT = frozenset({"icon", "toread"})
_MOST_NAME = 100
_UNIX = datetime(1970, 1, 1, tzinfo=UTC)
_HASHTAG = re.compile(r"(?<!\S)#([^\W\d_][\w-]{0,99})")
"""A tag in a note, as Shaarli and its like write them; none begins with a digit."""


def note_of(text: str) -> str:
    """Join what linkding keeps apart: its description, and its notes between marks."""
    parts = (part.strip() for part in _NOTES_MARKS.split(text))
    return "\n\n".join(part for part in parts if part)


def added_at_of(link: dict[str, str]) -> datetime | None:
    """When a link was saved, which is taken from its attributes."""
    for name in ("add_date", "time_added"):
        if moment := parse_date(link.get(name, "")):
            del link[name]
            return moment
    return None


def in_seconds(text: str) -> datetime | None:
    """A moment of any year."""
    try:
        return _UNIX + timedelta(seconds=int(text[:20]))
    except (ValueError, OverflowError):
        return None


def tags_of(link: dict[str, str], note: str) -> tuple[str, ...]:
    """The file's own tags, then what it says in attributes of its own and in the note."""
    given = link.pop("tags", "")
    later = ("toread",) if link.get("toread") == "1" else ()
    inline = _HASHTAG.findall(note) if "#" in note else ()
    if not (given or later or inline):
        return ()
    named = (_known_tags if len(given) < _SHORT else _tags_in)(given)
    more = (*later, *inline)
    return tuple(dict.fromkeys((*named, *more)))[:MAX_TAGS] if more else named


def _tags_in(given: str) -> tuple[str, ...]:
    own = (_SAID_TAGS.get(tag, tag) for tag in (word.strip() for word in given.split(",")))
    return tuple(dict.fromkeys(tag[:MAX_TITLE] for tag in own if tag))[:MAX_TAGS]


_known_tags = lru_cache(8192)(_tags_in)
"""The tags of one bookmark are often those of another."""


def state_of(section: str) -> tuple[bool, bool]:
    """Whether links below such a heading are read, and starred."""
    return section in _READ_SECTIONS, section in _STARRED_SECTIONS


def record_of(
    link: dict[str, str], root: str, section: str, folders: Sequence[Mapping[str, str]]
) -> str:
    """What no field holds; the pictures of sites are theirs, and not the person's."""
    fields: dict[str, Any] = {
        name[:_MOST_NAME]: value
        for name, value in link.items()
        if name not in _NOT_KEPT and value != "0"
    }
    if root:
        fields["root"] = root
    if folders:
        fields["folders"] = folders
    if section and section not in _PLAIN_SECTIONS:
        fields["section"] = section
    return write_source_record(fields) if fields else ""


# The folders around the links of a Netscape file, with what is said of them.

_MAX_DEPTH = 64
_KEPT = ("add_date", "last_modified")
_MOST_DATE = 100
_MOST_OWED = 64
_MOST_DESCRIPTION = 10_000
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


class Folders:
    """The folders around a link: ``path`` holds their names, ``root`` that of the browser's own.

    ``owed`` is what is said of folders that were entered since the last link: it goes with the
    next one. A folder that holds no link is told of as a list.

    Args:
        lists: takes those.
        has_roots: whether browsers' own folders are there, that are none of the person's.
    """

    def __init__(self, lists: FileLists, *, has_roots: bool) -> None:
        self._lists = lists
        self._has_roots = has_roots
        self._facts: dict[str, str] = {}
        self.owed: list[Mapping[str, str]] = []
        self._filled = 0
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

    @property
    def is_announced(self) -> bool:
        """Whether a folder was named that is not entered yet."""
        return bool(self._next)

    def fill(self) -> Sequence[Mapping[str, str]]:
        """Note that a link lies here; what is to be told with it."""
        self._filled = len(self._outer)
        if not self.owed:
            return ()
        facts, self.owed = self.owed, []
        return facts

    def describe(self, text: str) -> None:
        """Take what is said of the folder that is announced."""
        if description := text.strip():
            self._facts["description"] = description[:_MOST_DESCRIPTION]

    def announce(self, attributes: Mapping[str, object]) -> None:
        """Begin a folder, by the attributes of its heading."""
        self._next = ""
        known = {name: str(attributes.get(name, ""))[:_MOST_DATE] for name in _KEPT}
        self._facts = {name: each for name, each in known.items() if each not in ("", "0")}
        self._next_is_root = any(attributes.get(key) == "true" for key in _ROOT_ATTRIBUTES)

    def named(self, name: str) -> None:
        """Take the name of the folder that was begun."""
        self._next = " ".join(name.split())

    def enter(self) -> None:
        """Go into the list that begins here: of the folder that was named, if one was."""
        if len(self._outer) >= _MAX_DEPTH:
            self._too_deep += 1
            return
        self._outer.append((self.path, self.root))
        is_root = self._has_roots and (
            self._next_is_root or (not self.path and self._next.lower() in _ROOT_FOLDERS)
        )
        if self._next and not is_root:
            self.path = (*self.path, self._next)
            if self._facts and len(self.owed) < _MOST_OWED:
                self.owed.append({"path": folder_path(self.path), **self._facts})
        elif is_root:
            self.root = self._next[:MAX_TITLE]
        self._next, self._next_is_root, self._facts = "", False, {}

    def leave(self) -> None:
        """Go out of the list that ends here."""
        if self._too_deep:
            self._too_deep -= 1
        elif self._outer:
            depth = len(self._outer)
            if self._filled < depth and self.path != self._outer[-1][0]:
                self._lists.take(folder_path(self.path), "")
                self._filled = depth  # and so are those that it lies in
            self._filled = min(self._filled, depth - 1)
            self.path, self.root = self._outer.pop()
