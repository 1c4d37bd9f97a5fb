"""Visit results."""

from dataclasses import dataclass, field
from datetime import datetime

from archiver.model.capture import CaptureRef, HashUrl, RecordId, Timestamp
from archiver.model.failure import Failure
from archiver.model.job import EntryRef, Lease
from archiver.model.page import Article, Charset
from archiver.model.rendering import NewRendition, QualitySignals, RenderHint, Rendering
from archiver.model.requisite import RequisiteOutcome


@dataclass(frozen=True, slots=True)
class LateVisit:
    """What was brought for an entry or a snapshot that is gone, or there already.

    Attributes:
        hash_url: of the entry.
        timestamp, page: of the snapshot that is not to be, and the record of its page.
        needs: the addresses that it would be replayed from.
        answers: the responses that it brought and that are not what their URLs show.
    """

    hash_url: HashUrl
    timestamp: Timestamp
    page: RecordId
    needs: tuple[str, ...]
    answers: tuple[RecordId, ...] = ()


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
        rendering: whether a browser showed it, or should have.
        likenesses: how it looked there.
        look: what a plain look at it told of its host.
        appearance: what tells how whole it is.
        answers: the responses that are not what their URLs show, as they were kept.
    """

    timestamp: Timestamp
    at: datetime
    page: CaptureRef
    article: Article
    requisites: tuple[RequisiteOutcome, ...]
    charset: Charset = field(default_factory=Charset)
    rendering: Rendering = Rendering.NONE
    likenesses: tuple[NewRendition, ...] = ()
    look: RenderHint = RenderHint.NONE
    appearance: QualitySignals = field(default_factory=QualitySignals)
    answers: tuple[RecordId, ...] = ()


@dataclass(frozen=True, slots=True)
class VisitResult:
    """The end of one attempt: a visit, or a failure with, it may be, a moment to try again.

    Attributes:
        entry: whose attempt it was.
        at: when it was made (aware, UTC).
        visit: what it brought, if it did.
        failure: why it did not.
        retry_at: when there will be another (aware, UTC), if there will.
        is_put_last: it is made when nothing else is to be done.
        lease: of the job that it ends or puts off; None where nothing was queued for it.
    """

    entry: EntryRef
    at: datetime
    visit: Visit | None = None
    failure: Failure | None = None
    retry_at: datetime | None = None
    lease: Lease | None = None
    is_put_last: bool = False
