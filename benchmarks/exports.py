"""Exports archives of growing size in every list format; prints duration and memory.

Usage: python -m benchmarks.exports [--sizes 10000 100000] [--forms json csv]
"""

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.capture import measured
from benchmarks.imports import write_netscape

FORMS = ("bookmarks", "json", "jsonl", "csv", "atom", "opml")
"""Keys of the exports that are lists."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS)
    options = parser.parse_args()
    print("format      entries   seconds   a second   CPU seconds   peak memory     bytes")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as directory:
            fill(Path(directory), size)
            for form in options.forms:
                measure(Path(directory), form, size)


def fill(directory: Path, size: int) -> None:
    """Create an archive of ``size`` queued links, with a folder for each thousand."""
    listing = directory / "bookmarks.html"
    with listing.open("w", encoding="utf-8") as file:
        write_netscape(file, size)
    measured(["import", str(listing), "--no-crawl"], environment(directory))


def measure(directory: Path, form: str, size: int) -> None:
    """Export an archive of ``size`` links in a format; print the cost."""
    file = directory / "out"
    seconds, cpu, peak = measured(["export", form, str(file)], environment(directory))
    rate = f"{size / seconds:10,.0f} {cpu:13.1f} {peak / 1e6:10.0f} MB"
    print(f"{form:10} {size:9,} {seconds:9.1f} {rate} {file.stat().st_size:12,}", flush=True)


def environment(directory: Path) -> dict[str, str]:
    """Return environment variables that select the archive."""
    return os.environ | {"ARCHIVER_DATA": f"{directory}/data"}


if __name__ == "__main__":
    main()
