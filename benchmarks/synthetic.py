"""Fills an index with generated pages, like a crawl."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from archiver.db import captures, new_entries, segment_rows, visit_results
from archiver.db.engine import Database
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId
from archiver.model.page import PageMetadata
from archiver.model.seed import RevisedSeed, Seed
from archiver.search.search_document import index_words, page_document

SEGMENT = "archiver-20200101000000-0123456789ab-00001.warc.gz"


@dataclass(frozen=True, slots=True)
class Page:
    """A generated page; its name is its path."""

    name: str
    title: str
    text: str
    tags: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    host: str = "pages.example"


async def fill(
    database: Database,
    pages: Sequence[Page],
    start: datetime,
    interval: timedelta,
    *,
    first: int = 0,
) -> list[str]:
    """Index pages in order; return their URLs.

    Args:
        database: index to fill.
        pages: pages in the order of capture.
        start: time of the first capture.
        interval: time between captures.
        first: number of the first page, if others exist already.
    """
    urls = [f"https://{page.host}/{page.name}" for page in pages]
    moments = [start + interval * n for n in range(len(pages))]
    annotations = [
        Annotation(url, at, tags=page.tags, folders=page.folders)
        for url, at, page in zip(urls, moments, pages, strict=True)
    ]
    new_rows = [
        _capture(url, at, first + n) for n, (url, at) in enumerate(zip(urls, moments, strict=True))
    ]
    async with database.write() as conn:
        await segment_rows.set_indexed_with_ids(conn, {SEGMENT: first + len(pages)})
        ids = await new_entries.restore(
            conn,
            [
                RevisedSeed(Seed(hash_url(url), url, host(url), each), 0)
                for url, each in zip(urls, annotations, strict=True)
            ],
        )
        rows = await captures.insert_all(conn, new_rows)
        await visit_results.add_snapshots(
            conn,
            [
                _snapshot(page, each, at, capture, ids[hash_url(capture.url)], rows)
                for page, each, at, capture in zip(
                    pages, annotations, moments, new_rows, strict=True
                )
            ],
        )
    return urls


def _capture(url: str, at: datetime, number: int) -> Capture:
    return Capture(
        url=url,
        timestamp=to_timestamp(at),
        status=200,
        media_type="text/html",
        payload_digest=PayloadDigest(f"sha256:{number:064x}"),
        payload_length=1000,
        record_id=RecordId(f"urn:uuid:{number}"),
        location=Location(SEGMENT, number * 1000, 1000),
    )


def _snapshot(
    page: Page,
    annotation: Annotation,
    at: datetime,
    capture: Capture,
    entry_id: int,
    rows: dict[RecordId, int],
) -> visit_results.NewSnapshot:
    metadata = PageMetadata(title=page.title)
    return visit_results.NewSnapshot(
        entry_id=entry_id,
        timestamp=capture.timestamp,
        at=at,
        capture_id=rows[capture.record_id],
        final_url=capture.url,
        status=200,
        media_type=capture.media_type,
        metadata=metadata,
        requisite_count=0,
        missing_count=0,
        article=None,
        extractor="1",
        record=capture.location,
        search_document=page_document(
            annotation,
            metadata,
            urls=[capture.url],
            host=page.host,
            media_type=capture.media_type,
            words=index_words(page.text),
            revision=0,
        ),
    )
