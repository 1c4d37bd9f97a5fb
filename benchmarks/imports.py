"""Imports bookmark files of growing size, and prints how long it took and in how much memory.

Usage: python -m benchmarks.imports [--sizes 10000 100000]
"""

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.capture import measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    options = parser.parse_args()
    print("bookmarks   seconds   a second   CPU seconds   peak memory")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as directory:
            listing = Path(directory) / "bookmarks.html"
            write_bookmarks(listing, size)
            environment = os.environ | {"ARCHIVER_DATA": f"{directory}/data"}
            command = ["import", str(listing), "--no-crawl"]
            seconds, cpu, peak = measured(command, environment)
        print(f"{size:9,} {seconds:9.1f} {size / seconds:10,.0f} {cpu:13.1f} {peak / 1e6:10.0f} MB")


def write_bookmarks(path: Path, count: int) -> None:
    """A Netscape bookmark file: a folder for each thousand, two tags and a date each."""
    with path.open("w", encoding="utf-8") as file:
        file.write("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n")
        for number in range(count):
            if number % 1000 == 0:
                file.write(f"<DT><H3>Folder {number // 1000}</H3>\n<DL><p>\n")
            file.write(
                f'<DT><A HREF="https://host{number % 5000}.example.com/path/{number}?x={number}" '
                f'ADD_DATE="{1300000000 + number}" TAGS="tag{number % 200},other{number % 37}">'
                f"Title number {number} of things</A>\n"
            )
            if number % 1000 == 999:
                file.write("</DL><p>\n")
        file.write("</DL>")


if __name__ == "__main__":
    main()
