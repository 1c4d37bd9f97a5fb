"""Measures the rewriter on a folder of pages: CPU per page, megabytes per second.

Usage: python benchmarks/rewrite.py FOLDER [--runs N]

Every ``*.html`` file below the folder is rewritten in chunks of 64 KiB, as in a replay.
"""

import argparse
import statistics
import time
from pathlib import Path

from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.url_rewriter import UrlRewriter

PIECE = 64 << 10


def rewrite(page: str) -> int:
    """Rewrite one page; return the number of output characters."""
    links = UrlRewriter("https://www.example.com/a/page.html", "20240229120000")
    rewriter = HtmlRewriter(links, encoding="utf-8")
    length = 0
    for start in range(0, len(page), PIECE):
        length += len(rewriter.feed(page[start : start + PIECE]))
    return length + len(rewriter.close())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    pages = [path.read_bytes().decode("latin-1") for path in sorted(options.folder.rglob("*.html"))]
    if not pages:
        parser.error(f"there is no *.html below {options.folder}")
    size = sum(map(len, pages))
    times = []
    for _ in range(options.runs):
        start = time.process_time()
        for page in pages:
            rewrite(page)
        times.append(time.process_time() - start)
    spent = statistics.median(times)
    print(f"{'pages':>8} {'mean kB':>8} {'ms/page':>8} {'MB/s':>8}")
    print(
        f"{len(pages):>8} {size / len(pages) / 1e3:>8.1f} "
        f"{spent / len(pages) * 1e3:>8.2f} {size / spent / 1e6:>8.1f}"
    )


if __name__ == "__main__":
    main()
