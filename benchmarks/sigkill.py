"""Kills a crawl every few seconds until it is complete; then counts and checks the captures.

Usage: python -m benchmarks.sigkill [--urls N] [--processes N]
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from benchmarks.capture import run
from benchmarks.crawl import crawl_settings
from benchmarks.fast_server import FastServer

MIN, MAX = 2.0, 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--urls", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, FastServer(body=500) as server:
        data = Path(directory) / "data"
        environment = os.environ | crawl_settings(data, 200)
        environment["ARCHIVER_CRAWL_PROCESSES"] = str(options.processes)
        listing = Path(directory) / "urls.txt"
        listing.write_text("".join(f"{server.base}/{n}\n" for n in range(options.urls)))
        run(["import", str(listing), "--no-crawl"], environment)
        kills = crawl(environment)
        verified = subprocess.run(
            [sys.executable, "-m", "archiver", "verify"],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        told = run(["crawl"], environment)
        pages = responses(data, server.base)
    print(f"killed               {kills} times")
    print(f"URLs                 {options.urls}")
    print(
        f"captured             {len(pages)}, more than once: {sum(n > 1 for n in pages.values())}"
    )
    print(f"left in the queue    {'left' in told}")
    print(f"verify               {'clean' if verified.returncode == 0 else 'found something'}")
    if len(pages) != options.urls or max(pages.values()) > 1 or verified.returncode:
        raise SystemExit(1)


def crawl(environment: dict[str, str]) -> int:
    """Crawl until it completes; return how often it was killed before."""
    chance, kills = random.Random(7), 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-m", "archiver", "crawl"],
            env=environment,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + chance.uniform(MIN, MAX)
        while time.monotonic() < deadline:
            if process.poll() is not None:
                return kills
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1


def responses(data: Path, base: str) -> dict[str, int]:
    """Return how often each URL was captured, read by another implementation."""
    found: dict[str, int] = {}
    for path in sorted((data / "warc").iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type in ("response", "revisit"):
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    if url.startswith(base):
                        found[url] = found.get(url, 0) + 1
    return found


if __name__ == "__main__":
    main()
