"""Takes captures of other archives into this one, each once.

The same recorder writes them as a crawl's, so the archive stays its own and only truth: payloads
that are here already become revisits, and a killed import leaves nothing half done. A record keeps
its id unless another has it.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from archiver.crawl.context import CrawlContext
from archiver.index import captures, import_lookups
from archiver.ingest.exchanges import ForeignCapture
from archiver.ledger.records import capture_of
from archiver.memento.timestamps import to_timestamp
from archiver.model.capture import Capture, PayloadDigest, RecordId
from archiver.model.exchange import Exchange
from archiver.warc.extension import ORIGINAL_ID, one_line
from archiver.warc.record import new_record_id

REMEMBERED = 20_000
"""Captures and ids that are on their way to the index: the recorder holds fewer."""
_Mark = tuple[str, str, PayloadDigest, int, str | None]
_Key = TypeVar("_Key")


class Intake:
    """Takes captures in. ``context`` has a recorder that runs and is nobody else's."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._marks: OrderedDict[_Mark, None] = OrderedDict()
        self._ids: OrderedDict[RecordId, None] = OrderedDict()

    async def captures(self, found: Sequence[ForeignCapture]) -> int:
        """Take some captures in; how many are new here. Their bodies are closed."""
        here = await self._here(found)
        fresh = []
        for each in found:
            mark = _mark_of(each.exchange)
            if mark in here or mark in self._marks:
                each.exchange.body.close()
                continue
            _remember(self._marks, mark)
            fresh.append(each)
        taken = await self._look_up(found, fresh)
        for each in fresh:
            exchange, record_id = self._identified(each, taken)
            await self._context.recorder.keep(exchange, capture_of(exchange, record_id))
        return len(fresh)

    async def _here(self, found: Sequence[ForeignCapture]) -> set[_Mark]:
        """Which of these are in the archive already."""
        urls = [each.exchange.url for each in found]
        moments = [to_timestamp(each.exchange.at) for each in found]
        async with self._context.db.read() as conn:
            rows = await captures.at_moments(conn, urls, moments)
        return {_mark(each) for each in rows}

    async def _look_up(
        self, found: Sequence[ForeignCapture], fresh: Sequence[ForeignCapture]
    ) -> set[RecordId]:
        """Note by which digests payloads are known elsewhere; return which ids are taken here."""
        stated = {
            each.stated_digest: each.exchange.payload_digest for each in found if each.stated_digest
        }
        ids = [record_id for each in fresh if (record_id := _uuid(each.given_id))]
        async with self._context.db.write() as conn:
            await import_lookups.note_stated_digests(conn, stated)
            is_more = await import_lookups.note_record_ids(conn)
        while is_more:
            async with self._context.db.write() as conn:
                is_more = await import_lookups.note_record_ids(conn)
        async with self._context.db.read() as conn:
            return await import_lookups.taken(conn, ids)

    def _identified(
        self, capture: ForeignCapture, taken: set[RecordId]
    ) -> tuple[Exchange, RecordId]:
        """A capture with its record's id: its own where it is a UUID and nobody else has it."""
        exchange, record_id = capture.exchange, _uuid(capture.given_id)
        if record_id is None or record_id in taken or record_id in self._ids:
            record_id = new_record_id()
            if capture.given_id:
                field = ORIGINAL_ID, f"<{one_line(capture.given_id)}>"
                exchange = replace(exchange, fields=(field, *exchange.fields))
        _remember(self._ids, record_id)
        return exchange, record_id


def _mark_of(exchange: Exchange) -> _Mark:
    return _mark(capture_of(exchange, RecordId("")))


def _mark(capture: Capture) -> _Mark:
    """What tells a capture from others."""
    return (
        capture.url,
        capture.timestamp,
        capture.payload_digest,
        capture.status,
        capture.redirect_to,
    )


def _uuid(given: str) -> RecordId | None:
    try:
        return RecordId(f"urn:uuid:{UUID(given.removeprefix('urn:uuid:'))}")
    except ValueError:
        return None


def _remember(lately: OrderedDict[_Key, None], key: _Key) -> None:
    lately[key] = None
    while len(lately) > REMEMBERED:
        lately.popitem(last=False)
