"""How a visit ended: the values that the recorder turns into records and rows."""

from dataclasses import dataclass, field
from datetime import datetime

from archiver.model.capture import PayloadDigest, RecordId, Timestamp
from archiver.model.failure import Failure
from archiver.model.job import Lease
from archiver.model.page import Article, Charset
from archiver.model.requisite import RequisiteOutcome


@dataclass(frozen=True, slots=True)
class CaptureRef:
    """A capture that is on disk or on its way there: what a snapshot needs to point at it."""

    record_id: RecordId
    url: str
    timestamp: Timestamp
    status: int
    media_type: str
    payload_digest: PayloadDigest


@dataclass(frozen=True, slots=True)
class Visit:
    """A page brought home.

    Attributes:
        timestamp: when the lease's URL was requested.
        at: the same as a moment (aware, UTC).
        page: the final response's capture.
        article: what was read from it.
        requisites: what became of each.
        charset: of the page.
    """

    timestamp: Timestamp
    at: datetime
    page: CaptureRef
    article: Article
    requisites: tuple[RequisiteOutcome, ...]
    charset: Charset = field(default_factory=Charset)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of one attempt: a visit, or a failure with, it may be, a moment to try again."""

    lease: Lease
    at: datetime
    visit: Visit | None = None
    failure: Failure | None = None
    retry_at: datetime | None = None
