"""Writes the next edition of a segment beside it, under a name that nobody reads until it is whole.

Functions here block. A kill at any moment leaves the earlier edition, the later one, or both.
"""

import os
from datetime import UTC, datetime
from pathlib import Path

from archiver.errors import StoreError
from archiver.model.capture import Location
from archiver.store.editions import next_edition
from archiver.store.files import SegmentBytes, make_directory, sync_directory
from archiver.warc.build import warcinfo
from archiver.warc.record import Record
from archiver.warc.writer import write_record

_COPIED_BYTES = 1 << 20
_UNREADY = ".new"


class NextEdition:
    """The next edition of a segment, while it is written.

    Attributes:
        name: what it is called once it is whole.
        earlier: the edition that it takes the place of.
        path: where it lies until then.
        size: bytes written so far.
    """

    def __init__(self, directory: Path, source: SegmentBytes, segment: str, software: str) -> None:
        self.name = next_edition(segment)
        self.earlier = segment
        self.size = 0
        self._source = source
        self.path = directory / f".{self.name}{_UNREADY}"
        make_directory(directory)  # whose segments all lie elsewhere has none
        self._file = self.path.open("wb")
        now = datetime.now(UTC).replace(microsecond=0)
        self.add(warcinfo(filename=self.name, software=software, date=now))

    def copy(self, offset: int, length: int) -> Location:
        """Take a stretch of the earlier edition over as it lies."""
        place = Location(self.name, self.size, length)
        while length:
            piece = self._source.read_at(offset, min(length, _COPIED_BYTES))
            if not piece:
                raise StoreError("A segment ends too early. Run `archiver verify`.")
            self.write(piece)
            offset, length = offset + len(piece), length - len(piece)
        return place

    def add(self, record: Record) -> Location:
        """Write a record."""
        start = self.size
        return Location(self.name, start, write_record(record, self))

    def write(self, data: bytes) -> int:
        """Write bytes; how many they were."""
        self.size += len(data)
        return self._file.write(data)

    def finish(self) -> None:
        """Have all of it on disk, still under a name that nobody reads."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def discard(self) -> None:
        """Throw it away; the earlier edition holds."""
        self._file.close()
        self.path.unlink(missing_ok=True)


def remove_unready(directory: Path) -> None:
    """Remove what a process left that was killed while it wrote; to be called by nobody else's."""
    for path in directory.glob(f".archiver-*{_UNREADY}"):
        path.unlink(missing_ok=True)


def remove_segment(directory: Path, name: str) -> int:
    """Remove a segment; the bytes that it had."""
    path = directory / name
    try:
        size = path.stat().st_size
        path.unlink()
        sync_directory(directory)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StoreError(f"{name} can't be removed: {error.strerror}.") from error
    return size
