"""The archives that ``benchmarks.scale`` asks: a few hundred real pages, and rows for all the rest.

They hold real records for the former, and index rows as the crawl makes them for the latter, which
point at those records.
"""

import asyncio
import random
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from archiver.app import open_app
from archiver.config import Settings
from archiver.crawl.archive import INDEX
from archiver.db import captures, new_entries, search, visit_results
from archiver.db.engine import Database
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, PayloadDigest
from archiver.model.entry import Snapshot
from archiver.model.page import PageMetadata
from archiver.model.seed import RevisedSeed, Seed
from archiver.search.search_document import indexed, page_document
from archiver.warc.records import new_record_id

REAL = 200
BATCH = 5000
PAGEFUL = 50
"""Entries of each host, with the rare word, and with each phrase, at every size: a page is full."""
FIRST_PHRASE, PHRASES = 100, 60
"""Where in each ``rare_every`` entries phrases begin, and how many there are; from 8,000 on."""
APART = 200
"""From the words of those phrases to words that follow each other by chance alone."""
WORDS = [f"word{n}" for n in range(400)]
CHARACTERS = "東京都日本語首相鳥山川田中小大学校生先年月火水木金土"
START = datetime(2015, 1, 1, tzinfo=UTC)


def is_built(folder: Path) -> bool:
    """Whether an archive is there, whole."""
    return _place(folder).exists()


def kept(folder: Path, size: int, base: str, index: str) -> str:
    """Build an archive, unless it is there; return where the server of its real pages was."""
    if not is_built(folder):
        begun = time.perf_counter()
        shutil.rmtree(folder / "data", ignore_errors=True)  # of one that was not built to its end
        asyncio.run(build(folder / "data", size, base, index))
        print(f"{size:,} snapshots built in {time.perf_counter() - begun:.0f} s", flush=True)
        _place(folder).write_text(base, encoding="ascii")
    return _place(folder).read_text(encoding="ascii")


def _place(folder: Path) -> Path:
    return folder / "base"


async def build(data: Path, size: int, base: str, index: str) -> None:
    """Make an archive of so many snapshots."""
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
        held = [await runtime.entries.snapshot(f"{base}/real/{n}") for n in range(REAL)]
    db = await Database.open(index or data / INDEX)
    try:
        for start in range(0, size - REAL, BATCH):
            count = min(BATCH, size - REAL - start)
            await fill(db, range(start, start + count), held, size // PAGEFUL)
        await settle(db)
    finally:
        await db.close()


async def settle(db: Database) -> None:
    """Do what a service does once, beside its answers: full parts of the index in one piece."""
    part: int | None = 0
    while part is not None:
        async with db.write() as conn:
            part = await search.in_pieces(conn)
            if part is not None:
                await search.put_together(conn, part)


def made_up(number: int, hosts: int) -> str:
    """The URL of an entry that was never crawled."""
    return f"https://host{number % hosts}.example/path/{number}"


async def fill(db: Database, numbers: range, held: list, hosts: int) -> None:
    """Index one snapshot for each number, as the crawl does."""
    chance = random.Random(numbers.start)
    urls = [made_up(n, hosts) for n in numbers]
    moments = [START + timedelta(seconds=60 * n) for n in numbers]
    said = [
        Seed(
            hash_url(url),
            url,
            host(url),
            Annotation(url, at, f"Title {n} of things", tags_of(n, hosts)),
        )
        for n, url, at in zip(numbers, urls, moments, strict=True)
    ]
    real = [held[n % REAL].snapshot.capture for n in numbers]
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
        ids = await new_entries.restore(conn, [RevisedSeed(each, 0) for each in said])
        rows = await captures.insert_all(conn, fresh)
        made = [
            snapshot(seed, capture, held[n % REAL].snapshot, words(n, chance, hosts), at)
            for n, seed, capture, at in zip(numbers, said, fresh, moments, strict=True)
        ]
        for each, seed, capture in zip(made, said, fresh, strict=True):
            each["entry_id"], each["capture_id"] = ids[seed.hash_url], rows[capture.record_id]
        await visit_results.add_snapshots(
            conn, [visit_results.NewSnapshot(**each) for each in made]
        )


def snapshot(
    seed: Seed, capture: Capture, real: Snapshot, said: str, at: datetime
) -> dict[str, object]:
    """The fields of a snapshot's row but for what it points to; its records are a real one's."""
    found_by = page_document(
        seed.annotation,
        PageMetadata(),
        url=seed.url,
        host=seed.host,
        media_type="text/html",
        words=indexed(said),
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
        "found_by": found_by,
    }


def words(number: int, chance: random.Random, rare_every: int) -> str:
    """A text: some words at random, one in every text, and one in a pageful of them.

    Of the phrases that are asked for each stands in a pageful more than chance has it.
    """
    rare = " unicorn" if number % rare_every == 7 else ""
    phrase = number % rare_every - FIRST_PHRASE
    said = f" word{phrase} word{phrase + 1}" if 0 <= phrase < PHRASES else ""
    japanese = "".join(chance.choices(CHARACTERS, k=30)) if number % 3 == 0 else ""
    return " ".join(chance.choices(WORDS, k=60)) + said + " common" + rare + japanese


def tags_of(number: int, rare_every: int) -> tuple[str, ...]:
    """One tag of fifty, and one that a pageful have."""
    return (f"tag{number % 50}", *(("seldom",) if number % rare_every == 5 else ()))
