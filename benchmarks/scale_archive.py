"""Archives for ``benchmarks.scale``: a few hundred real pages, and index rows for all others.

The rows are like those of a crawl, and point to the records of the real pages.
"""

import asyncio
import random
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from archiver.app import open_app
from archiver.config import INDEX, Settings
from archiver.db import captures, new_entries, visit_results
from archiver.db.engine import Database
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, PayloadDigest
from archiver.model.entry import Snapshot
from archiver.model.page import PageMetadata
from archiver.model.seed import RevisedSeed, Seed
from archiver.search.search_document import index_words, page_document
from archiver.warc.records import new_record_id

REAL = 200
BATCH = 5000
PAGEFUL = 50
"""Number of entries per host, with the rare word, and with each phrase: a full page."""
FIRST_PHRASE, PHRASES = 100, 60
"""Of each ``rare_every`` entries: the first one with a phrase, and how many have phrases.

Archives of fewer than 8,000 entries have no phrases.
"""
APART = 200
"""Distance from the words of the phrases to words that are adjacent only by chance."""
WORDS = [f"word{n}" for n in range(400)]
CHARACTERS = "東京都日本語首相鳥山川田中小大学校生先年月火水木金土"
START = datetime(2015, 1, 1, tzinfo=UTC)


def is_built(folder: Path) -> bool:
    """Return whether a complete archive exists."""
    return _place(folder).exists()


def kept(folder: Path, size: int, base: str, index: str) -> str:
    """Build an archive if necessary; return the URL of the server of its real pages."""
    if not is_built(folder):
        started = time.perf_counter()
        shutil.rmtree(folder / "data", ignore_errors=True)  # an incomplete build
        asyncio.run(build(folder / "data", size, base, index))
        print(f"{size:,} snapshots built in {time.perf_counter() - started:.0f} s", flush=True)
        _place(folder).write_text(base, encoding="ascii")
    return _place(folder).read_text(encoding="ascii")


def _place(folder: Path) -> Path:
    return folder / "base"


async def build(data: Path, size: int, base: str, index: str) -> None:
    """Create an archive with ``size`` snapshots."""
    settings = Settings(
        data=data,
        index=index or None,
        allow_networks="127.0.0.0/8",
        host_delay=0,
        host_concurrency=100,
        concurrency=100,
    )
    async with open_app(settings) as runtime:
        await runtime.entries.save([f"{base}/real/{n}" for n in range(REAL)], source="bench")
        await runtime.crawling.work()
        snapshots = [await runtime.entries.snapshot(f"{base}/real/{n}") for n in range(REAL)]
    db = await Database.open(index or data / INDEX)
    try:
        for start in range(0, size - REAL, BATCH):
            count = min(BATCH, size - REAL - start)
            await fill(db, range(start, start + count), snapshots, size // PAGEFUL)
        if index:  # as PostgreSQL does in the background
            async with db.write() as conn:
                await conn.exec_driver_sql("ANALYZE")
    finally:
        await db.close()


def generated_url(number: int, hosts: int) -> str:
    """Return the URL of an entry that was never crawled."""
    return f"https://host{number % hosts}.example/path/{number}"


async def fill(db: Database, numbers: range, snapshots: list, hosts: int) -> None:
    """Index one snapshot for each number, as a crawl does."""
    chance = random.Random(numbers.start)
    urls = [generated_url(n, hosts) for n in numbers]
    moments = [START + timedelta(seconds=60 * n) for n in numbers]
    seeds = [
        Seed(
            hash_url(url),
            url,
            host(url),
            Annotation(url, at, f"Title {n} of things", tags_of(n, hosts)),
        )
        for n, url, at in zip(numbers, urls, moments, strict=True)
    ]
    real = [snapshots[n % REAL].snapshot.capture for n in numbers]
    fresh = [
        replace(
            capture,
            url=url,
            timestamp=to_timestamp(at),
            record_id=new_record_id(),
            payload_digest=PayloadDigest(f"sha256:{n:064x}"),
            location=replace(capture.location, offset=(1 << 40) + n),
        )
        for n, url, at, capture in zip(numbers, urls, moments, real, strict=True)
    ]
    async with db.write() as conn:
        ids = await new_entries.restore(conn, [RevisedSeed(each, 0) for each in seeds])
        rows = await captures.insert_all(conn, fresh)
        new_rows = [
            snapshot(seed, capture, snapshots[n % REAL].snapshot, words(n, chance, hosts), at)
            for n, seed, capture, at in zip(numbers, seeds, fresh, moments, strict=True)
        ]
        for each, seed, capture in zip(new_rows, seeds, fresh, strict=True):
            each["entry_id"], each["capture_id"] = ids[seed.hash_url], rows[capture.record_id]
        await visit_results.add_snapshots(
            conn, [visit_results.NewSnapshot(**each) for each in new_rows]
        )


def snapshot(
    seed: Seed, capture: Capture, real: Snapshot, text: str, at: datetime
) -> dict[str, object]:
    """Return the fields of a snapshot's row without references; its records are real."""
    search_document = page_document(
        seed.annotation,
        PageMetadata(),
        urls=[seed.url],
        host=seed.host,
        media_type="text/html",
        words=index_words(text),
        revision=0,
    )
    return {
        "timestamp": capture.timestamp,
        "at": at,
        "final_url": capture.url,
        "status": 200,
        "media_type": "text/plain",
        "metadata": PageMetadata(title=seed.annotation.title),
        "requisite_count": 0,
        "missing_count": 0,
        "article": real.article,
        "extractor": "1",
        "record": real.capture.location,
        "search_document": search_document,
    }


def words(number: int, chance: random.Random, rare_every: int) -> str:
    """Return a text of random words, with the common word, and in some entries the rare word.

    ``PAGEFUL`` entries have the rare word. As many have each phrase, in addition to chance matches.
    """
    rare = " unicorn" if number % rare_every == 7 else ""
    phrase = number % rare_every - FIRST_PHRASE
    pair = f" word{phrase} word{phrase + 1}" if 0 <= phrase < PHRASES else ""
    japanese = "".join(chance.choices(CHARACTERS, k=30)) if number % 3 == 0 else ""
    return " ".join(chance.choices(WORDS, k=60)) + pair + " common" + rare + japanese


def tags_of(number: int, rare_every: int) -> tuple[str, ...]:
    """Return one of fifty tags, and for ``PAGEFUL`` entries a rare tag."""
    return (f"tag{number % 50}", *(("seldom",) if number % rare_every == 5 else ()))
