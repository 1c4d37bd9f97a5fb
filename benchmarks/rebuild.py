"""Rebuilds the index of growing archives, once completely and once killed half way.

Usage: python -m benchmarks.rebuild [--sizes 10000 100000]

The archives are written directly, without a network: each entry has two tags and one snapshot with
an article. The output is the duration of ``archiver reindex`` without an existing index; then
killed after half of that time, and restarted.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from archiver.crawl import record_building
from archiver.crawl.record_building import Originals
from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db.entries import Revised
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.capture import CaptureRef, Exchange, PayloadDigest
from archiver.model.entry import Entry
from archiver.model.job import EntryRef, State
from archiver.model.page import Article, PageMetadata
from archiver.warc.locks import RunLock
from archiver.warc.records import new_record_id
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.segments import SegmentStore

BEGUN = datetime(2020, 1, 1, tzinfo=UTC)
BATCH = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    options = parser.parse_args()
    print("  entries   seconds   ms an entry   peak memory   killed half way: first, then seconds")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as directory:
            data = Path(directory) / "data"
            make(data, size)
            seconds = reindex(data)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
            remove_index(data)
            half = reindex(data, kill_after=seconds / 2)
            figures = reindex(data)
        each = 1000 * seconds / size
        print(f"{size:9,} {seconds:9.1f} {each:13.2f} {peak:10.0f} MB {half:23.1f}, {figures:.1f}")


def make(data: Path, count: int) -> None:
    """Write an archive that consists of segments only."""
    lock = RunLock(data / "run")
    store = SegmentStore(
        SegmentStorage(data / "warc"),
        lock=lock,
        segment_bytes=1 << 30,
        software="archiver/benchmark",
    )
    for first in range(0, count, BATCH):
        plan = record_building.Plan()
        for number in range(first, min(first + BATCH, count)):
            add(plan, number)
        store.append(plan.records)
    store.sync()
    store.close()
    lock.release()


def add(plan: record_building.Plan, number: int) -> None:
    url = f"https://host{number % 5000}.example/path/{number}"
    at = BEGUN + timedelta(seconds=number)
    words = f"<p>Entry {number} tells of {number % 977} badgers and {number % 1013} otters.</p>"
    exchange = exchange_of(url, at, words.encode())
    capture = record_building.capture_of_exchange(exchange, new_record_id())
    record_building.plan_exchange(plan, exchange, capture, Originals())
    article = Article(PageMetadata(title=f"Entry {number}"), words, words[3:-4])
    visit = Visit(to_timestamp(at), at, CaptureRef.of(capture), article, ())
    result = VisitResult(EntryRef(number + 1, hash_url(url), url, host(url)), at, visit=visit)
    annotation = Annotation(url, at, tags=(f"tag{number % 200}", f"other{number % 37}"))
    entry = Entry(hash_url(url), url, host(url), annotation, "", State.QUEUED)
    record_building.plan_visit_result(plan, result, Revised(entry, 0, is_unrecorded=False))


def exchange_of(url: str, at: datetime, body: bytes) -> Exchange:
    return Exchange(
        url=url,
        at=at,
        ip="192.0.2.1",
        request=b"GET / HTTP/1.1\r\n\r\n",
        head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        body=BytesIO(body),
        chunked=False,
        status=200,
        headers=(("content-type", "text/html"),),
        payload_digest=PayloadDigest(f"sha256:{sha256(body).hexdigest()}"),
        payload_length=len(body),
    )


def reindex(data: Path, *, kill_after: float | None = None) -> float:
    """Return the seconds of ``archiver reindex``, or until it was killed."""
    started = time.monotonic()
    command = [sys.executable, "-m", "archiver", "reindex"]
    environment = os.environ | {"ARCHIVER_DATA": str(data), "ARCHIVER_LOG_LEVEL": "error"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        if kill_after is not None:
            try:
                process.wait(kill_after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        elif process.wait():
            sys.exit("reindex failed")
    return time.monotonic() - started


def remove_index(data: Path) -> None:
    for path in data.glob("archive.sqlite3*"):
        path.unlink()


if __name__ == "__main__":
    main()
