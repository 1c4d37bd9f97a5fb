"""Makes documents of the search index again, from what is stored: nothing is fetched.

Two are: those whose entry's note or tags have changed since, which get a new one; and those that
an older version of the index had, newest first, which keep their number. Each stretch is one
transaction, so whoever is killed goes on where the last one ended.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from archiver.errors import StoreError
from archiver.index import documents, entries, failed_attempts, snapshots
from archiver.index.database import AsyncConnection, Database
from archiver.index.documents import NewDocument, OwedDocument
from archiver.index.entries import Revised
from archiver.index.snapshots import Held
from archiver.ledger.article_text import article_text
from archiver.logs import get_log
from archiver.model.findable import MOST_EARLIER, Findable
from archiver.query.findable import findable, indexed, unvisited
from archiver.store.segments import SegmentStore

STRETCH = 250
MOST_EARLIER_WORDS = 50_000
"""Words of earlier snapshots that are found."""

log = get_log(__name__)


async def remake_stale(db: Database, store: SegmentStore) -> int:
    """Make some documents that are out of date anew; how many."""
    async with db.read() as conn:
        found = await documents.stale(conn, limit=STRETCH)
        if not found:
            return 0
        made = await _made(conn, store, found)
    async with db.write() as conn:
        there = await entries.still_there(conn, [each.entry_id for each in found])
        known = await snapshots.still_there(conn, [each.snapshot_id or 0 for each in found])
        rows = [
            NewDocument(each.entry_id, each.snapshot_id, found_by)
            for each, found_by in made
            if each.entry_id in there and (each.snapshot_id is None or each.snapshot_id in known)
        ]
        await failed_attempts.point_to_documents(conn, await documents.insert_all(conn, rows))
    return len(found)


async def repay_owed(db: Database, store: SegmentStore) -> bool:
    """Put some documents that the index lacks into it; whether there may be more."""
    async with db.read() as conn:
        before = await documents.owed_below(conn)
        if before is None:
            return False
        found, below = await documents.owed(conn, before, limit=STRETCH)
        made = await _made(conn, store, found)
    async with db.write() as conn:
        await documents.repay(conn, made, before=before, below=below)
    return below > 0


async def _made(
    conn: AsyncConnection, store: SegmentStore, found: Sequence[OwedDocument]
) -> list[tuple[OwedDocument, Findable]]:
    ids = [each.entry_id for each in found]
    known = await entries.with_revisions(conn, ids)
    latest = await snapshots.latest_of(conn, ids)
    held = {number: [each] for number, each in latest.items()}
    for number in held:
        if known[number].entry.snapshot_count > 1:
            held[number] = await snapshots.of_entry(conn, number, limit=1 + MOST_EARLIER)
    return await asyncio.to_thread(
        lambda: [
            (each, _found_by(store, known[each.entry_id], held.get(each.entry_id, [])))
            for each in found
        ]
    )


def _found_by(store: SegmentStore, known: Revised, held: Sequence[Held]) -> Findable:
    entry = known.entry
    if not held:
        return unvisited(entry.annotation, url=entry.url, host=entry.host, revision=known.revision)
    kept = held[0].snapshot
    texts = [_text(store, each) for each in _differing(held)]
    found_by = findable(
        entry.annotation,
        kept.metadata,
        url=entry.url,
        host=entry.host,
        media_type=kept.capture.media_type,
        words=indexed(texts[0]),
        revision=known.revision,
    )
    went = indexed(_what_went(texts)).split()[:MOST_EARLIER_WORDS]
    return replace(found_by, text=" ".join((found_by.text, *went))) if went else found_by


def _differing(held: Sequence[Held]) -> Iterator[Held]:
    """The newest snapshot, and those before it that have an article of their own."""
    seen = set()
    for n, each in enumerate(held):
        if n == 0 or each.snapshot.article not in seen:
            yield each
        seen.add(each.snapshot.article)


def _what_went(texts: Sequence[str]) -> str:
    """The paragraphs of earlier texts that no later one has."""
    seen = set(texts[0].split("\n"))
    lines = []
    for text in texts[1:]:
        for line in text.split("\n"):
            if line not in seen:
                seen.add(line)
                lines.append(line)
    return "\n".join(lines)


def _text(store: SegmentStore, held: Held) -> str:
    article = held.snapshot.article
    try:
        return article_text(store.read, article) if article else ""
    except StoreError as error:
        log.warning(
            "its article can't be read, so its text can't be searched; `archiver verify` says more",
            url=held.snapshot.url,
            reason=str(error),
        )
        return ""
