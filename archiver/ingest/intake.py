"""Takes captures of other archives into this one: records, rows, and a snapshot for each page.

The same recorder writes them as a crawl's, so the archive stays its own and only truth: payloads
that are here already become revisits, a read article is a record, and a killed import leaves
nothing half done. Nothing is asked of the network.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch_or_recall import read_back
from archiver.derive.pool import Document
from archiver.index import captures, seeds, snapshots
from archiver.index.database import AsyncConnection
from archiver.ingest.exchanges import ForeignCapture, mark_of
from archiver.ledger.visit_result import Visit, VisitResult
from archiver.memento.timestamps import to_datetime, to_timestamp
from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, CaptureRef, RecordId, Timestamp
from archiver.model.entry_ref import EntryRef
from archiver.model.failure import Failure, FailureKind
from archiver.model.requisite import Requisite, RequisiteOutcome
from archiver.model.seed import Seed
from archiver.urls.parse import hash_url, host

REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class ForeignPage:
    """A page of another archive.

    Attributes:
        url: what was asked for.
        timestamp: when.
        record_id: of its final response's record, where that is known.
        seed: what a person said of it.
        requisites: what became of each, where that is known.
    """

    url: str
    timestamp: Timestamp
    seed: Seed
    record_id: RecordId | None = None
    final_url: str = ""
    requisites: tuple[RequisiteOutcome, ...] | None = None


class Intake:
    """Takes captures and pages in. ``tools`` has a recorder that runs and is nobody else's."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._lately: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    async def captures(self, found: Sequence[ForeignCapture]) -> tuple[int, int]:
        """Take some captures in; how many are new, and how many lack what they refer to."""
        here = await self._here(found)
        taken = orphans = 0
        for each in found:
            whole = await self._with_payload(each) if each.original else each
            if whole is None:
                orphans += 1
                continue
            mark = mark_of(whole.exchange)
            if mark in here or mark in self._lately:
                whole.exchange.body.close()
                continue
            await self._context.recorder.keep(whole.exchange, record_id=whole.record_id)
            self._remember(mark)
            taken += 1
        return taken, orphans

    async def page(self, page: ForeignPage) -> asyncio.Future[VisitResult | None] | None:
        """Make a snapshot of a page; None if it is here already, or its capture is not."""
        async with self._context.db.read() as conn:
            found = await _final_capture(conn, page)
        if found is None:
            return None
        async with self._context.db.write() as conn:
            entry_id = (await seeds.ensure(conn, [page.seed]))[page.seed.hash_url]
            held, _ = await snapshots.around(conn, entry_id, page.timestamp)
        if held and held.snapshot.timestamp == page.timestamp:
            return None
        return await self._context.recorder.end(await self._visit_result(page, found, entry_id))

    async def _visit_result(self, page: ForeignPage, found: Capture, entry_id: int) -> VisitResult:
        obtained = await read_back(self._context, found)
        document = Document(
            payload=obtained.content if obtained else b"",
            media_type=obtained.media_type if obtained else found.media_type,
            charset=obtained.charset if obtained else "",
            url=found.url,
        )
        needs = await self._context.derive.discover(document)
        outcomes = page.requisites
        if outcomes is None:
            outcomes = await self._outcomes(needs.requisites, page.timestamp)
        moment = to_datetime(page.timestamp)
        entry = EntryRef(entry_id, page.seed.hash_url, page.url, page.seed.host)
        visit = Visit(
            timestamp=page.timestamp,
            at=moment,
            page=CaptureRef.of(found),
            article=await self._context.derive.extract(document),
            requisites=outcomes,
            charset=needs.charset,
        )
        return VisitResult(entry, moment, visit=visit)

    async def _outcomes(
        self, wanted: Sequence[Requisite], timestamp: Timestamp
    ) -> tuple[RequisiteOutcome, ...]:
        """What the archive has of what a page needs."""
        missing = Failure(FailureKind.NOT_IN_FILE, "The imported file does not hold it.")
        outcomes = []
        async with self._context.db.read() as conn:
            for each in wanted:
                found = await captures.nearest(conn, each.url, timestamp)
                outcomes.append(
                    RequisiteOutcome(each.url, each.kind, found.status)
                    if found
                    else RequisiteOutcome(each.url, each.kind, failure=missing)
                )
        return tuple(outcomes)

    async def _here(self, found: Sequence[ForeignCapture]) -> set[tuple[str, str, str]]:
        """Which of these are in the archive already."""
        moments = [to_timestamp(each.exchange.at) for each in found]
        async with self._context.db.read() as conn:
            rows = await captures.at_moments(conn, [each.exchange.url for each in found], moments)
        return {(each.url, each.timestamp, each.payload_digest) for each in rows}

    async def _with_payload(self, revisit: ForeignCapture) -> ForeignCapture | None:
        """A revisit with the digest and length of the payload it refers to, as they are here."""
        url, moment = revisit.original or ("", None)
        timestamp = to_timestamp(moment or revisit.exchange.at)
        original = None
        for attempt in range(2):
            async with self._context.db.read() as conn:
                original = await captures.nearest(conn, url, timestamp, exact_only=True)
            if original and (moment is None or original.timestamp == timestamp):
                break
            original = None
            if not attempt:
                await self._context.recorder.drain()  # it may be on its way
        if original is None:
            return None
        exchange = replace(
            revisit.exchange,
            payload_digest=original.payload_digest,
            payload_length=original.payload_length,
        )
        return replace(revisit, exchange=exchange)

    def _remember(self, mark: tuple[str, str, str]) -> None:
        self._lately[mark] = None
        while len(self._lately) > REMEMBERED:
            self._lately.popitem(last=False)


async def _final_capture(conn: AsyncConnection, page: ForeignPage) -> Capture | None:
    """The final response of a page: the record it names, else what its URL leads to then."""
    if page.record_id:
        named = (page.final_url or page.url, page.record_id)
        for _, held in (await captures.of_records(conn, [named])).get(named, ()):
            return held
    url: str | None = page.url
    found = None
    for _ in range(10):
        if url is None:
            break
        found = await captures.nearest(conn, url, page.timestamp) or found
        url = found.redirect_to if found else None
    return found


def bare_seed(url: str, timestamp: Timestamp, *, title: str = "", source: str) -> Seed:
    """What is known of a page that nobody said anything of."""
    annotation = Annotation(url, to_datetime(timestamp), title=title, source=source)
    return Seed(hash_url(url), url, host(url), annotation)
