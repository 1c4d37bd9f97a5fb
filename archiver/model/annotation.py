"""What a person says of a link: the one value that every other carries whole."""

from dataclasses import dataclass, replace
from datetime import datetime

from archiver.model.highlight import Highlight
from archiver.model.source_record import merged_source_records, write_source_record


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is known of a link from whoever keeps it, and not from the page.

    A field added here is written to records, sent between processes and shown by the API without
    more ado; ``index.annotations`` says in which column it lies, ``merged`` what becomes of two.

    Attributes:
        url_given: the address as it was given.
        added_at: when the link was saved (aware, UTC); None where a file does not tell.
        title: the person's title; empty if none.
        tags: in order, without duplicates.
        note: free text; empty if none.
        source: ``web``, ``cli``, ``api`` or ``import:<file name>``.
        is_read: the person has read it.
        is_starred: the person holds it dear.
        folders: where it lay elsewhere, in order: paths, as ``model.folder_path`` writes them.
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

    def dated(self, now: datetime) -> "Annotation":
        """The same, saved now unless it is known when."""
        return self if self.added_at else replace(self, added_at=now)

    def merged(self, later: "Annotation") -> "Annotation":
        """Both together: a title once given stays, nothing is lost, the earliest date counts."""
        moments = [each for each in (self.added_at, later.added_at) if each]
        return replace(
            self,
            added_at=min(moments, default=None),
            title=self.title or later.title,
            tags=tuple(dict.fromkeys((*self.tags, *later.tags))),
            note=_both_notes(self.note, later.note),
            is_read=self.is_read or later.is_read,
            is_starred=self.is_starred or later.is_starred,
            folders=tuple(dict.fromkeys((*self.folders, *later.folders))),
            source_record=_all_that_was_said(self, later),
            highlights=_each_once((*self.highlights, *later.highlights)),
        )


def _all_that_was_said(first: Annotation, later: Annotation) -> str:
    """Both source records, and what of the later one can't stand beside the first otherwise."""
    record = merged_source_records(first.source_record, later.source_record)
    if later.title in ("", first.title) or not first.title:
        return record
    return merged_source_records(record, write_source_record({"title": later.title}))


def _each_once(highlights: tuple[Highlight, ...]) -> tuple[Highlight, ...]:
    """The first of those that have one id."""
    kept: dict[str, Highlight] = {}
    for each in highlights:
        kept.setdefault(each.id, each)
    return tuple(kept.values())


def _both_notes(first: str, second: str) -> str:
    if not second or second in first:
        return first
    return f"{first}\n\n{second}" if first else second
