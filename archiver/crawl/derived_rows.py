"""Search documents, comparisons and scores computed from stored records.

If the note or tags of an entry change, its search document is rebuilt with a new id. After an
update of the index format, all documents are rebuilt with the ids that they had, newest first. Each
batch is one transaction, so an interrupted run continues after the last batch.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from archiver.crawl.stored_content import article_text
from archiver.db import attempts, entries, search_documents, snapshots
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Revised
from archiver.db.search_documents import NewDocument, PendingDocument
from archiver.db.snapshots import SnapshotRow
from archiver.errors import StoreError
from archiver.logs import get_log
from archiver.model.listing import MAX_EARLIER, SearchDocument
from archiver.search.search_document import index_words, link_document, page_document
from archiver.warc.segments import SegmentStore

DOCUMENTS_BATCH = 250
MAX_EARLIER_WORDS = 50_000
"""Maximum number of words from earlier snapshots that the document of an entry contains."""

log = get_log(__name__)


async def rebuild_stale(db: Database, store: SegmentStore) -> int:
    """Rebuild a batch of outdated documents; return the number of documents."""
    async with db.read() as conn:
        stale = await search_documents.stale(conn, limit=DOCUMENTS_BATCH)
        if not stale:
            return 0
        documents = await _new_documents(conn, store, stale)
    async with db.write() as conn:
        existing = await entries.existing_rows(conn, [each.entry_id for each in stale])
        snapshot_rows = await snapshots.existing_rows(
            conn, [each.snapshot_id or 0 for each in stale]
        )
        rows = [
            NewDocument(each.entry_id, each.snapshot_id, search_document)
            for each, search_document in documents
            if each.entry_id in existing
            and (each.snapshot_id is None or each.snapshot_id in snapshot_rows)
        ]
        await attempts.link_documents(conn, await search_documents.insert_all(conn, rows))
    return len(stale)


async def _new_documents(
    conn: AsyncConnection, store: SegmentStore, pending: Sequence[PendingDocument]
) -> list[tuple[PendingDocument, SearchDocument]]:
    ids = [each.entry_id for each in pending]
    revised = await entries.with_revisions(conn, ids)
    latest = await snapshots.latest_of(conn, ids)
    rows = {number: [each] for number, each in latest.items()}
    for number in rows:
        if revised[number].entry.snapshot_count > 1:
            rows[number] = await snapshots.of_entry(conn, number, limit=1 + MAX_EARLIER)
    return await asyncio.to_thread(
        lambda: [
            (each, _document_of(store, revised[each.entry_id], rows.get(each.entry_id, [])))
            for each in pending
        ]
    )


def _document_of(
    store: SegmentStore, revised: Revised, rows: Sequence[SnapshotRow]
) -> SearchDocument:
    entry = revised.entry
    if not rows:
        return link_document(
            entry.annotation, url=entry.url, host=entry.host, revision=revised.revision
        )
    snapshot = rows[0].snapshot
    texts = [_text(store, each) for each in _differing(rows)]
    search_document = page_document(
        entry.annotation,
        snapshot.metadata,
        urls=(entry.url, snapshot.final_url),
        host=entry.host,
        media_type=snapshot.capture.media_type,
        words=index_words(texts[0]),
        revision=revised.revision,
    )
    earlier_words = index_words(_removed_paragraphs(texts)).split()[:MAX_EARLIER_WORDS]
    return (
        replace(search_document, text=" ".join((search_document.text, *earlier_words)))
        if earlier_words
        else search_document
    )


def _differing(rows: Sequence[SnapshotRow]) -> Iterator[SnapshotRow]:
    """Yield the newest snapshot, and each earlier one whose article no newer snapshot has."""
    seen = set()
    for n, each in enumerate(rows):
        if n == 0 or each.snapshot.article not in seen:
            yield each
        seen.add(each.snapshot.article)


def _removed_paragraphs(texts: Sequence[str]) -> str:
    """Return the paragraphs of earlier texts that no later text contains."""
    paragraphs = set(texts[0].split("\n"))
    lines = []
    for text in texts[1:]:
        for line in text.split("\n"):
            if line not in paragraphs:
                paragraphs.add(line)
                lines.append(line)
    return "\n".join(lines)


def _text(store: SegmentStore, row: SnapshotRow) -> str:
    """Return the text of a snapshot's article; empty if there is none or it can't be read."""
    article = row.snapshot.article
    try:
        return article_text(store.read, article) if article else ""
    except StoreError as error:
        log.warning(
            "Cannot read an article, so its text is not searched or compared. "
            "Run `archiver verify` for details.",
            url=row.snapshot.url,
            reason=str(error),
        )
        return ""


COMPARISONS_BATCH = 50


async def compare_pending(db: Database, store: SegmentStore) -> int:
    """Compare the two newest articles of each entry in a batch; return the number of entries."""
    async with db.read() as conn:
        ids = await snapshots.pending_comparisons(conn, limit=COMPARISONS_BATCH)
        rows = {each: await snapshots.of_entry(conn, each, limit=2) for each in ids}
    if ids:
        comparisons = [
            (
                number,
                int(each[0].snapshot.timestamp) if each else 0,
                await asyncio.to_thread(_hundredths, store, each),
            )
            for number, each in rows.items()
        ]
        async with db.write() as conn:
            await snapshots.store_comparisons(conn, comparisons)
    return len(ids)


def _hundredths(store: SegmentStore, rows: Sequence[SnapshotRow]) -> int:
    """Return the percentage of words by which the newest article differs from the previous one.

    It is 0 if one of the articles was not extracted.
    """
    if len(rows) < 2 or rows[0].snapshot.article == rows[1].snapshot.article:
        return 0
    if not all(each.snapshot.extractor for each in rows):
        return 0
    from archiver.pages.text_comparison import compare

    change = compare(_text(store, rows[1]), _text(store, rows[0]))
    differing = max(change.added_words, change.removed_words)
    return min(ceil(100 * differing / change.words), 100) if change.words else 0
