"""What a person says of a link: the one value that every other carries whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import chain, repeat
from operator import attrgetter

from archiver.model.highlight import Highlight
from archiver.model.note import merged_notes
from archiver.model.source_record import (
    merged_source_records,
    read_source_record,
    write_source_record,
)
from archiver.model.subscription import feed_of


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
