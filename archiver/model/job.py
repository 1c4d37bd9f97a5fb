"""Jobs of the queue and references to their entries."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from archiver.model.capture import HashUrl, Timestamp
from archiver.model.failure import Failure


@dataclass(frozen=True, slots=True)
class EntryRef:
    """An entry, by name.

    Attributes:
        id: its row in the index.
        hash_url: its name everywhere.
        url: serialised, without fragment: what is hashed and fetched.
        host: of the URL, with the port if it is not the scheme's.
    """

    id: int
    hash_url: HashUrl
    url: str
    host: str


class State(StrEnum):
    """Where a job, and so its entry, stands; only an entry is kept as a ``LINK``, without a job."""

    QUEUED = "queued"
    FETCHING = "fetching"
    SAVED = "saved"
    FAILED = "failed"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as people follow it.

    Attributes:
        id: grows with time.
        hash_url: of its entry.
        url: what is fetched.
        state: where it stands.
        title: the entry's title so far; empty if none is known.
        attempts: how many were made.
        failure: of the last attempt, also while queued again.
        not_before: when the next attempt is due, while queued again (aware, UTC).
        timestamp: of the snapshot it made, once saved.
    """

    id: int
    hash_url: HashUrl
    url: str
    state: State
    title: str = ""
    attempts: int = 0
    failure: Failure | None = None
    not_before: datetime | None = None
    timestamp: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class ChangeCursor:
    """A place in the order in which jobs changed.

    Attributes:
        stamp: of the change before it.
        job_id: of that job; several changes may share a stamp.
    """

    stamp: int
    job_id: int


@dataclass(frozen=True, slots=True)
class Change:
    """A job after a change, and the place behind it."""

    cursor: ChangeCursor
    job: Job


@dataclass(frozen=True, slots=True)
class Lease:
    """A job that one process holds until it reports or dies.

    Attributes:
        job_id, import_id: rows it belongs to.
        entry: what is to be captured.
        attempts: how many were made before this one.
        created_at: when the seed was made (aware, UTC).
        interrupted: an earlier holder died; some of its captures may be in the archive.
        priority: 0 for what someone is looking at, 1 for an import.
        latest: timestamp of the entry's newest snapshot, if it has one.
        render: whether a browser is to show the page, needed or not.
        rescue: whether public archives are asked for the page, and not its host.
        feed: that brought it; empty where a person asked for it.
        owner: the run lock's name of its holder; None while nobody is.
    """

    job_id: int
    import_id: int | None
    entry: EntryRef
    attempts: int
    created_at: datetime
    interrupted: bool
    priority: int = 0
    latest: Timestamp | None = None
    render: bool = False
    rescue: bool = False
    feed: str = ""
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that failed: when (aware, UTC), and why."""

    at: datetime
    failure: Failure


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many jobs stand where, over the whole queue or one import."""

    queued: int = 0
    fetching: int = 0
    saved: int = 0
    failed: int = 0

    @property
    def open(self) -> int:
        """Jobs that are not at an end."""
        return self.queued + self.fetching

    @property
    def total(self) -> int:
        """All jobs."""
        return self.open + self.saved + self.failed
