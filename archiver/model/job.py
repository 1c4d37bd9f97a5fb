"""Jobs of the queue and references to their entries."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from archiver.model.capture import HashUrl, Timestamp
from archiver.model.failure import Failure


@dataclass(frozen=True, slots=True)
class EntryRef:
    """Reference to an entry.

    Attributes:
        id: primary key.
        hash_url: its identifier.
        url: serialised URL. If its fragment is a route, such as ``#/settings``, it is part of the
            hash but not of the requested URL.
        host: host of the URL, with the port if it is not the default.
    """

    id: int
    hash_url: HashUrl
    url: str
    host: str


class State(StrEnum):
    """State of a job or an entry; only an entry that was saved without a job has ``LINK``."""

    QUEUED = "queued"
    FETCHING = "fetching"
    SAVED = "saved"
    FAILED = "failed"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as shown to users.

    Attributes:
        id: row id; later jobs have higher ids.
        hash_url: identifier of its entry.
        url: URL of its entry.
        state: its state.
        title: title of the entry; empty if unknown.
        attempts: number of attempts.
        failure: failure of the last attempt, also while the job is queued for a retry; or the
            failure of the host that it waits for.
        not_before: time of the next attempt, while queued for a retry (aware, UTC).
        timestamp: timestamp of the snapshot, once saved.
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
    """A position in the sequence of job changes, immediately after one of them.

    Attributes:
        stamp: number of the transaction that made this change (``db.jobs``). Later transactions
            have higher numbers.
        job_id: id of the job that changed, since several changes may have the same stamp.
    """

    stamp: int
    job_id: int


@dataclass(frozen=True, slots=True)
class Change:
    """A job after a change, and the position after that change."""

    cursor: ChangeCursor
    job: Job


@dataclass(frozen=True, slots=True)
class Lease:
    """Job that a process has taken. Only this process may end or postpone it.

    Attributes:
        job_id: row id of the job.
        import_id: row id of its import, if any.
        entry: the entry to capture.
        attempts: number of earlier attempts.
        created_at: when the job was created (aware, UTC).
        interrupted: whether an earlier owner died, so that some of its captures may be stored.
        priority: one of the priorities in ``db.queue``; 0 is the most urgent.
        latest: timestamp of the entry's newest snapshot, if any.
        render: whether to render in a browser even if not needed.
        rescue: whether to fetch from public archives instead of the host.
        feed: URL of the feed that has the link; empty if a user saved it.
        owner: name of the process that has the lease.
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
    """A failed attempt: when (aware, UTC), and why."""

    at: datetime
    failure: Failure


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Jobs by state, of the whole queue or one import."""

    queued: int = 0
    fetching: int = 0
    saved: int = 0
    failed: int = 0

    @property
    def open(self) -> int:
        """Jobs that are not finished."""
        return self.queued + self.fetching

    @property
    def total(self) -> int:
        """All jobs."""
        return self.open + self.saved + self.failed
