"""Reads segments in order, and cuts off what a killed writer left half done."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from archiver.errors import InvalidRecord, StoreError, TornRecord
from archiver.model.capture import Location
from archiver.warc.reader import StoredRecord, iterate, read_record

SUFFIX = ".warc.gz"
WINDOW = 1 << 20
_MAGIC = b"\x1f\x8b\x08"


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A segment on disk: its name and its size in bytes."""

    name: str
    size: int

    @property
    def writer(self) -> str:
        """The process that wrote it; empty if the name is not one of ours."""
        parts = self.name.removesuffix(SUFFIX).split("-")
        return parts[2] if len(parts) == 4 and parts[0] == "archiver" else ""


@dataclass(frozen=True, slots=True)
class Scanned:
    """A record met in a scan."""

    record: StoredRecord
    segment: str

    def place(self) -> Location:
        """Where it lies; reads the rest of it."""
        return Location(self.segment, self.record.offset, self.record.finish())


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of a segment that can't be read, and why."""

    location: Location
    problem: str


def segments(directory: Path) -> list[SegmentFile]:
    """Every segment, by name."""
    if not directory.is_dir():
        return []
    return [
        SegmentFile(path.name, path.stat().st_size) for path in sorted(directory.glob(f"*{SUFFIX}"))
    ]


def scan(path: Path, *, from_offset: int) -> Iterator[Scanned | Damage]:
    """Every record of a segment from a byte on; each is to be read before the next is asked for.

    A damaged stretch is told of and passed over: what follows it is still found.

    Raises:
        StoreError: the segment can't be opened or read.
    """
    start: int | None = from_offset
    try:
        with path.open("rb", buffering=0) as file:
            while start is not None:
                begun, start = start, None
                try:
                    for record in iterate(file, begun):
                        yield Scanned(record, path.name)
                except (InvalidRecord, TornRecord) as error:
                    at = begun if error.offset is None else error.offset
                    start = _next_record(file, at + 1)
                    length = (start or os.fstat(file.fileno()).st_size) - at
                    yield Damage(Location(path.name, at, length), str(error))
    except OSError as error:
        raise StoreError(f"{path.name} can't be read: {error.strerror}.") from error


def cut_torn_tail(path: Path, *, from_offset: int) -> int:
    """Cut a segment after its last complete record; return the size it has then.

    Only the very end is cut, and only what no index has read: damage with records after it stays.

    Raises:
        StoreError: the segment can't be read or cut.
    """
    end = from_offset
    for each in scan(path, from_offset=from_offset):
        if isinstance(each, Scanned):
            try:
                place = each.place()
            except StoreError:
                continue
            end = place.offset + place.length
    if path.stat().st_size > end:
        _cut(path, end)
    return end


def _next_record(file: FileIO, offset: int) -> int | None:
    """Where the next record that can be begun starts, at or after a byte."""
    held, at = b"", offset
    while True:
        file.seek(at + len(held))
        more = file.read(WINDOW)
        held += more
        found = held.find(_MAGIC)
        while found >= 0:
            if _begins_record(file, at + found):
                return at + found
            found = held.find(_MAGIC, found + 1)
        if not more:
            return None
        at, held = at + len(held) - len(_MAGIC) + 1, held[-len(_MAGIC) + 1 :]


def _begins_record(file: FileIO, offset: int) -> bool:
    try:
        read_record(file, offset)
    except StoreError:
        return False
    return True


def _cut(path: Path, size: int) -> None:
    try:
        with path.open("r+b") as file:
            file.truncate(size)
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path.name} can't be cut back: {error.strerror}.") from error
