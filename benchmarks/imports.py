"""Imports files of links of growing size; prints duration and memory.

Usage: python -m benchmarks.imports [--sizes 10000 100000] [--forms netscape csv json]
"""

import argparse
import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from benchmarks.capture import measured

FIRST = 1_300_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--forms", nargs="+", default=[*WRITERS], choices=[*WRITERS])
    options = parser.parse_args()
    print("format      links   seconds   a second   CPU seconds   peak memory")
    for size in options.sizes:
        for form in options.forms:
            measure(form, size)


def measure(form: str, size: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        listing = Path(directory) / f"bookmarks.{form}"
        with listing.open("w", encoding="utf-8") as file:
            WRITERS[form](file, size)
        environment = os.environ | {"ARCHIVER_DATA": f"{directory}/data"}
        command = ["import", str(listing), "--no-crawl"]
        seconds, cpu, peak = measured(command, environment)
    rate = f"{size / seconds:10,.0f} {cpu:13.1f} {peak / 1e6:10.0f} MB"
    print(f"{form:8} {size:9,} {seconds:9.1f} {rate}", flush=True)


def links(count: int) -> Iterator[tuple[int, str, str, int, list[str]]]:
    """Yield number, URL, title, timestamp and two tags of each link."""
    for number in range(count):
        yield (
            number,
            f"https://host{number % 5000}.example.com/path/{number}?x={number}",
            f"Title number {number} of things",
            FIRST + number,
            [f"tag{number % 200}", f"other{number % 37}"],
        )


def write_netscape(file: TextIO, count: int) -> None:
    """Write a Netscape bookmark file with a folder for each thousand."""
    file.write("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n")
    for number, url, title, at, tags in links(count):
        if number % 1000 == 0:
            file.write(f"<DT><H3>Folder {number // 1000}</H3>\n<DL><p>\n")
        tagged = ",".join(tags)
        file.write(f'<DT><A HREF="{url}" ADD_DATE="{at}" TAGS="{tagged}">{title}</A>\n')
        if number % 1000 == 999:
            file.write("</DL><p>\n")
    file.write("</DL>")


def write_csv(file: TextIO, count: int) -> None:
    """Write a CSV file like Pocket's."""
    rows = csv.writer(file)
    rows.writerow(("title", "url", "time_added", "tags", "status"))
    for number, url, title, at, tags in links(count):
        rows.writerow((title, url, at, "|".join(tags), "archive" if number % 2 else "unread"))


def write_json(file: TextIO, count: int) -> None:
    """Write a JSON file like Pinboard's."""
    between = "["
    for _, url, title, at, tags in links(count):
        row = {
            "href": url,
            "description": title,
            "extended": "",
            "time": datetime.fromtimestamp(at, UTC).isoformat(),
            "shared": "no",
            "toread": "no",
            "tags": " ".join(tags),
        }
        file.write(between + json.dumps(row))
        between = ",\n"
    file.write("]")


WRITERS: dict[str, Callable[[TextIO, int], None]] = {
    "netscape": write_netscape,
    "csv": write_csv,
    "json": write_json,
}


if __name__ == "__main__":
    main()
