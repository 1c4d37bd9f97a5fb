"""Which rows a batch becomes once its records are on disk: pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from archiver.crawl.endings import Ending, Visit
from archiver.crawl.records import (
    EntryFacts,
    Plan,
    extractor_of,
    metadata_of,
    reused_article,
    search_words,
)
from archiver.index.results import FailedAttempt, NewSnapshot
from archiver.model.capture import Location, Timestamp
from archiver.model.failure import Failure
from archiver.model.job import Lease
from archiver.model.requisite import RequisiteOutcome

FIRST_ERROR_STATUS = 400


def visit_of(ending: Ending) -> Visit:
    """The visit of an ending that has one."""
    if ending.visit is None:
        raise ValueError("this attempt brought nothing")
    return ending.visit


def new_snapshot(
    ending: Ending,
    facts: EntryFacts,
    plan: Plan,
    places: Sequence[Location],
    *,
    capture_id: int,
) -> NewSnapshot:
    """The rows of a visit."""
    visit = visit_of(ending)
    key = facts.entry.hash_url, visit.timestamp
    reused = reused_article(visit, facts)
    written = plan.articles.get(key)
    return NewSnapshot(
        entry_id=ending.lease.entry_id,
        timestamp=visit.timestamp,
        at=visit.at,
        capture_id=capture_id,
        final_url=visit.page.url,
        status=visit.page.status,
        media_type=visit.page.media_type,
        metadata=metadata_of(visit, facts),
        requisite_count=len(visit.requisites),
        missing_count=sum(map(is_missing, visit.requisites)),
        article=reused.article if reused else places[written] if written is not None else None,
        extractor=extractor_of(visit, facts),
        record=places[plan.statements[key]],
        words=search_words(visit, facts),
    )


def is_missing(outcome: RequisiteOutcome) -> bool:
    """Whether a requisite could not be had, or the server had nothing but an error for it."""
    return outcome.status is None or outcome.status >= FIRST_ERROR_STATUS


def failed_attempts(
    endings: Sequence[Ending], facts: Mapping[int, EntryFacts]
) -> list[FailedAttempt]:
    """The attempts of a batch that brought nothing."""
    return [
        FailedAttempt(
            entry_id=each.lease.entry_id,
            at=each.at,
            failure=each.failure,
            final=each.retry_at is None,
            words=facts[each.lease.entry_id].given_title,
        )
        for each in endings
        if each.failure
    ]


def ends(endings: Sequence[Ending]) -> list[tuple[Lease, Timestamp | None, Failure | None]]:
    """The jobs of a batch that are at their end."""
    return [
        (each.lease, each.visit.timestamp if each.visit else None, each.failure)
        for each in endings
        if each.retry_at is None and each.lease.job_id
    ]


def postponed(endings: Sequence[Ending]) -> list[tuple[Lease, Failure, datetime]]:
    """The jobs of a batch that are tried again later."""
    return [
        (each.lease, each.failure, each.retry_at)
        for each in endings
        if each.failure and each.retry_at
    ]
