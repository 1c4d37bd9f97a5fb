"""Imports archive files that others made, and counts what an independent reader finds in them.

Usage: python -m benchmarks.others FOLDER [--each]

Every WARC, ARC and WACZ file below FOLDER goes into one archive, empty at first, and then a second
time. warcio and fastwarc say which captures there are, and what their payloads are.
Ends with 1 when a capture is neither taken nor named as unusable, a payload has other bytes, a
second import adds something, or ``verify`` finds anything.
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
    """What became of a file.

    Attributes:
        name: of the file.
        theirs: captures that the independent reader finds.
        ours: what the import says.
        missing: captures that are neither in the archive nor named as unusable.
        compared: payloads that were compared.
        differ: of those that are missing, how many are here with other bytes.
        again: captures that a second import added.
        problem: what ended the import, or the reader.
        notes: samples of what is wrong.
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
        """Whether anything of it must not be."""
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
    found = 0
    for theirs in await asyncio.to_thread(read_captures, path):
        row.theirs += 1
        found += await compare(runtime, row, theirs)
    named = row.ours.rejected if row.ours else 1 if row.problem else 0
    row.missing = max(row.theirs - found - named, 0)
    if row.problem and not found:
        row.missing = 0  # the whole file is named
    row.differ = min(row.differ, row.missing)
    return row


async def take_in(runtime: App, path: Path) -> ImportStatus:
    with path.open("rb") as source:
        return await runtime.imports.read_file(source, name=path.name)


async def compare(runtime: App, row: Row, theirs: Theirs) -> bool:
    """Whether the archive has a capture of theirs, with the same payload if it has one."""
    try:
        url = parse_url(theirs.url)
    except InvalidUrl:
        return False
    held = [
        each
        for each in await runtime.replay.captures_of(url)
        if (each.url, each.timestamp) == (url, theirs.timestamp)
    ]
    if held and theirs.digests:
        row.compared += 1
        if theirs.digests.isdisjoint([await payload_digest(runtime, each) for each in held]):
            row.differ += 1
            row.notes.append(f"differs: {theirs.timestamp} {theirs.url}")
            return False
    if not held:
        row.notes.append(f"not here: {theirs.timestamp} {theirs.url}")
    return bool(held)


async def payload_digest(runtime: App, capture: Capture) -> PayloadDigest | None:
    """The digest of what is replayed of a capture."""
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
