"""Builds archives of growing size and prints how long the service takes to answer in each.

Usage: python -m benchmarks.scale [--sizes 10000 100000 1000000] [--requests 60] [--cpu]
       [--in FOLDER] [--only TEXT]
       .ci/with-postgres python -m benchmarks.scale --postgres [--sizes …] [--cpu] [--only TEXT]

The archives are synthetic: real records for a few hundred pages, and index rows as the crawl makes
them for all the rest, which point at those records. Each is served by ``archiver serve`` and asked
over one kept connection, one after the other, so that all meet the same minutes of the machine;
the times are those of whole answers. The last column compares p95 in the largest with the smallest.
With ``--cpu`` they are what the service computed for each answer: hardly another whatever else the
machine does, without what it waits for the disk. With ``--in`` archives
stay in that folder, and those that are there are asked again; ``--only`` asks for the rows whose
names hold a text. With ``--postgres`` indices are databases of a server, whose computing counts.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from urllib.parse import quote

import aiohttp
import psutil
from yarl import URL

from archiver.archive import INDEX
from archiver.config import Settings
from archiver.index import captures, recording, search_parts, seeds
from archiver.index.database import Database
from archiver.memento.timestamps import to_timestamp
from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, PayloadDigest
from archiver.model.entry import Snapshot
from archiver.model.page import PageMetadata
from archiver.model.seed import RevisedSeed, Seed
from archiver.query.findable import findable, indexed
from archiver.runtime import open_runtime
from archiver.urls.parse import hash_url, host
from archiver.warc.record import new_record_id
from benchmarks.cluster import database, postmaster
from benchmarks.fast_server import FastServer
from benchmarks.pywb_replay import free_port, serving

REAL = 200
BATCH = 5000
ADDED = "add one more"
PAGEFUL = 50
"""Entries of each host, with the rare word, and with each phrase, at every size: a page is full."""
FIRST_PHRASE, PHRASES = 100, 60
"""Where in each ``rare_every`` entries phrases begin, and how many there are; from 8,000 on."""
APART = 200
"""From the words of those phrases to words that follow each other by chance alone."""
WORDS = [f"word{n}" for n in range(400)]
CHARACTERS = "東京都日本語首相鳥山川田中小大学校生先年月火水木金土"
START = datetime(2015, 1, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--in", dest="folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    if options.postgres and options.folder:
        parser.error("What is in a server does not stay.")
    with ExitStack() as stack:
        live = stack.enter_context(FastServer(body=2000)).base
        services = {
            size: stack.enter_context(served(size, live, options)) for size in options.sizes
        }
        asyncio.run(ask(services, options.requests))


@dataclass(frozen=True)
class Service:
    """An archive that is served: where, what its time is told by, and what it is asked for."""

    root: str
    clock: Callable[[], float]
    asked: Mapping[str, Callable[[int], str]]


@contextmanager
def served(size: int, live: str, options: argparse.Namespace) -> Iterator[Service]:
    """Serve an archive of so many snapshots, which is built unless it is there."""
    indices = database(f"of_{size}") if options.postgres else nullcontext("")
    with tempfile.TemporaryDirectory() as directory, indices as index:
        built = (options.folder or Path(directory)) / str(size)
        base = kept(built, size, live, index)
        with serving_in(built / "data", index, cpu=options.cpu) as (root, clock):
            yield Service(root, clock, asked_for(size, base, live, options.only))


def kept(folder: Path, size: int, base: str, index: str) -> str:
    """Build an archive, unless it is there; return where the server of its real pages was."""
    known = folder / "base"
    if not known.exists():
        begun = time.perf_counter()
        asyncio.run(build(folder / "data", size, base, index))
        print(f"{size:,} snapshots built in {time.perf_counter() - begun:.0f} s", flush=True)
        known.write_text(base, encoding="ascii")
    return known.read_text(encoding="ascii")


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
    async with open_runtime(settings) as runtime:
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
            part = await search_parts.in_pieces(conn)
            if part is not None:
                await search_parts.put_together(conn, part)


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
        ids = await seeds.restore(conn, [RevisedSeed(each, 0) for each in said])
        rows = await captures.insert_all(conn, fresh)
        made = [
            snapshot(seed, capture, held[n % REAL].snapshot, words(n, chance, hosts), at)
            for n, seed, capture, at in zip(numbers, said, fresh, moments, strict=True)
        ]
        for each, seed, capture in zip(made, said, fresh, strict=True):
            each["entry_id"], each["capture_id"] = ids[seed.hash_url], rows[capture.record_id]
        await recording.add_snapshots(conn, [recording.NewSnapshot(**each) for each in made])


def snapshot(
    seed: Seed, capture: Capture, real: Snapshot, said: str, at: datetime
) -> dict[str, object]:
    """The fields of a snapshot's row but for what it points to; its records are a real one's."""
    found_by = findable(
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


SEARCHES: dict[str, tuple[str, str]] = {
    "newest, common word": ("common", "newest"),
    "newest, two words": ("word{n} word{m}", "newest"),
    "best, rare word": ("unicorn", ""),
    "best, common word": ("common", ""),
    "best, two words": ("word{n} word{m}", ""),
    "best, four words": ("common title things word{n}", ""),
    "phrase": ('"word{n} word{m}"', ""),
    "phrase by chance": ('"word{k} word{l}"', ""),
    "prefix": ("word{n}*", ""),
    "without a prefix": ("common -w*", ""),
    "rare word, prefix": ("unicorn w*", ""),
    "rare word, half typed": ("unicorn w", ""),
    "or, not, brackets": ("(word{n} OR word{m}) -word7", ""),
    "title:": ("title:things", ""),
    "words and a tag": ("common tag:tag{n}", ""),
    "words and a rare tag": ("common tag:seldom", ""),
    "words and a site": ("common site:host{n}.example", ""),
    "words, type and date": ("common type:page added:2015-01", ""),
    "words or a mark": ("unicorn OR is:starred", ""),
    "site:": ("site:host{n}.example", ""),
    "is:, none": ("is:gap", ""),
    "Japanese": ("東京", ""),
    "one character": ("鳥", ""),
    "misspelt": ("unicron", ""),
    "oldest": ("common", "oldest"),
    "by date of saving": ("common", "added"),
    "by title": ("common", "title"),
    "by length": ("common", "length"),
}
"""Searches with their order; each page has its facets."""


def address(asked: tuple[str, str]) -> Callable[[int], str]:
    """The address of a search, of another one for each number."""
    q, sort = asked
    return lambda n: (
        f"/snapshots?q={quote(q.format(n=n, m=n + 1, k=n + APART, l=n + APART + 1))}&sort={sort}"
    )


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


@contextmanager
def serving_in(data: Path, index: str, *, cpu: bool) -> Iterator[tuple[str, Callable[[], float]]]:
    """Serve an archive: its address, and the clock or the CPU to time it by."""
    port = free_port()
    command = [sys.executable, "-m", "archiver", "serve", "--data", str(data), "--port", str(port)]
    os.environ["ARCHIVER_ALLOW_NETWORKS"] = "127.0.0.0/8"
    os.environ["ARCHIVER_HOST_DELAY"] = "0"
    os.environ |= {"ARCHIVER_INDEX": index} if index else {}
    with serving(command, port) as service:
        server = postmaster() if index else None
        clock = partial(all_cpu_seconds, service.pid, index, server) if cpu else time.perf_counter
        yield f"http://127.0.0.1:{port}", clock


def all_cpu_seconds(pid: int, index: str, server: psutil.Process | None) -> float:
    """What a service has computed so far, and the server for whoever has its index."""
    own = f" {index.rpartition('/')[2]} "
    backends = server.children() if server else []
    return sum(map(cpu_seconds, [pid, *(each.pid for each in backends if own in named(each))]))


def named(process: psutil.Process) -> str:
    """What a process is called; nothing where it has just ended."""
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far, all of its threads."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in tasks) / 1e9


def asked_for(size: int, base: str, live: str, only: str) -> dict[str, Callable[[int], str]]:
    """What is asked for, another address for each number; what is added has one of its own."""
    chance = random.Random(2)
    real = [f"{base}/real/{n}" for n in range(REAL)]
    kinds = {
        "home page": lambda _: "/",
        "browse": lambda _: "/snapshots",
        "browse a tag": lambda n: f"/snapshots?tag=tag{n % 50}",
        "browse a host": lambda n: f"/snapshots?host=host{n}.example",
        **{name: address(asked) for name, asked in SEARCHES.items()},
        "entry": lambda n: f"/{hash_url(real[n % REAL])}/",
        "replay": lambda n: f"/web/2026id_/{real[n % REAL]}",
        "index of a URL": lambda _: (
            f"/timemap/json/{made_up(chance.randrange(size - REAL), size // PAGEFUL)}"
        ),
        ADDED: lambda n: f"{live}/new/{n}",
    }
    return {name: path for name, path in kinds.items() if only in name}


async def ask(services: Mapping[int, Service], requests: int) -> None:
    """Ask every service for the same in turn, each once to begin with; print a row of each kind."""
    print(f"{'':22}" + "".join(f"{size:>20,}" for size in services) + f"{'p95 grows':>12}")
    async with aiohttp.ClientSession() as session:
        for name in next(iter(services.values())).asked:
            ask_once, times = (add, min(requests, 20)) if name == ADDED else (get, requests)
            found: dict[int, list[float]] = {size: [] for size in services}
            for n in range(times + 1):
                for size, service in services.items():
                    seconds = await ask_once(session, service, service.asked[name](n))
                    found[size] += [seconds] * bool(n)
            show(name, [sorted(each) for each in found.values()])


async def get(session: aiohttp.ClientSession, service: Service, path: str) -> float:
    """Seconds of one answer, redirects followed."""
    begun = service.clock()
    async with session.get(URL(service.root + path, encoded=True)) as response:
        await response.read()
        assert response.status == 200, (path, response.status)
    return service.clock() - begun


async def add(session: aiohttp.ClientSession, service: Service, url: str) -> float:
    """Seconds until one more is accepted and safe in the queue."""
    begun = service.clock()
    async with session.post(f"{service.root}/api/v1/entries", json={"urls": [url]}) as response:
        assert response.status == 202, response.status
        await response.read()
    return service.clock() - begun


def show(name: str, times: Sequence[Sequence[float]]) -> None:
    """Print medians and p95 in milliseconds, and the growth of p95."""
    tails = [each[int(len(each) * 0.95)] for each in times]
    cells = [
        f"{1000 * each[len(each) // 2]:>11.1f} {1000 * tail:>8.1f}"
        for each, tail in zip(times, tails, strict=True)
    ]
    print(f"{name:22}{''.join(cells)}{tails[-1] / tails[0]:>12.2f}", flush=True)


if __name__ == "__main__":
    main()
