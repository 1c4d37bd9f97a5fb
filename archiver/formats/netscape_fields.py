"""What producers write into the attributes and notes of one bookmark of a Netscape file."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from archiver.formats.dates import parse_date
from archiver.model.source_record import write_source_record

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
