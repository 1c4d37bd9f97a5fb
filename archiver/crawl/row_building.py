"""Database rows of visits."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from archiver.crawl.record_building import (
    EntryFacts,
    Plan,
    extractor_of,
    found_by,
    metadata_of,
    reused_article,
)
from archiver.crawl.visit_result import UnwantedVisit, Visit, VisitResult
from archiver.db.attempts import FailedAttempt
from archiver.db.full_text import IndexRow
from archiver.db.queue import LAST
from archiver.db.visit_results import NewSnapshot
from archiver.http.urls import without_route
from archiver.model.capture import Location, Timestamp
from archiver.model.failure import Failure
from archiver.model.job import Lease
from archiver.model.listing import SearchDocument
from archiver.model.rendering import Rendition
from archiver.model.requisite import RequisiteOutcome, needed
from archiver.pages.capture_quality import score_of
from archiver.search.search_document import link_document


def visit_of(visit_result: VisitResult) -> Visit:
    """Return the visit of a result that has one."""
    if visit_result.visit is None:
        raise ValueError("this attempt has no result")
    return visit_result.visit


def new_snapshot(
    visit_result: VisitResult,
    facts: EntryFacts,
    plan: Plan,
    places: Sequence[Location],
    words_of: Callable[[SearchDocument], IndexRow],
) -> NewSnapshot:
    """Build the rows of a visit, without the capture row id, which its transaction knows."""
    visit = visit_of(visit_result)
    key = facts.entry.hash_url, visit.timestamp
    reused = reused_article(visit, facts)
    written = plan.articles.get(key)
    said = found_by(visit, facts)
    return NewSnapshot(
        entry_id=visit_result.entry.id,
        timestamp=visit.timestamp,
        at=visit.at,
        capture_id=0,
        final_url=visit.page.url,
        status=visit.page.status,
        media_type=visit.page.media_type,
        metadata=metadata_of(visit, facts),
        requisite_count=len(needed(visit.requisites)),
        missing_count=sum(each.is_missing for each in visit.requisites),
        article=reused.article if reused else places[written] if written is not None else None,
        extractor=extractor_of(visit, facts),
        record=places[plan.entry_records[key]],
        found_by=said,
        words=words_of(said) if said else None,
        rendering=visit.rendering,
        look=visit.look,
        score=score_of(visit.rendering, visit.requisites, visit.appearance).hundredths,
        limits=visit.appearance.limits,
        needs=needs_of(facts.entry.url, visit.page.url, visit.requisites),
        renditions=tuple(
            Rendition(made.kind, made.media_type, places[n], made.digest)
            for made, n in plan.renditions.get(key, ())
        ),
    )


def needs_of(url: str, final_url: str, requisites: Iterable[RequisiteOutcome]) -> tuple[str, ...]:
    """Return the URLs that a snapshot is replayed from."""
    return (
        without_route(url),
        final_url,
        *(each.url for each in requisites if each.status is not None),
    )


def unwanted_visits(
    visit_results: Sequence[VisitResult], there: Collection[int], ended: Collection[int]
) -> list[UnwantedVisit]:
    """Return visits whose entries no longer exist, or whose jobs others ended."""
    return [
        UnwantedVisit(
            each.entry.hash_url,
            each.visit.timestamp,
            each.visit.page.record_id,
            needs_of(each.entry.url, each.visit.page.url, each.visit.requisites),
            each.visit.answers,
        )
        for each in visit_results
        if each.visit
        and (each.entry.id not in there or (each.lease and each.lease.job_id in ended))
    ]


def failed_attempts(
    visit_results: Sequence[VisitResult], facts: Mapping[int, EntryFacts]
) -> list[FailedAttempt]:
    """Return the failed attempts of a batch."""
    return [
        FailedAttempt(
            entry_id=each.entry.id,
            at=each.at,
            failure=each.failure,
            final=each.retry_at is None,
            found_by=_unvisited(facts[each.entry.id]),
        )
        for each in visit_results
        if each.failure
    ]


def _unvisited(facts: EntryFacts) -> SearchDocument:
    entry = facts.entry
    return link_document(entry.annotation, url=entry.url, host=entry.host, revision=facts.revision)


def ended_jobs(
    visit_results: Sequence[VisitResult],
) -> list[tuple[Lease, Timestamp | None, Failure | None]]:
    """Return the jobs of a batch that end."""
    return [
        (each.lease, each.visit.timestamp if each.visit else None, each.failure)
        for each in visit_results
        if each.retry_at is None and each.lease
    ]


def postponed(visit_results: Sequence[VisitResult]) -> list[tuple[Lease, Failure, datetime]]:
    """Return the jobs of a batch that are retried later."""
    return [
        (
            replace(each.lease, priority=LAST) if each.is_put_last else each.lease,
            each.failure,
            each.retry_at,
        )
        for each in visit_results
        if each.failure and each.retry_at and each.lease
    ]


def now_recorded(
    visit_results: Sequence[VisitResult], noted: Sequence[int], facts: Mapping[int, EntryFacts]
) -> dict[int, int]:
    """Return the annotation revisions that a batch recorded."""
    final = [each.entry.id for each in visit_results if each.retry_at is None]
    return {
        number: facts[number].revision for number in (*final, *noted) if facts[number].is_unrecorded
    }
