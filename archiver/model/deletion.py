"""Deletions, as stored in deletion records and tombstones."""

from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.model.capture import HashUrl, RecordId, Timestamp


@dataclass(frozen=True, slots=True)
class DeletedSnapshot:
    """Deleted snapshot of an entry.

    Attributes:
        timestamp: timestamp of the snapshot.
        page: record id of the snapshot's page, which distinguishes the snapshot from one that is
            added later with the same timestamp.
    """

    timestamp: Timestamp
    page: RecordId


@dataclass(frozen=True, slots=True)
class RemainingArticle:
    """Article of a remaining snapshot whose record refers to the article of a deleted snapshot.

    Attributes:
        timestamp: timestamp of the remaining snapshot.
        article: id of the conversion record with the article of the remaining snapshot; empty if
            there is no such record.
    """

    timestamp: Timestamp
    article: RecordId


@dataclass(frozen=True, slots=True)
class DeletedEntry:
    """Deleted parts of one entry.

    Attributes:
        hash_url: hash_url of the entry; the URL is not stored.
        generation: number of earlier deletions of the entry; None if only snapshots are deleted. If
            the entry is added again, it has a higher generation and is not affected.
        snapshots: deleted snapshots.
        articles: articles of remaining snapshots whose records refer to deleted articles.
    """

    hash_url: HashUrl
    generation: int | None
    snapshots: tuple[DeletedSnapshot, ...] = ()
    articles: tuple[RemainingArticle, ...] = ()


@dataclass(frozen=True, slots=True)
class Deletion:
    """Content of a deletion record: deleted items, or the restoration of earlier deletions.

    Attributes:
        id: random number of 62 bits, by which restorations refer to the deletion.
        at: time of the deletion or restoration (aware, UTC).
        gone: deleted entries and snapshots.
        captures: record ids of deleted captures, which no remaining snapshot needs.
        restores: ids of the deletions that this one undoes.
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
        deletion: number of the deletion: its Unix time in milliseconds.
        hash_url, url, title: hash_url, URL and title of the entry.
        timestamp: timestamp of the snapshot; empty for an entry with all its snapshots.
        snapshots: number of deleted snapshots.
    """

    deletion: int
    hash_url: HashUrl
    url: str
    title: str
    timestamp: str
    snapshots: int

    @property
    def deleted_at(self) -> datetime:
        """Time of the deletion (aware, UTC)."""
        return datetime.fromtimestamp(self.deletion / 1000, UTC)
