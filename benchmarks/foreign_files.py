"""Imports archive files of other programs, and compares with an independent reader.

Usage: python -m benchmarks.foreign_files FOLDER [--each]

Every WARC, ARC and WACZ file below FOLDER is imported into one archive, twice. warcio and fastwarc
list the captures and their payloads. Exits with 1 if a capture is neither imported nor reported
as unusable, a payload differs, a second import adds something, or ``verify`` finds a problem.
"""

import argparse
import asyncio
import tempfile
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.errors import ArchiverError, InvalidUrl
from archiver.http.urls import parse_url
from archiver.model.capture import Capture, PayloadDigest
from archiver.model.imports import ImportStatus
from archiver.replay.addresses import Modifier
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from archiver.warc.records import digest_of
from benchmarks.independent_reader import SUFFIXES, Theirs, read_captures

ASKED = ReplayRequest(Viewer("http://localhost"), Modifier.IDENTITY)


@dataclass(slots=True)
class Row:
    """Result for a file.

    Attributes:
        name: file name.
        theirs: number of captures that the independent reader finds.
        ours: result of the import.
        missing: number of captures neither in the archive nor reported as unusable.
        compared: number of compared payloads.
        differ: number of missing captures that exist with other bytes.
        again: number of captures that a second import added.
        problem: error that ended the import, or the reader.
        notes: examples of the problems.
    """

    name: str
    theirs: int = 0
    ours: ImportStatus | None = None
    missing: int = 0
    compared: int = 0
    differ: int = 0
    again: int = 0
    problem: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def is_wrong(self) -> bool:
        """Return whether there is any problem."""
        return bool(self.missing or self.differ or self.again)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--each", action="store_true", help="print every file, not the wrong ones")
    options = parser.parse_args()
    files = [path for path in sorted(options.folder.rglob("*")) if is_archive(path)]
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        async with open_app(Settings(data=Path(directory))) as runtime:
            for path in files:
                rows.append(row := await try_file(runtime, path, options.folder))
                if options.each or row.is_wrong:
                    show(row)
            findings = [each async for each in runtime.fixity.verify()]
    for finding in findings[:20]:
        print(f"verify: {finding.where}: {finding.problem}")
    summarise(rows, len(findings))
    if findings or any(row.is_wrong for row in rows):
        raise SystemExit(1)


def is_archive(path: Path) -> bool:
    return path.is_file() and path.name.lower().endswith(SUFFIXES)


async def try_file(runtime: App, path: Path, root: Path) -> Row:
    """Import a file twice and compare."""
    row = Row(str(path.relative_to(root)))
    try:
        row.ours = await take_in(runtime, path)
        row.problem = row.ours.error
        row.again = (await take_in(runtime, path)).merged
    except ArchiverError as error:
        row.problem = str(error)
    compared = 0
    for theirs in await asyncio.to_thread(read_captures, path):
        row.theirs += 1
        compared += await compare(runtime, row, theirs)
    named = row.ours.rejected if row.ours else 1 if row.problem else 0
    row.missing = max(row.theirs - compared - named, 0)
    if row.problem and not compared:
        row.missing = 0  # the whole file is reported
    row.differ = min(row.differ, row.missing)
    return row


async def take_in(runtime: App, path: Path) -> ImportStatus:
    with path.open("rb") as source:
        return await runtime.imports.read_file(source, name=path.name)


async def compare(runtime: App, row: Row, theirs: Theirs) -> bool:
    """Return whether the archive has this capture, with the same payload if it has one."""
    try:
        url = parse_url(theirs.url)
    except InvalidUrl:
        return False
    captures = [
        each
        for each in await runtime.replay.captures_of(url)
        if (each.url, each.timestamp) == (url, theirs.timestamp)
    ]
    if captures and theirs.digests:
        row.compared += 1
        if theirs.digests.isdisjoint([await payload_digest(runtime, each) for each in captures]):
            row.differ += 1
            row.notes.append(f"differs: {theirs.timestamp} {theirs.url}")
            return False
    if not captures:
        row.notes.append(f"not here: {theirs.timestamp} {theirs.url}")
    return bool(captures)


async def payload_digest(runtime: App, capture: Capture) -> PayloadDigest | None:
    """Return the digest of the replayed payload of a capture."""
    try:
        replayed = await runtime.replay.open(capture, ASKED)
        async with aclosing(replayed.body) as body:
            return digest_of([piece async for piece in body])[0]
    except ArchiverError:
        return None


def show(row: Row) -> None:
    numbers = [row.theirs, row.missing, row.differ, row.again]
    if row.ours:
        numbers[1:1] = [row.ours.merged, row.ours.known, row.ours.rejected]
    print(f"{row.name}: {numbers} {row.problem}")
    for each in row.notes[:5]:
        print(f"    {each}")
    for sample in row.ours.rejected_samples[:5] if row.ours else ():
        print(f"    named: {sample.given[:100]}: {sample.reason}")


def summarise(rows: list[Row], findings: int) -> None:
    ours = [row.ours for row in rows if row.ours]
    for word, number in (
        ("files", len(rows)),
        ("files refused whole, in words", sum(bool(row.problem) for row in rows)),
        ("captures by the independent reader", sum(row.theirs for row in rows)),
        ("taken", sum(each.merged for each in ours)),
        ("here already", sum(each.known for each in ours)),
        ("named as unusable", sum(each.rejected for each in ours)),
        ("missing", sum(row.missing for row in rows)),
        ("payloads compared", sum(row.compared for row in rows)),
        ("with other bytes", sum(row.differ for row in rows)),
        ("added by a second import", sum(row.again for row in rows)),
        ("findings of verify", findings),
    ):
        print(f"{word:36}{number:8,}")


if __name__ == "__main__":
    asyncio.run(main())
