"""Captures a folder of pages and prints rate, CPU, memory, and quality of the articles.

Usage: python -m benchmarks.capture [FOLDER] [--copies N] [--concurrency N]

FOLDER contains a folder per page with ``source.html`` and, for scoring, ``expected.html``. Without
FOLDER, pages are generated. A separate process serves them on loopback; their links point to the
same server, which sends a small file for each style sheet, image and font. The score is the F1 of
word 4-grams between the article's text and the expected one, averaged over pages.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

from archiver.pages.article_text import to_text
from benchmarks.pages import PageServer, generated_pages, read_pages

SAMPLE_SECONDS = 0.05
_TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>", re.DOTALL | re.IGNORECASE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--copies", type=int, default=4, help="how often each page is captured")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--processes", type=int, default=1, help="processes that read articles")
    options = parser.parse_args()
    pages = read_pages(options.folder) if options.folder else generated_pages(64)
    with tempfile.TemporaryDirectory() as directory, PageServer(pages) as server:
        data = Path(directory) / "data"
        environment = os.environ | {
            "ARCHIVER_DATA": str(data),
            "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
            "ARCHIVER_CONCURRENCY": str(options.concurrency),
            "ARCHIVER_HOST_CONCURRENCY": str(options.concurrency),
            "ARCHIVER_HOST_DELAY": "0",
            "ARCHIVER_EXTRACT_PROCESSES": str(options.processes),
        }
        urls = {
            f"{server.base}/{name}/?copy={n}": name for name in pages for n in range(options.copies)
        }
        listing = Path(directory) / "urls.txt"
        listing.write_text("\n".join(urls))
        run(["import", str(listing), "--no-crawl"], environment)
        seconds, cpu, peak = measured(["crawl"], environment)
        entries = json.loads(run(["list", "--all", "--json"], environment))
        saved = sum(1 for each in entries if each["state"] == "saved")
        score = mean_score(urls, environment, options.folder)
        stored = sum(path.stat().st_size for path in (data / "warc").iterdir())
    print(f"pages            {saved} of {len(urls)} saved")
    print(f"pages a second   {saved / seconds:.1f}")
    print(f"CPU a page       {1000 * cpu / max(saved, 1):.1f} ms (all processes of the crawl)")
    print(f"peak memory      {peak / 1e6:.0f} MB (resident, all processes of the crawl)")
    print(f"stored           {stored / 1e6:.1f} MB")
    print(f"text score       {score}")


def run(arguments: list[str], environment: dict[str, str]) -> str:
    """Run one command of the program; return its output."""
    command = [sys.executable, "-m", "archiver", *arguments]
    return subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def measured(arguments: list[str], environment: dict[str, str]) -> tuple[float, float, int]:
    """Run one command; return its seconds, and the CPU seconds and peak memory of its processes."""
    before, started = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "archiver", *arguments]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    peaks = [0]
    watching = threading.Thread(target=watch, args=(process, peaks))
    watching.start()
    if process.wait() != 0:
        raise SystemExit(f"{arguments[0]} failed")
    watching.join()
    after = os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return time.perf_counter() - started, cpu, peaks[0]


def watch(process: "subprocess.Popen[bytes]", peaks: list[int]) -> None:
    """Record the peak memory of a process and its children, in bytes."""
    root = psutil.Process(process.pid)
    while process.poll() is None:
        try:
            family = [root, *root.children(recursive=True)]
            peaks[0] = max(peaks[0], sum(each.memory_info().rss for each in family))
        except psutil.NoSuchProcess:
            pass
        time.sleep(SAMPLE_SECONDS)


def mean_score(urls: dict[str, str], environment: dict[str, str], folder: Path | None) -> str:
    """Return the mean score of the articles with an expected text."""
    if folder is None:
        return "- (no expected texts)"
    scores = []
    for url, name in urls.items():
        expected = folder / name / "expected.html"
        if url.endswith("copy=0") and expected.exists():
            shown = json.loads(run(["show", url, "--json"], environment))
            expected_text = to_text(_TAG.sub("", expected.read_text(encoding="utf-8")))
            scores.append(f1(shown["text"], expected_text))
    return f"{sum(scores) / len(scores):.4f} over {len(scores)} pages" if scores else "-"


def f1(extracted: str, expected: str) -> float:
    """Return the F1 score of word 4-grams."""
    left, right = grams(extracted), grams(expected)
    shared = sum((left & right).values())
    total = sum(left.values()) + sum(right.values())
    return 2 * shared / total if total else 1.0


def grams(text: str) -> Counter[tuple[str, ...]]:
    """Return the word 4-grams of a text with their counts; a shorter text is one gram."""
    words = re.findall(r"\w+", text.lower())
    last = max(len(words) - 3, 1 if words else 0)
    return Counter(tuple(words[n : n + 4]) for n in range(last))


if __name__ == "__main__":
    main()
