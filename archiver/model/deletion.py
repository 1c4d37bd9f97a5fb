"""Deletions, as stored in deletion records and tombstones."""

import secrets
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
    """Article of a remaining snapshot, whose record refers to a deleted snapshot for it.

    Attributes:
        timestamp: timestamp of the remaining snapshot.
        article: id of the conversion record with the article; empty if there is no such record.
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
        articles: articles of those remaining snapshots whose records refer to deleted articles.
    """

    hash_url: HashUrl
    generation: int | None
    snapshots: tuple[DeletedSnapshot, ...] = ()
    articles: tuple[RemainingArticle, ...] = ()


@dataclass(frozen=True, slots=True)
class Deletion:
    """Content of a deletion record: deleted items, or the restoration of earlier deletions.

    Attributes:
        id: the number of the deletion and random bits (``new_id``). Restorations refer to it.
        at: time of the deletion or restoration (aware, UTC).
        deleted: deleted entries and snapshots.
        captures: record ids of deleted captures, which no remaining snapshot needs.
        restores: ids of the deletions that this one undoes.
    """

    id: int
    at: datetime
    deleted: tuple[DeletedEntry, ...] = ()
    captures: tuple[RecordId, ...] = ()
    restores: tuple[int, ...] = ()


RANDOM_BITS = 20
"""Number of random bits at the end of a deletion record's id."""


def new_id(number: int | None = None) -> int:
    """Return an id for a deletion record, from which ``number_of`` gets the deletion's number.

    Args:
        number: number of the deletion (Unix time in milliseconds), which several records may
            share; None for a record of something that can't be restored.
    """
    if number is None:
        return secrets.randbits(50)
    return number << RANDOM_BITS | secrets.randbits(RANDOM_BITS)


def number_of(deletion: int) -> int:
    """Return the number of the deletion to which a deletion record belongs."""
    return deletion >> RANDOM_BITS


def first_id_after(number: int) -> int:
    """Return the lowest id that a record of a deletion after ``number`` can have."""
    return (number + 1) << RANDOM_BITS


@dataclass(frozen=True, slots=True)
class Deleted:
    """Result of a deletion.

    Attributes:
        id: number of the deletion, which can be undone until compaction erases it.
        entries: number of deleted entries.
        snapshots: number of deleted snapshots, including those of the entries.
    """

    id: int
    entries: int
    snapshots: int


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
