"""User metadata of links: annotations with highlights, their changes, and source records.

A source record contains those fields of imported rows that no field of an annotation can hold, so
that a later version can use them. It consists of lines, each a JSON object for one imported row.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

from archiver.model.feed import feed_of

MAX_SOURCE_RECORD = 256 << 10
"""Maximum characters of an entry's source record, from all imported files together."""
MAX_SOURCE_LINE = 64 << 10
"""Maximum characters of one line of a source record."""
_MAX_TEXT = 2000
"""Characters to which long texts are cut if a line would be too long."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
_CUT = " […]"


def write_source_record(fields: Mapping[str, Any]) -> str:
    """Return fields as one line of JSON, with long texts shortened if the line is too long.

    Empty fields are left out; without any field, the result is empty.
    """
    nonempty = {name: value for name, value in fields.items() if value not in ("", None, [], {})}
    if not nonempty:
        return ""
    line = _dump(nonempty)
    if len(line) <= MAX_SOURCE_LINE:
        return line
    line = _dump({name: _truncated(value) for name, value in nonempty.items()})
    return line if len(line) <= MAX_SOURCE_LINE else _dump({"left out": [*nonempty][:100]})


def merged_source_records(first: str, second: str) -> str:
    """Return the lines of both source records without duplicates, up to ``MAX_SOURCE_RECORD``."""
    if not second or second == first:
        return first
    lines = first.split("\n") if first else []
    existing, room = {*lines}, MAX_SOURCE_RECORD - len(first)
    for line in second.split("\n"):
        if line not in existing and len(line) < room:
            existing.add(line)
            lines.append(line)
            room -= len(line) + 1
    return "\n".join(lines)


def bounded_source_record(record: str) -> str:
    """Return the lines of an untrusted source record that fit into ``MAX_SOURCE_RECORD``."""
    return record if len(record) <= MAX_SOURCE_RECORD else merged_source_records("", record)


def read_source_record(record: str) -> list[dict[str, Any]]:
    """Parse a source record: one dictionary per line; other lines are skipped."""
    pairs = []
    for line in record.split("\n"):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict):
            pairs.append(fields)
    return pairs


def _dump(fields: Mapping[str, Any]) -> str:
    try:
        return _ENCODER.encode(fields)
    except (RecursionError, ValueError):
        return json.dumps({"left out": [*map(str, fields)][:100]}, ensure_ascii=False)


def _truncated(value: Any) -> Any:
    text = value if isinstance(value, str) else _dump({"": value})[4:-1]
    if len(text) <= _MAX_TEXT:
        return value
    return text[:_MAX_TEXT] + _CUT


BETWEEN = "\n\n"
_BLANK_LINES = re.compile(r"\n\s*\n")


def paragraphs(note: str) -> list[str]:
    """Split a note at blank lines, without empty parts and trailing whitespace."""
    parts = _BLANK_LINES.split(f"{BETWEEN}{note}{BETWEEN}")
    return [each.rstrip() for each in parts if each.strip()]


def merged_notes(first: str, later: str) -> str:
    """Append the paragraphs of ``later`` that ``first`` lacks. Merging is associative."""
    if later in ("", first):
        return first
    paragraphs_before = paragraphs(first)
    if not paragraphs_before:
        return later if paragraphs(later) else first
    more = new_paragraphs(paragraphs_before, later)
    return BETWEEN.join((first, *more))


def new_paragraphs(lines_before: list[str], note: str) -> list[str]:
    """Return the paragraphs of ``note`` that are not in ``lines_before``, without duplicates."""
    existing = {each.strip() for each in lines_before}
    lines: dict[str, str] = {}
    for each in paragraphs(note):
        lines.setdefault(each.strip(), each)
    return [each for name, each in lines.items() if name not in existing]


@lru_cache(4096)
def tag_key(tag: str) -> str:
    """Return the form in which tags are compared: without case, in one Unicode form.

    Caseless matching of canonical equivalents (The Unicode Standard, 3.13, D145).
    """
    if tag.isascii():
        return tag.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", tag).casefold())


def unique_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in order, without duplicates; of several spellings, the first is kept."""
    by_key: dict[str, str] = {}
    for each in tags:
        by_key.setdefault(tag_key(each), each)
    return tuple(by_key.values())


MAX_HIGHLIGHTS = 500
"""Maximum highlights of one entry."""
MAX_QUOTE, MAX_REMARK = 5_000, 10_000
"""Maximum characters of one quote and one note."""


class Colour(StrEnum):
    """Colours of highlights; stored by these names."""

    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"
    PINK = "pink"


@dataclass(frozen=True, slots=True)
class Highlight:
    """A highlighted passage.

    Its position is stored as an offset and as surrounding text, so that it survives a recapture.

    Attributes:
        id: 16 hex digits, unique within the entry.
        quote: the highlighted text, as in the article.
        prefix, suffix: text before and after the quote; empty if unknown.
        start: character offset of the quote in the text of the article; -1 if unknown.
        colour: colour of the highlight.
        note: note of the user; empty if none.
        made_at: when the highlight was created (aware, UTC).
        timestamp: timestamp of the snapshot in which it was created; empty if unknown.
    """

    id: str
    quote: str
    prefix: str = ""
    suffix: str = ""
    start: int = -1
    colour: Colour = Colour.YELLOW
    note: str = ""
    made_at: datetime | None = None
    timestamp: str = ""


@dataclass(slots=True)
class Annotation:
    """User metadata of a link, as opposed to metadata of the page.

    Not frozen, because an import creates several for each link.

    A new field needs a column of the same name (``db.schema``) and a rule in ``merged``. Records,
    processes and the API then transport it without further changes.

    Attributes:
        url_given: the URL as submitted.
        added_at: when the link was saved (aware, UTC); None if a file does not say.
        title: user-supplied title; empty if none.
        tags: tags in order, without duplicates.
        note: note of the user; empty if none.
        source: what saved the link: ``web``, ``cli``, ``api``, ``import:<file name>``, or
            ``feed:<URL>`` if no user has saved it so far.
        is_read: whether the user marked it as read.
        is_starred: whether the user starred it.
        folders: paths of the lists that contain the link (``model.entry_list.folder_path``).
        places: position of the link in each of these lists, a number by which the list is sorted; 0
            or a missing number means the end of the list.
        source_record: other fields of imported rows, as JSON lines.
        highlights: passages of the article that the user highlighted, in order of creation.
    """

    url_given: str
    added_at: datetime | None = None
    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    source: str = ""
    is_read: bool = False
    is_starred: bool = False
    folders: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    source_record: str = ""
    highlights: tuple[Highlight, ...] = ()

    @property
    def saved_at(self) -> datetime:
        """When the link was saved.

        Raises:
            ValueError: it is not set yet.
        """
        if self.added_at is None:
            raise ValueError(f"added_at of {self.url_given} is not set")
        return self.added_at

    @property
    def lists(self) -> dict[str, int]:
        """Position of the link in each of its lists, by path; 0 if it has no position."""
        return by_path(self.folders, self.places)

    def in_lists(self, lists: Mapping[str, int]) -> "Annotation":
        """Return a copy in other lists, given as positions by path."""
        places = tuple(lists.values())
        return replace(self, folders=tuple(lists), places=places if any(places) else ())

    def dated(self, now: datetime) -> "Annotation":
        """Return a copy with ``added_at`` set to ``now`` if it is missing."""
        return self if self.added_at else replace(self, added_at=now)

    def merged(self, later: "Annotation") -> "Annotation":
        """Merge a later annotation into this one.

        The earlier date is used, and the title of this annotation unless it is empty. A different
        title of the later one becomes part of the source record.
        """
        moments = [each for each in (self.added_at, later.added_at) if each]
        both = replace(
            self,
            added_at=min(moments, default=None),
            title=self.title or later.title,
            tags=unique_tags((*self.tags, *later.tags)),
            note=merged_notes(self.note, later.note),
            source=_merged_source(self.source, later.source),
            is_read=self.is_read or later.is_read,
            is_starred=self.is_starred or later.is_starred,
            source_record=_source_records(self, later),
            highlights=_without_duplicates((*self.highlights, *later.highlights)),
        )
        return both.in_lists(_merged_lists(self.lists, later.lists))


def merge_all(annotations: Sequence[Annotation]) -> Annotation:
    """Merge annotations in order; there must be at least one.

    Neighbours are merged pairwise, which takes less time than merging each with the growing result.
    """
    while len(annotations) > 1:
        pairs = zip(annotations[::2], annotations[1::2], strict=False)
        odd = annotations[-1:] if len(annotations) % 2 else ()
        annotations = [*(first.merged(later) for first, later in pairs), *odd]
    return annotations[0]


def by_path(folders: Sequence[str], places: Sequence[int]) -> dict[str, int]:
    """Return the position in each list by path; 0 for lists without a position."""
    if not places:
        return dict.fromkeys(folders, 0)
    return dict(zip(folders, chain(places, repeat(0)), strict=False))


def _merged_source(first: str, later: str) -> str:
    """Return the first source; the later one if the first is empty or only the first is a feed."""
    return later if not first or (feed_of(first) and later and not feed_of(later)) else first


def _source_records(first: Annotation, later: Annotation) -> str:
    """Merge the source records of both, and add the titles that ``merged`` drops.

    These titles are sorted lines at the end, so that merging is associative.
    """
    was = first.source_record
    if later.title in ("", first.title) and '{"title":' not in was + later.source_record:
        return merged_source_records(was, later.source_record)
    title_records = [
        write_source_record({"title": each.title}) for each in (first, later) if each.title
    ]
    merged = merged_source_records(
        was, "\n".join(filter(None, (later.source_record, *title_records)))
    )
    now = write_source_record({"title": first.title or later.title})
    lines = [each for each in merged.split("\n") if each and each != now]
    titles = {each for each in lines if _is_title(each)}
    return "\n".join([*(each for each in lines if each not in titles), *sorted(titles)])


def _is_title(line: str) -> bool:
    """Return whether a line contains only a title."""
    if not line.startswith('{"title":"') or not line.endswith('"}'):
        return False
    return line.count('":') == 1 or [list(each) for each in read_source_record(line)] == [["title"]]


def _merged_lists(first: Mapping[str, int], later: Mapping[str, int]) -> dict[str, int]:
    """Return the lists of both, each with the first position that is not 0."""
    return {path: first.get(path) or later.get(path, 0) for path in (*first, *later)}


def _without_duplicates(highlights: tuple[Highlight, ...]) -> tuple[Highlight, ...]:
    """Drop highlights with a duplicate id."""
    by_id: dict[str, Highlight] = {}
    for each in highlights:
        by_id.setdefault(each.id, each)
    return tuple(by_id.values())


@dataclass(frozen=True, slots=True)
class AnnotationChange:
    """Change of an annotation. A field that is None changes nothing.

    Attributes:
        title: new user-supplied title; with an empty one, the title of the page is shown again.
        note: new note.
        tags: tags that replace all tags; an empty tuple removes all tags.
        with_tags: tags to add.
        without_tags: tags to remove; takes precedence over additions.
        folders: paths of lists that replace all lists; an empty tuple removes the entry from all.
        with_folders: paths of lists to append the entry to.
        without_folders: paths of lists to remove the entry from; takes precedence over additions.
        is_read, is_starred: new value of the mark.
    """

    title: str | None = None
    note: str | None = None
    tags: tuple[str, ...] | None = None
    with_tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    folders: tuple[str, ...] | None = None
    with_folders: tuple[str, ...] = ()
    without_folders: tuple[str, ...] = ()
    is_read: bool | None = None
    is_starred: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return self == AnnotationChange()

    def applied(self, annotation: Annotation) -> Annotation:
        """Return the changed annotation; tags that it has already keep their spelling."""
        tags = annotation.tags if self.tags is None else self.tags
        spelled = {tag_key(each): each for each in annotation.tags}
        lost = frozenset(map(tag_key, self.without_tags))
        tags_after = (each for each in (*tags, *self.with_tags) if tag_key(each) not in lost)
        values = {
            name: value
            for name in ("title", "note", "is_read", "is_starred")
            if (value := getattr(self, name)) is not None
        }
        tags = unique_tags(spelled.get(tag_key(each), each) for each in tags_after)
        changed = replace(annotation, tags=tags, **values)
        before = annotation.lists
        folders_after = (*(before if self.folders is None else self.folders), *self.with_folders)
        removed = frozenset(self.without_folders)
        return changed.in_lists(
            {each: before.get(each, 0) for each in folders_after if each not in removed}
        )
