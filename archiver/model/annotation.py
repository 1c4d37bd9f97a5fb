"""What a person says of a link: the one value that every other carries whole."""

from dataclasses import dataclass, replace
from datetime import datetime


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
    """

    url_given: str
    added_at: datetime | None = None
    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    source: str = ""
    is_read: bool = False
    is_starred: bool = False

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
        )


def _both_notes(first: str, second: str) -> str:
    if not second or second in first:
        return first
    return f"{first}\n\n{second}" if first else second
