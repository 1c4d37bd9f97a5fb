"""Tombstones: what was deleted."""

from dataclasses import dataclass
from datetime import datetime

from archiver.model.capture import HashUrl, RecordId, Timestamp


@dataclass(frozen=True, slots=True)
class DeletedSnapshot:
    """A snapshot that is gone: its timestamp, and the record of the response that was its page.

    The record tells it from one that is taken in later with the same timestamp.
    """

    timestamp: Timestamp
    page: RecordId


@dataclass(frozen=True, slots=True)
class RemainingArticle:
    """A snapshot that stays, whose article was told of where a snapshot that is gone was.

    Attributes:
        timestamp: of the snapshot that stays.
        article: the conversion record; empty if it has none.
    """

    timestamp: Timestamp
    article: RecordId


@dataclass(frozen=True, slots=True)
class DeletedEntry:
    """What is gone of one entry.

    Attributes:
        hash_url: of the entry; its address is not kept.
        generation: all of the entry is gone, up to this one; None where the entry stays.
        snapshots: those that are gone, and whose captures the deletion speaks for.
        articles: of snapshots that stay.
    """

    hash_url: HashUrl
    generation: int | None
    snapshots: tuple[DeletedSnapshot, ...] = ()
    articles: tuple[RemainingArticle, ...] = ()


@dataclass(frozen=True, slots=True)
class Deletion:
    """A stretch of what was thrown away at once, or the taking back of such stretches.

    Attributes:
        id: by chance one of 2⁶²; two alike are one.
        at: when (aware, UTC).
        gone: entry by entry.
        captures: record ids of responses and revisits that nothing needs any more.
        restores: ids of deletions that hold no more, whenever they are met.
    """

    id: int
    at: datetime
    gone: tuple[DeletedEntry, ...] = ()
    captures: tuple[RecordId, ...] = ()
    restores: tuple[int, ...] = ()
