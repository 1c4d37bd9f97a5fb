"""User metadata of a link, highlights, and changes to them.

It is text of JSON lines: a line for each file, or row of one, that told something. So two of them
are merged by putting each line once, and a later version of this program can read more of it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from itertools import chain, repeat
from operator import attrgetter
from typing import Any

from archiver.model.feed import feed_of

MOST = 256 << 10
"""Characters of one entry's source record, however many files told of it."""
MOST_OF_ONE = 64 << 10
"""Characters of one line of it."""
_MOST_TEXT = 2000
"""Characters that a long text is cut to where a line would be too long; more stays if it may."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
_CUT = " […]"
_FEW, _SHORT = 2, 50


def write_source_record(fields: Mapping[str, Any]) -> str:
    """One line of JSON; empty if nothing is said, its longest texts cut where it is too long."""
    kept = {name: value for name, value in fields.items() if value not in ("", None, [], {})}
    if not kept:
        return ""
    line = _dump(kept)
    if len(line) <= MOST_OF_ONE:
        return line
    line = _dump({name: _shortened(value) for name, value in kept.items()})
    return line if len(line) <= MOST_OF_ONE else _dump({"left out": [*kept][:100]})


def merged_source_records(first: str, second: str) -> str:
    """The lines of both, each once, as many as there is room for."""
    if not second or second == first:
        return first
    lines = first.split("\n") if first else []
    known, room = {*lines}, MOST - len(first)
    for line in second.split("\n"):
        if line not in known and len(line) < room:
            known.add(line)
            lines.append(line)
            room -= len(line) + 1
    return "\n".join(lines)


def bounded_source_record(record: str) -> str:
    """A stranger's source record: as many of its lines as there is room for."""
    return record if len(record) <= MOST else merged_source_records("", record)


def read_source_record(record: str) -> list[dict[str, Any]]:
    """What it says, a value for each line; a line that is no JSON object is passed over."""
    found = []
    for line in record.split("\n"):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict):
            found.append(fields)
    return found


def _dump(fields: Mapping[str, Any]) -> str:
    if len(fields) <= _FEW and all(
        type(each) is str and len(each) < _SHORT for each in fields.values()
    ):
        return _written(tuple(fields.items()))
    return _dumped(fields)


@lru_cache(1024)
def _written(fields: tuple[tuple[str, str], ...]) -> str:
    """The same of a few texts: many rows say the same of their links, such as ``shared: no``."""
    return _dumped(dict(fields))


def _dumped(fields: Mapping[str, Any]) -> str:
    try:
        return _ENCODER.encode(fields)
    except (RecursionError, ValueError):
        return json.dumps({"left out": [*map(str, fields)][:100]}, ensure_ascii=False)


def _shortened(value: Any) -> Any:
    text = value if isinstance(value, str) else _dump({"": value})[4:-1]
    if len(text) <= _MOST_TEXT:
        return value
    return text[:_MOST_TEXT] + _CUT


BETWEEN = "\n\n"
_BLANK_LINES = re.compile(r"\n\s*\n")


def paragraphs(note: str) -> list[str]:
    """What blank lines part in it, without what is blank itself, and without the ends of lines."""
    parts = _BLANK_LINES.split(f"{BETWEEN}{note}{BETWEEN}")
    return [each.rstrip() for each in parts if each.strip()]


def merged_notes(first: str, later: str) -> str:
    """The first as it is, then each paragraph of the later one that it does not have, once.

    How several were put together before does not matter: merging is associative.
    """
    if later in ("", first):
        return first
    known = paragraphs(first)
    if not known:
        return later if paragraphs(later) else first
    more = new_paragraphs(known, later)
    return BETWEEN.join((first, *more))


def new_paragraphs(known: list[str], note: str) -> list[str]:
    """The paragraphs of a note that are not among the known ones, each once."""
    there = {each.strip() for each in known}
    kept: dict[str, str] = {}
    for each in paragraphs(note):
        kept.setdefault(each.strip(), each)
    return [each for name, each in kept.items() if name not in there]


MOST_HIGHLIGHTS = 500
"""Of one entry."""
MOST_QUOTE, MOST_REMARK = 5_000, 10_000
"""Characters of one."""


class Colour(StrEnum):
    """What words are marked with; stored by these names."""

    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"
    PINK = "pink"


@dataclass(frozen=True, slots=True)
class Highlight:
    """Marked words. Where they stand is said in two ways, so that it outlasts a recapture.

    Attributes:
        id: 16 hex digits; of the entry's highlights, this one.
        quote: the words, as they stand in the article's text.
        prefix, suffix: what stands before and behind them; empty where nothing is known.
        start: where they begin in the text, in characters; -1 where that is not known.
        colour: what they are marked with.
        note: free text; empty if none.
        made_at: when (aware, UTC).
        timestamp: of the snapshot that they were marked in; empty if of none.
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


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is known of a link from whoever keeps it, and not from the page.

    A field added here is written to records, sent between processes and shown by the API without
    more ado, and lies in the column of its name (``index.schema``); ``merged`` says what becomes of
    two.

    Attributes:
        url_given: the address as it was given.
        added_at: when the link was saved (aware, UTC); None where a file does not tell.
        title: the person's title; empty if none.
        tags: in order, without duplicates.
        note: free text; empty if none.
        source: ``web``, ``cli``, ``api``, ``import:<file name>``, or ``feed:<its address>`` where
            nobody but a feed has named it so far.
        is_read: the person has read it.
        is_starred: the person holds it dear.
        folders: the lists it lies in: paths, as ``model.folder_path`` writes them.
        places: where it stands in each of them, the lowest first; 0, or none, where nobody has
            said that yet, and it is to come last.
        source_record: what importing files said and no field above holds, as JSON lines.
        highlights: words of its article that the person has marked, in the order they did.
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
            ValueError: nobody has filled that in yet.
        """
        if self.added_at is None:
            raise ValueError(f"nobody knows yet when {self.url_given} was saved")
        return self.added_at

    @property
    def lists(self) -> dict[str, int]:
        """Its place in each list that it lies in, by path; 0 where it has none yet."""
        return by_path(self.folders, self.places)

    def in_lists(self, lists: Mapping[str, int]) -> "Annotation":
        """The same in these lists, at these places."""
        places = tuple(lists.values())
        return replace(self, folders=tuple(lists), places=places if any(places) else ())

    def labelled(self, tags: tuple[str, ...], source: str) -> "Annotation":
        """The same with these tags, from there; ``replace`` takes twice as long, for each row."""
        fields = [*_values(self)]
        fields[_TAGS], fields[_SOURCE] = tags, source
        return Annotation(*fields)

    def dated(self, now: datetime) -> "Annotation":
        """The same, saved now unless it is known when."""
        return self if self.added_at else replace(self, added_at=now)

    def merged(self, later: "Annotation") -> "Annotation":
        """Both together: a title once given stays, nothing is lost, the earliest date counts."""
        moments = [each for each in (self.added_at, later.added_at) if each]
        both = replace(
            self,
            added_at=min(moments, default=None),
            title=self.title or later.title,
            tags=tuple(dict.fromkeys((*self.tags, *later.tags))),
            note=merged_notes(self.note, later.note),
            source=_source_of_both(self.source, later.source),
            is_read=self.is_read or later.is_read,
            is_starred=self.is_starred or later.is_starred,
            source_record=_source_records(self, later),
            highlights=_each_once((*self.highlights, *later.highlights)),
        )
        return both.in_lists(_in_both(self.lists, later.lists))


def merged_all(some: Sequence[Annotation]) -> Annotation:
    """All of them together, in order; there is one at least.

    Neighbours first, then neighbours of those: as merging is associative, it gives what one after
    another does, without going through all that is together so far for each.
    """
    while len(some) > 1:
        pairs = zip(some[::2], some[1::2], strict=False)
        odd = some[-1:] if len(some) % 2 else ()
        some = [*(first.merged(later) for first, later in pairs), *odd]
    return some[0]


def by_path(folders: Sequence[str], places: Sequence[int]) -> dict[str, int]:
    """Places by the paths they belong to; 0 where there is none."""
    if not places:
        return dict.fromkeys(folders, 0)
    return dict(zip(folders, chain(places, repeat(0)), strict=False))


def _source_of_both(first: str, later: str) -> str:
    """The source of both: what a feed brought is a person's as soon as a person saves it."""
    return later if not first or (feed_of(first) and later and not feed_of(later)) else first


_NAMES = [each.name for each in fields(Annotation)]
_TAGS, _SOURCE = _NAMES.index("tags"), _NAMES.index("source")
_values = attrgetter(*_NAMES)


def _source_records(first: Annotation, later: Annotation) -> str:
    """Both source records, and what of the later one can't stand beside the first otherwise.

    A title that did not become that of both is a line. Those lines stand behind all others, sorted,
    and the title of both is none of them, so that it does not matter which two of several are
    merged first.
    """
    was = first.source_record
    if later.title in ("", first.title) and '{"title":' not in was + later.source_record:
        return merged_source_records(was, later.source_record)
    given = [write_source_record({"title": each.title}) for each in (first, later) if each.title]
    kept = merged_source_records(was, "\n".join(filter(None, (later.source_record, *given))))
    now = write_source_record({"title": first.title or later.title})
    lines = [each for each in kept.split("\n") if each and each != now]
    titles = {each for each in lines if _is_title(each)}
    return "\n".join([*(each for each in lines if each not in titles), *sorted(titles)])


def _is_title(line: str) -> bool:
    """Whether a line is a title and no more."""
    if not line.startswith('{"title":"') or not line.endswith('"}'):
        return False
    return line.count('":') == 1 or [list(each) for each in read_source_record(line)] == [["title"]]


def _in_both(first: Mapping[str, int], later: Mapping[str, int]) -> dict[str, int]:
    """The lists of both, with the first place that is known in each."""
    return {path: first.get(path) or later.get(path, 0) for path in (*first, *later)}


def _each_once(highlights: tuple[Highlight, ...]) -> tuple[Highlight, ...]:
    """The first of those that have one id."""
    kept: dict[str, Highlight] = {}
    for each in highlights:
        kept.setdefault(each.id, each)
    return tuple(kept.values())


@dataclass(frozen=True, slots=True)
class AnnotationChange:
    """What becomes of an annotation; None and empty leave it as it is.

    Attributes:
        title: in the place of the person's title; empty gives the page's own back.
        note: in the place of the note.
        tags: in the place of all tags.
        with_tags: tags that it gets.
        without_tags: tags that it loses, whatever else gives them.
        lists: paths of lists, in the place of all that it lies in.
        with_lists: paths of lists that it is put into, last.
        without_lists: paths of lists that it is taken out of, whatever else puts it there.
        is_read, is_starred: whether it is so from now on.
    """

    title: str | None = None
    note: str | None = None
    tags: tuple[str, ...] | None = None
    with_tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    lists: tuple[str, ...] | None = None
    with_lists: tuple[str, ...] = ()
    without_lists: tuple[str, ...] = ()
    is_read: bool | None = None
    is_starred: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing would become another."""
        return self == AnnotationChange()

    def applied(self, annotation: Annotation) -> Annotation:
        """The annotation afterwards; tags in order, without duplicates."""
        tags = annotation.tags if self.tags is None else self.tags
        lost = frozenset(self.without_tags)
        kept = (each for each in (*tags, *self.with_tags) if each not in lost)
        changed = replace(
            annotation,
            title=_or(self.title, annotation.title),
            note=_or(self.note, annotation.note),
            tags=tuple(dict.fromkeys(kept)),
            is_read=annotation.is_read if self.is_read is None else self.is_read,
            is_starred=annotation.is_starred if self.is_starred is None else self.is_starred,
        )
        held = annotation.lists
        wanted = (*(held if self.lists is None else self.lists), *self.with_lists)
        gone = frozenset(self.without_lists)
        return changed.in_lists({each: held.get(each, 0) for each in wanted if each not in gone})


def _or(wanted: str | None, present: str) -> str:
    return present if wanted is None else wanted
