"""What comes to the recorder, and which records a batch of it becomes: pure."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from archiver.errors import StoreError
from archiver.ledger import records
from archiver.ledger.originals import Originals
from archiver.ledger.visit_result import VisitResult
from archiver.logs import get_log
from archiver.model.capture import Capture
from archiver.model.exchange import Exchange
from archiver.model.failure import Failure, FailureKind

UNWRITABLE = Failure(
    FailureKind.INTERNAL, "What this page says can't be written down here; the log says why."
)

log = get_log(__name__)


@dataclass(slots=True)
class Item:
    """One thing on its way to disk; ``weight`` is the memory it holds until then, in bytes."""

    thing: "Kept | VisitResult | Note | Owed | Nothing"
    weight: int
    done: asyncio.Future[VisitResult | None] | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """An exchange, and the capture that it is, still without a place."""

    exchange: Exchange
    capture: Capture


@dataclass(frozen=True, slots=True)
class Note:
    """An entry whose own data changed without a visit."""

    entry_id: int


@dataclass(frozen=True, slots=True)
class Owed:
    """A record of a deletion or of lists: its row among those that are owed, and its JSON."""

    row_id: int
    document: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing: who waits for it waits for all before it.

    ``ends_segment``: what comes after goes to another segment.
    """

    ends_segment: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What the index says that a batch needs to know before its records are made."""

    originals: Originals
    facts: dict[int, records.EntryFacts]


def plan_all(batch: Sequence[Item], known: Known) -> records.Plan:
    """The records of a batch.

    A visit that can't be written down becomes a failure: given back, it would keep thousands of
    others from the archive again and again.
    """
    plan = records.Plan()
    for item in batch:
        try:
            _plan(plan, item, known)
        except Exception:
            if not isinstance(item.thing, VisitResult) or item.thing.visit is None:
                raise
            log.exception("visit can't be written down", url=item.thing.entry.url)
            item.thing = replace(item.thing, visit=None, failure=UNWRITABLE)
            _plan(plan, item, known)
    return plan


def _plan(plan: records.Plan, item: Item, known: Known) -> None:
    thing = item.thing
    if isinstance(thing, Kept):
        records.plan_exchange(plan, thing.exchange, thing.capture, known.originals)
    elif isinstance(thing, Owed):
        records.plan_owed(plan, json.loads(thing.document))
    elif (facts := known.facts.get(entry_id_of(thing) or 0)) is None:
        return  # nothing, or the entry was thrown away meanwhile
    elif isinstance(thing, Note):
        records.plan_note(plan, facts)
    elif isinstance(thing, VisitResult) and thing.retry_at is None:
        records.plan_visit_result(plan, thing, facts)


def entry_id_of(thing: "Kept | VisitResult | Note | Owed | Nothing") -> int | None:
    """The row of the entry that a thing is of, if it is of one."""
    if isinstance(thing, Kept | Owed | Nothing):
        return None
    return thing.entry_id if isinstance(thing, Note) else thing.entry.id


def settle(batch: Sequence[Item], error: StoreError | None) -> None:
    """Tell whoever waits for something of a batch how it ended."""
    for item in batch:
        if item.done is None or item.done.done():
            continue
        if error is None:
            item.done.set_result(item.thing if isinstance(item.thing, VisitResult) else None)
        else:
            item.done.set_exception(error)
