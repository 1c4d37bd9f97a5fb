"""Deletions and tombstones."""

from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.model.capture import HashUrl, RecordId, Timestamp


@dataclass(frozen=True, slots=True)
class DeletedSnapshot:
    """A deleted snapshot, identified by its timestamp and the record of its page.

    The record distinguishes it from a snapshot with the same timestamp that is added later.
    """

    timestamp: Timestamp
    page: RecordId


@dataclass(frozen=True, slots=True)
class RemainingArticle:
    """A remaining snapshot whose article record referred to a deleted snapshot.

    Attributes:
        timestamp: of the remaining snapshot.
        article: its conversion record; empty if it has none.
    """

    timestamp: Timestamp
    article: RecordId


@dataclass(frozen=True, slots=True)
class DeletedEntry:
    """Deleted parts of one entry.

    Attributes:
        hash_url: of the entry; its URL is not stored.
        generation: the entry is deleted up to this generation; None if the entry remains.
        snapshots: deleted snapshots, whose captures the deletion covers.
        articles: of remaining snapshots.
    """

    hash_url: HashUrl
    generation: int | None
    snapshots: tuple[DeletedSnapshot, ...] = ()
    articles: tuple[RemainingArticle, ...] = ()


@dataclass(frozen=True, slots=True)
class Deletion:
    """A batch of deletions, or the restoration of earlier batches.

    Attributes:
        id: random, 62 bits; the same id means the same deletion.
        at: when (aware, UTC).
        gone: deleted entries and snapshots.
        captures: record ids of responses and revisits that nothing references any more.
        restores: ids of deletions that are undone, in any order.
    """

    id: int
    at: datetime
    gone: tuple[DeletedEntry, ...] = ()
    captures: tuple[RecordId, ...] = ()
    restores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BinnedItem:
    """A deleted entry or snapshot that can be restored.

    Attributes:
        deletion: number of the deletion.
        hash_url, url, title: of the entry.
        timestamp: of the snapshot; empty for an entry with all its snapshots.
        snapshots: number of snapshots.
    """

    deletion: int
    hash_url: HashUrl
    url: str
    title: str
    timestamp: str
    snapshots: int

    @property
    def deleted_at(self) -> datetime:
        """The time of the deletion (UTC)."""
        return datetime.fromtimestamp(self.deletion / 1000, UTC)
