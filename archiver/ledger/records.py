"""Which records a batch becomes: pure, from exchanges and visit results to records in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from archiver.html.document import write_article_document
from archiver.ledger.originals import Originals
from archiver.ledger.visit_result import Visit, VisitResult
from archiver.memento.timestamps import to_datetime, to_timestamp
from archiver.model.capture import (
    Capture,
    HashUrl,
    Location,
    RecordId,
    Timestamp,
)
from archiver.model.entry import Entry, Snapshot
from archiver.model.exchange import Exchange
from archiver.model.failure import Failure
from archiver.model.findable import Findable
from archiver.model.job import State
from archiver.model.likeness import LikenessRef
from archiver.model.page import EXTRACTOR_VERSION, PageMetadata
from archiver.model.rendering import Rendering
from archiver.query.findable import findable
from archiver.urls.parse import redirect_target
from archiver.warc import build
from archiver.warc.deletion_record import DELETION_URI
from archiver.warc.entry_record import (
    EntryRecord,
    SnapshotRecord,
    article_uri,
    entry_record_uri,
    likeness_uri,
    write_entry_record,
)
from archiver.warc.lists_record import LISTS, LISTS_URI
from archiver.warc.record import Record, new_record_id
from archiver.wire.media_type import declared_media_type, essence_of
from archiver.wire.moments import read_iso


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What the index knows of an entry when its visit is closed.

    Attributes:
        entry: as people see it.
        previous: its newest snapshot before this one.
        revision: how often its annotation was changed.
        is_unrecorded: whether a record is owed for that.
        generation: how often all of it was thrown away before.
    """

    entry: Entry
    previous: Snapshot | None
    revision: int = 0
    is_unrecorded: bool = False
    generation: int = 0


SnapshotKey = tuple[HashUrl, Timestamp]


@dataclass(slots=True)
class Plan:
    """The records of a batch, and where in it each thing of interest stands.

    Attributes:
        records: in the order they are to be written.
        captures: for each exchange its capture, still without a place, by record position.
        answers: ids of responses that are not what their URLs show, by record position.
        articles: positions of conversion records, by snapshot.
        entry_records: positions of the metadata records that close snapshots, by snapshot.
        likenesses: positions of the conversion records of likenesses, by snapshot.
    """

    records: list[Record] = field(default_factory=list)
    captures: dict[int, Capture] = field(default_factory=dict)
    answers: dict[int, RecordId] = field(default_factory=dict)
    articles: dict[SnapshotKey, int] = field(default_factory=dict)
    entry_records: dict[SnapshotKey, int] = field(default_factory=dict)
    likenesses: dict[SnapshotKey, list[tuple[LikenessRef, int]]] = field(default_factory=dict)


NOWHERE = Location("", 0, 0)


def plan_exchange(plan: Plan, exchange: Exchange, capture: Capture, originals: Originals) -> None:
    """Add an exchange's records: a revisit where its payload is stored already, within reach.

    ``originals`` learns of the payloads that this plan stores.
    """
    original = originals.of(exchange) if exchange.is_shown else None
    record_id = capture.record_id
    if original:
        capture = replace(capture, is_revisit=True, is_chunked=False)
    if exchange.is_shown:
        plan.captures[len(plan.records)] = capture
    else:
        plan.answers[len(plan.records)] = record_id
    request_id = new_record_id() if exchange.request else None
    if original is None:
        originals.add([capture] if exchange.is_shown else [])
        plan.records.append(build.response(exchange, id=record_id, request_id=request_id))
    else:
        refers_to = build.Original(
            record_id=original.record_id,
            url=original.url,
            date=to_datetime(original.timestamp),
        )
        plan.records.append(
            build.revisit(exchange, id=record_id, request_id=request_id, refers_to=refers_to)
        )
    if request_id:
        plan.records.append(build.request(exchange, id=request_id, response_id=record_id))


def plan_visit_result(plan: Plan, visit_result: VisitResult, facts: EntryFacts) -> None:
    """Add the records that close an attempt: its article and its entry record."""
    visit = visit_result.visit
    snapshot = _snapshot(plan, visit, facts) if visit else None
    entry_record = _entry_record(
        facts, visit_result.at, snapshot=snapshot, failure=visit_result.failure
    )
    if visit:
        plan.entry_records[facts.entry.hash_url, visit.timestamp] = len(plan.records)
    plan.records.append(
        build.metadata(
            id=new_record_id(),
            url=entry_record_uri(facts.entry.hash_url),
            date=visit_result.at,
            document=write_entry_record(entry_record),
            refers_to=visit.page.record_id if visit else None,
        )
    )


def plan_note(plan: Plan, facts: EntryFacts) -> None:
    """Add the record that says what a person has changed of an entry, without a visit."""
    plan.records.append(entry_note(facts, datetime.now(UTC).replace(microsecond=0)))


def plan_owed(plan: Plan, document: Mapping[str, Any]) -> None:
    """Add a record of no one entry, by its JSON."""
    plan.records.append(owed_record(document))


def owed_record(document: Mapping[str, Any]) -> Record:
    """The record of a deletion, or of lists, by its JSON."""
    return build.metadata(
        id=new_record_id(),
        url=LISTS_URI if LISTS in document else DELETION_URI,
        date=read_iso(document["at"]),
        document=document,
    )


def entry_note(
    facts: EntryFacts,
    at: datetime,
    failure: Failure | None = None,
    *,
    is_waiting: bool = False,
) -> Record:
    """A record that tells of an entry as it stands: what its person says, and what failed."""
    return build.metadata(
        id=new_record_id(),
        url=entry_record_uri(facts.entry.hash_url),
        date=at,
        document=write_entry_record(
            replace(_entry_record(facts, at, failure=failure), is_waiting=is_waiting)
        ),
    )


def reused_article(visit: Visit, facts: EntryFacts) -> Snapshot | None:
    """The snapshot before, where this page's payload, and so its article, is the same."""
    previous = facts.previous
    if previous is None or previous.extractor != EXTRACTOR_VERSION:
        return None
    if Rendering.DONE in (visit.rendering, previous.rendering):
        return None
    same = previous.capture.payload_digest == visit.page.payload_digest
    return previous if same else None


def extractor_of(visit: Visit, facts: EntryFacts) -> str:
    """The version of what read a visit's article, now or for the snapshot before."""
    reused = reused_article(visit, facts)
    return reused.extractor if reused else visit.article.extractor


def metadata_of(visit: Visit, facts: EntryFacts) -> PageMetadata:
    """What a visit's page says of itself."""
    reused = reused_article(visit, facts)
    if reused is None or visit.article.extractor:
        return visit.article.metadata
    return reused.metadata


def found_by(visit: Visit, facts: EntryFacts) -> Findable | None:
    """What a saved entry is found by; None where what it was the last time holds."""
    if reused_article(visit, facts):
        return None
    return findable(
        facts.entry.annotation,
        visit.article.metadata,
        url=facts.entry.url,
        host=facts.entry.host,
        media_type=visit.page.media_type,
        words=visit.article.words,
        revision=facts.revision,
    )


def _snapshot(plan: Plan, visit: Visit, facts: EntryFacts) -> SnapshotRecord:
    reused = reused_article(visit, facts)
    article = None if reused or not visit.article.html else _conversion(plan, visit, facts)
    return SnapshotRecord(
        timestamp=visit.timestamp,
        capture_url=visit.page.url,
        capture_timestamp=visit.page.timestamp,
        capture_record=visit.page.record_id,
        article=article,
        article_of=reused.timestamp if reused else None,
        extractor=extractor_of(visit, facts),
        metadata=metadata_of(visit, facts),
        requisites=visit.requisites,
        charset=visit.charset,
        rendering=visit.rendering,
        likenesses=_likenesses(plan, visit, facts),
        look=visit.look,
        appearance=visit.appearance,
        answers=visit.answers,
    )


def _likenesses(plan: Plan, visit: Visit, facts: EntryFacts) -> tuple[LikenessRef, ...]:
    placed = []
    for each in visit.likenesses:
        made = LikenessRef(each.kind, each.media_type, new_record_id(), each.digest)
        placed.append((made, len(plan.records)))
        plan.records.append(
            build.conversion(
                id=made.record_id,
                url=likeness_uri(facts.entry.hash_url, each.kind),
                date=visit.at,
                refers_to=visit.page.record_id,
                content_type=each.media_type,
                block=each.content,
            )
        )
    if placed:
        plan.likenesses[facts.entry.hash_url, visit.timestamp] = placed
    return tuple(made for made, _ in placed)


def _conversion(plan: Plan, visit: Visit, facts: EntryFacts) -> RecordId:
    record_id = new_record_id()
    plan.articles[facts.entry.hash_url, visit.timestamp] = len(plan.records)
    plan.records.append(
        build.conversion(
            id=record_id,
            url=article_uri(facts.entry.hash_url),
            date=visit.at,
            refers_to=visit.page.record_id,
            content_type="text/html; charset=utf-8",
            block=write_article_document(visit.article),
        )
    )
    return record_id


def _entry_record(
    facts: EntryFacts,
    at: datetime,
    *,
    snapshot: SnapshotRecord | None = None,
    failure: Failure | None = None,
) -> EntryRecord:
    entry = facts.entry
    return EntryRecord(
        at,
        entry.hash_url,
        entry.url,
        entry.annotation,
        facts.revision,
        snapshot,
        failure,
        generation=facts.generation,
        is_link=entry.state is State.LINK and not (snapshot or failure),
    )


def capture_of(exchange: Exchange, record_id: RecordId) -> Capture:
    """The capture that an exchange is, before it has a place on disk."""
    return Capture(
        url=exchange.url,
        timestamp=to_timestamp(exchange.at),
        status=exchange.status,
        media_type=essence_of(declared_media_type(exchange.headers)),
        payload_digest=exchange.payload_digest,
        payload_length=exchange.payload_length,
        record_id=record_id,
        location=NOWHERE,
        redirect_to=redirect_target(exchange.url, exchange.status, exchange.header("location")),
        ip=exchange.ip,
        is_chunked=exchange.chunked,
    )
