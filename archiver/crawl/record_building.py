"""Builder of the WARC records of a batch of exchanges, visit results, edits and deletions.

If the original of a revisit has another URL, other programs find the original by its payload
digest. A record with chunk framing states no payload digest, so only a revisit with the same URL
refers to it.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from typing import Any

from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db.entries import Revised
from archiver.errors import StoreError
from archiver.http.content_coding import PIECE, payload_media_type
from archiver.http.media_types import declared_media_type, is_generic
from archiver.http.response_parser import dechunk
from archiver.http.timestamps import read_iso, to_datetime, to_timestamp
from archiver.http.urls import redirect_target
from archiver.logs import get_log
from archiver.model.capture import (
    Capture,
    Exchange,
    HashUrl,
    Location,
    PayloadDigest,
    RecordId,
    Timestamp,
)
from archiver.model.entry import Snapshot
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State
from archiver.model.page import EXTRACTOR_VERSION
from archiver.model.rendering import Limit, QualitySignals, Rendering, RenditionRef
from archiver.pages.article_text import write_article_document
from archiver.warc import writer
from archiver.warc.metadata_records import (
    DELETION_URI,
    LISTS,
    LISTS_URI,
    EntryRecord,
    SnapshotRecord,
    article_uri,
    entry_record_uri,
    rendition_uri,
    write_entry_record,
)
from archiver.warc.records import Record, new_record_id

UNWRITABLE = Failure(
    FailureKind.INTERNAL, "The result of this visit cannot be stored. The log has the reason."
)

log = get_log(__name__)


@dataclass(slots=True)
class ExchangeItem:
    """Exchange to record, and its capture, whose location is set when the record is written."""

    exchange: Exchange
    capture: Capture


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """Entry whose metadata changed without a visit."""

    entry_id: int


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """Deletion or lists record that must be written: its row id and its JSON."""

    row_id: int
    document: str


@dataclass(frozen=True, slots=True)
class Marker:
    """Marker without content, used to wait for all items before it.

    Attributes:
        ends_segment: whether items after the marker are written to another segment.
    """

    ends_segment: bool = False


ItemContent = ExchangeItem | VisitResult | EntryEdit | PendingRecord | Marker


@dataclass(slots=True)
class Item:
    """Item that waits to be recorded.

    Attributes:
        content: content to record.
        weight: bytes of memory that the item uses until it is recorded.
        done: future that is resolved once the item is durable and indexed; None if no caller waits.
    """

    content: ItemContent
    weight: int
    done: asyncio.Future[VisitResult | None] | None = None


def entry_id_of(content: ItemContent) -> int | None:
    """Return the entry id of an item's content; None if it belongs to no entry."""
    if isinstance(content, VisitResult):
        return content.entry.id
    return content.entry_id if isinstance(content, EntryEdit) else None


def resolve_futures(batch: Sequence[Item], error: StoreError | None) -> None:
    """Resolve the futures of a batch with their results, or with an error."""
    for item in batch:
        if item.done is None or item.done.done():
            continue
        if error is None:
            result = item.content if isinstance(item.content, VisitResult) else None
            item.done.set_result(result)
        else:
            item.done.set_exception(error)


@dataclass(slots=True)
class Originals:
    """Response records by their payloads.

    Attributes:
        anywhere: a record by payload digest, preferably one without chunk framing.
        at_url: a record by URL and payload digest.
    """

    anywhere: dict[PayloadDigest, Capture] = field(default_factory=dict)
    at_url: dict[tuple[str, PayloadDigest], Capture] = field(default_factory=dict)

    def add(self, captures: Iterable[Capture]) -> None:
        """Add records; a known record is replaced only by one without chunk framing."""
        for each in captures:
            before = self.anywhere.get(each.payload_digest)
            if before is None or (before.is_chunked and not each.is_chunked):
                self.anywhere[each.payload_digest] = each
            self.at_url.setdefault((each.url, each.payload_digest), each)

    def of(self, exchange: Exchange) -> Capture | None:
        """Return the record that an exchange can refer to as a revisit, or None."""
        if not exchange.payload_length:
            return None
        original = self.anywhere.get(exchange.payload_digest)
        if original and original.is_chunked and original.url != exchange.url:
            return self.at_url.get((exchange.url, exchange.payload_digest))
        return original

    def payloads_of_other_urls(
        self, exchanges: Iterable[Exchange]
    ) -> list[tuple[str, PayloadDigest]]:
        """Return the exchanges whose only known record has chunk framing and another URL.

        Each is returned as (URL, payload digest).
        """
        return [
            (each.url, each.payload_digest)
            for each in exchanges
            if each.payload_digest in self.anywhere and self.of(each) is None
        ]


@dataclass(frozen=True, slots=True)
class IndexedData:
    """Index data needed to build the records of a batch.

    Attributes:
        originals: records that the exchanges may be revisits of.
        entries: the entries that exist, by id.
        previous: the newest snapshot of each entry before this batch, by entry id.
    """

    originals: Originals
    entries: Mapping[int, Revised]
    previous: Mapping[int, Snapshot]


@dataclass(slots=True)
class PlannedSnapshot:
    """Snapshot of a plan, with the positions of its records.

    Attributes:
        record: content of the snapshot in the entry record.
        reused: earlier snapshot that has the same article; None if there is none.
        entry_record: position of the entry record.
        article: position of the article's conversion record; None if there is none.
        renditions: renditions such as screenshots, and the positions of their conversion records.
    """

    record: SnapshotRecord
    reused: Snapshot | None
    entry_record: int
    article: int | None
    renditions: list[tuple[RenditionRef, int]]


@dataclass(slots=True)
class Plan:
    """Records of a batch. A position is an index in ``records``.

    Attributes:
        records: records in writing order.
        captures: captures without location, by position of the record.
        excluded_responses: record ids of responses that are not replayed, such as those to POST
            requests, by position.
        snapshots: the snapshots of visits, by entry and timestamp.
    """

    records: list[Record] = field(default_factory=list)
    captures: dict[int, Capture] = field(default_factory=dict)
    excluded_responses: dict[int, RecordId] = field(default_factory=dict)
    snapshots: dict[tuple[HashUrl, Timestamp], PlannedSnapshot] = field(default_factory=dict)


NOWHERE = Location("", 0, 0)


def plan_batch(batch: Sequence[Item], indexed: IndexedData) -> Plan:
    """Plan the records of a batch.

    A visit that can't be recorded becomes a failure. If it were retried, each attempt would block
    the other visits of its batch.
    """
    plan = Plan()
    for item in batch:
        try:
            _plan_item(plan, item.content, indexed)
        except Exception:
            if not isinstance(item.content, VisitResult) or item.content.visit is None:
                raise
            log.exception("visit result cannot be stored", url=item.content.entry.url)
            item.content = replace(item.content, visit=None, failure=UNWRITABLE)
            _plan_item(plan, item.content, indexed)
    return plan


def _plan_item(plan: Plan, content: ItemContent, indexed: IndexedData) -> None:
    if isinstance(content, ExchangeItem):
        plan_exchange(plan, content.exchange, content.capture, indexed.originals)
    elif isinstance(content, PendingRecord):
        plan.records.append(pending_record(json.loads(content.document)))
    elif entry := indexed.entries.get(
        entry_id_of(content) or 0
    ):  # else a marker or a deleted entry
        if isinstance(content, EntryEdit):
            plan.records.append(entry_note(entry, datetime.now(UTC).replace(microsecond=0)))
        elif isinstance(content, VisitResult) and content.retry_at is None:
            plan_visit_result(plan, content, entry, indexed.previous.get(content.entry.id))


def plan_exchange(plan: Plan, exchange: Exchange, capture: Capture, originals: Originals) -> None:
    """Add the records of an exchange. It becomes a revisit if it can refer to a stored payload.

    A new response record is added to ``originals``, so that later exchanges can refer to it.
    """
    original = originals.of(exchange) if exchange.is_shown else None
    record_id = capture.record_id
    if original:
        declared = declared_media_type(exchange.headers)
        # Text is not sniffed if a type is declared.
        is_text = original.media_type.startswith("text/")
        is_sniffed = is_generic(declared) and not (declared and is_text)
        media_type = original.media_type if is_sniffed else capture.media_type
        capture = replace(capture, is_revisit=True, is_chunked=False, media_type=media_type)
    if exchange.is_shown:
        plan.captures[len(plan.records)] = capture
    else:
        plan.excluded_responses[len(plan.records)] = record_id
    request_id = new_record_id() if exchange.request else None
    if original is None:
        originals.add([capture] if exchange.is_shown else [])
        plan.records.append(writer.response(exchange, id=record_id, request_id=request_id))
    else:
        refers_to = writer.Original(
            record_id=original.record_id,
            url=original.url,
            date=to_datetime(original.timestamp),
        )
        plan.records.append(
            writer.revisit(exchange, id=record_id, request_id=request_id, refers_to=refers_to)
        )
    if request_id:
        plan.records.append(writer.request(exchange, id=request_id, response_id=record_id))


def plan_visit_result(
    plan: Plan, visit_result: VisitResult, revised: Revised, previous: Snapshot | None = None
) -> None:
    """Add the records of a visit result: article, renditions and entry record.

    Args:
        plan: the plan.
        visit_result: the result.
        revised: entry of the result.
        previous: the newest snapshot of the entry before this one.
    """
    visit = visit_result.visit
    planned = _plan_snapshot(plan, visit, revised, previous) if visit else None
    if visit and planned:
        plan.snapshots[revised.entry.hash_url, visit.timestamp] = planned
    plan.records.append(
        _metadata(
            _entry_record(
                revised,
                visit_result.at,
                snapshot=planned.record if planned else None,
                failure=visit_result.failure,
            )
        )
    )


def pending_record(document: Mapping[str, Any]) -> Record:
    """Return a deletion or lists record from its JSON."""
    return writer.metadata(
        id=new_record_id(),
        url=LISTS_URI if LISTS in document else DELETION_URI,
        date=read_iso(document["at"]),
        document=document,
    )


def entry_note(
    revised: Revised, at: datetime, failure: Failure | None = None, *, is_waiting: bool = False
) -> Record:
    """Return a record of an entry's current metadata and failure, without a snapshot.

    ``is_waiting`` is as in ``EntryRecord``.
    """
    return _metadata(replace(_entry_record(revised, at, failure=failure), is_waiting=is_waiting))


def snapshot_note(revised: Revised, snapshot: SnapshotRecord) -> Record:
    """Return a new record of a snapshot whose own record is damaged."""
    return _metadata(_entry_record(revised, to_datetime(snapshot.timestamp), snapshot=snapshot))


def _metadata(record: EntryRecord) -> Record:
    """Return the WARC record of an entry record."""
    return writer.metadata(
        id=new_record_id(),
        url=entry_record_uri(record.hash_url),
        date=record.at,
        document=write_entry_record(record),
        refers_to=record.snapshot.capture_record if record.snapshot else None,
    )


def _reused_article(visit: Visit, previous: Snapshot | None) -> Snapshot | None:
    """Return the previous snapshot if its page has the same payload, and so the same article.

    Return None if a browser rendered one of the pages, or if the extractor version has changed.
    """
    if previous is None or previous.extractor != EXTRACTOR_VERSION:
        return None
    if Rendering.DONE in (visit.rendering, previous.rendering):
        return None
    same = previous.capture.payload_digest == visit.page.payload_digest
    return previous if same else None


def _plan_snapshot(
    plan: Plan, visit: Visit, revised: Revised, previous: Snapshot | None
) -> PlannedSnapshot:
    """Add the records of an article and renditions; the caller adds the entry record next."""
    reused, own_article, article = _reused_article(visit, previous), visit.article, None
    if own_article.html and not reused:
        article = len(plan.records)
        plan.records.append(_article_record(visit, revised.entry.hash_url))
    renditions = _plan_renditions(plan, visit, revised.entry.hash_url)
    record = SnapshotRecord(
        timestamp=visit.timestamp,
        capture_url=visit.page.url,
        capture_timestamp=visit.page.timestamp,
        capture_record=visit.page.record_id,
        article=None if article is None else plan.records[article].id,
        article_of=reused.timestamp if reused else None,
        extractor=reused.extractor if reused else own_article.extractor,
        metadata=reused.metadata if reused and not own_article.extractor else own_article.metadata,
        requisites=visit.requisites,
        charset=visit.charset,
        rendering=visit.rendering,
        renditions=tuple(rendition for rendition, _ in renditions),
        appearance=_appearance(visit, is_failed=own_article.is_failed and not reused),
        excluded_responses=visit.excluded_responses,
    )
    return PlannedSnapshot(record, reused, len(plan.records), article, renditions)


def _appearance(visit: Visit, *, is_failed: bool) -> QualitySignals:
    """Return the quality signals of a visit; ``is_failed``: its article could not be extracted."""
    signals = visit.appearance
    if is_failed == (Limit.ARTICLE in signals.limits):
        return signals
    return replace(signals, limits=tuple(sorted({*signals.limits} ^ {Limit.ARTICLE})))


def _plan_renditions(plan: Plan, visit: Visit, hash_url: HashUrl) -> list[tuple[RenditionRef, int]]:
    """Add the records of renditions such as screenshots; return them with their positions."""
    placed = []
    for each in visit.renditions:
        rendition = RenditionRef(each.kind, each.media_type, new_record_id(), each.digest)
        placed.append((rendition, len(plan.records)))
        plan.records.append(
            writer.conversion(
                id=rendition.record_id,
                url=rendition_uri(hash_url, each.kind),
                date=visit.at,
                refers_to=visit.page.record_id,
                content_type=each.media_type,
                block=each.content,
            )
        )
    return placed


def _article_record(visit: Visit, hash_url: HashUrl) -> Record:
    return writer.conversion(
        id=new_record_id(),
        url=article_uri(hash_url),
        date=visit.at,
        refers_to=visit.page.record_id,
        content_type="text/html; charset=utf-8",
        block=write_article_document(visit.article),
    )


def _entry_record(
    revised: Revised,
    at: datetime,
    *,
    snapshot: SnapshotRecord | None = None,
    failure: Failure | None = None,
) -> EntryRecord:
    entry = revised.entry
    return EntryRecord(
        at,
        entry.hash_url,
        entry.url,
        entry.annotation,
        revised.revision,
        snapshot,
        failure,
        generation=revised.generation,
        is_link=entry.state is State.LINK and not (snapshot or failure),
    )


def payload_of(exchange: Exchange) -> Iterator[bytes]:
    """Return the payload of an exchange in pieces, without chunk framing."""
    exchange.body.seek(0)
    pieces = iter(partial(exchange.body.read, PIECE), b"")
    return dechunk(pieces) if exchange.chunked else pieces


async def make_capture(exchange: Exchange, record_id: RecordId) -> Capture:
    """Return the capture of an exchange, without location; read a body on disk in a thread."""
    if isinstance(exchange.body, BytesIO):
        return capture_of_exchange(exchange, record_id)
    return await asyncio.to_thread(capture_of_exchange, exchange, record_id)


def capture_of_exchange(exchange: Exchange, record_id: RecordId) -> Capture:
    """Return the capture of an exchange, without location; read its media type from the body."""
    media_type = payload_media_type(exchange.headers, payload_of(exchange))
    exchange.body.seek(0)
    return capture_with(exchange, record_id, media_type)


def capture_with(exchange: Exchange, record_id: RecordId, media_type: str) -> Capture:
    """Return the capture of an exchange whose media type is known, without location."""
    return Capture(
        url=exchange.url,
        timestamp=to_timestamp(exchange.at),
        status=exchange.status,
        media_type=media_type,
        payload_digest=exchange.payload_digest,
        payload_length=exchange.payload_length,
        record_id=record_id,
        location=NOWHERE,
        redirect_to=redirect_target(exchange.url, exchange.status, exchange.headers),
        ip=exchange.ip,
        is_chunked=exchange.chunked,
    )
