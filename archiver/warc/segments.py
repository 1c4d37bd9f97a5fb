"""WARC segments: appending and reading records.

A segment is ``archiver-<created, 14 digits>-<writer>-<serial>.warc.gz``. Each process writes its
own, so commands work beside a running server. ``append`` and ``sync`` are for one thread at a
time; ``read`` is for any number.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from archiver.errors import StoreError
from archiver.model.capture import Location
from archiver.warc.durable_files import SegmentBytes, make_directory, sync_directory
from archiver.warc.locks import RunLock
from archiver.warc.reader import StoredRecord, read_record
from archiver.warc.records import Record
from archiver.warc.segment_storage import Shelf
from archiver.warc.writer import warcinfo, write_record

FLUSHED_BYTES = 1 << 20
OPENED = 16
"""Segments that a reader keeps open."""


class SegmentStore:
    """The segments of one archive, as one process writes and reads them.

    Attributes:
        shelf: where they lie.
        lock: of this process; its name is the writer's.
    """

    def __init__(
        self,
        shelf: Shelf,
        *,
        lock: RunLock,
        segment_bytes: int,
        software: str,
        segment_seconds: float = inf,
    ) -> None:
        self.shelf = shelf
        self._segment_seconds = segment_seconds
        self.lock = lock
        self._segment_bytes = segment_bytes
        self._software = software
        self._serial = 0
        self._open: _OpenSegment | None = None

    @property
    def directory(self) -> Path:
        """The folder that this process writes into."""
        return self.shelf.directory

    @property
    def writer(self) -> str:
        """The name of this process in its segments and leases."""
        return self.lock.name

    def is_open(self, segment: str) -> bool:
        """Whether this process writes that segment; one that it closed it never opens again."""
        opened = self._open
        return opened is not None and opened.name == segment

    @property
    def is_due(self) -> bool:
        """Whether the open segment is large or old enough to be closed."""
        opened = self._open
        return opened is not None and (
            opened.size >= self._segment_bytes or opened.age >= self._segment_seconds
        )

    def append(self, records: Sequence[Record]) -> list[Location]:
        """Write records; return where each lies. They are on disk after ``sync``.

        Raises:
            StoreError: they could not all be written; the segment ends where it ended before.
        """
        open_before, serial = self._open, self._serial
        size = open_before.size if open_before else 0
        try:
            places = [self._writable().append(record) for record in records]
            if self._open:
                self._open.flush()
        except OSError as error:
            self._give_up(open_before, size, serial)
            raise StoreError(f"Records can't be written: {error.strerror}.") from error
        return places

    def sync(self) -> None:
        """Wait until everything appended is on disk (fdatasync).

        Raises:
            StoreError: the disk refused.
        """
        if self._open:
            try:
                self._open.sync()
            except OSError as error:
                self.close()
                raise StoreError(f"Records can't be synced: {error.strerror}.") from error

    def read(self, location: Location) -> StoredRecord:
        """The record at a place.

        Raises:
            StoreError: its segment is missing, or there is no such record.
        """
        return read_record(self.opened(location.segment), location.offset, location.length)

    def opened(self, segment: str) -> SegmentBytes:
        """A segment, to be read by position.

        Raises:
            StoreError: it is missing, or can't be read.
        """
        try:
            return self.shelf.open(segment)
        except OSError as error:
            raise StoreError(f"{segment} can't be read: {error.strerror}.") from error

    def copy(self, location: Location) -> Iterator[bytes]:
        """The bytes at a place as they lie on disk, compressed, piece by piece.

        Raises:
            StoreError: the segment is missing, or ends before.
        """
        return self.shelf.copy(location.segment, location.offset, location.length)

    def close(self) -> None:
        """Finish the open segment."""
        opened, self._open = self._open, None
        if opened:
            opened.close()

    def _writable(self) -> "_OpenSegment":
        if self._open and self.is_due:
            self._open.flush()
            self._open.sync()
            self.close()
        if self._open is None:
            if not self._serial:
                # Whoever finds half a segment after a loss of power must know its writer.
                sync_directory(self.lock.directory)
            self._serial += 1
            created = datetime.now(UTC).replace(microsecond=0)
            name = f"archiver-{created:%Y%m%d%H%M%S}-{self.writer}-{self._serial:05d}.warc.gz"
            self._open = _OpenSegment(self.directory, name, self._software, created)
        return self._open

    def _give_up(self, began: "_OpenSegment | None", size: int, serial: int) -> None:
        """Take a batch back: cut the segment it began in, write no more to it, and no later one."""
        with suppress(OSError):
            self.close()
        if began:
            with suppress(OSError):
                os.truncate(self.directory / began.name, size)
        for number in range(serial + 1, self._serial + 1):
            for path in self.directory.glob(f"*-{self.writer}-{number:05d}.warc.gz"):
                with suppress(OSError):
                    path.unlink()


class SegmentReader:
    """Reads records as ``SegmentStore.read`` does, for many one after the other.

    Segments stay open in between. Each record must be used before the next is asked for.
    """

    def __init__(self, store: SegmentStore) -> None:
        self._store = store
        self._opened: dict[str, SegmentBytes] = {}

    def read(self, location: Location) -> StoredRecord:
        """The record at a place; raises as ``SegmentStore.read`` does."""
        file = self._opened.get(location.segment)
        if file is None:
            if len(self._opened) >= OPENED:
                self._opened.clear()
            file = self._opened[location.segment] = self._store.opened(location.segment)
        return read_record(file, location.offset, location.length)


class _OpenSegment:
    """The segment that is being written. What is appended is in the file after ``flush``."""

    def __init__(self, directory: Path, name: str, software: str, created: datetime) -> None:
        make_directory(directory)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        self._file = os.open(directory / name, flags, 0o644)
        self.name = name
        self.size = 0
        self._opened_at = time.monotonic()
        self._pending = bytearray()
        try:
            self.append(warcinfo(filename=name, software=software, date=created))
            self.flush()
            sync_directory(directory)
        except OSError:
            self.close()
            raise

    @property
    def age(self) -> float:
        """Seconds since it was opened."""
        return time.monotonic() - self._opened_at

    def append(self, record: Record) -> Location:
        length = write_record(record, self)
        place = Location(self.name, self.size, length)
        self.size += length
        return place

    def write(self, data: bytes) -> int:
        self._pending += data
        if len(self._pending) >= FLUSHED_BYTES:
            self.flush()
        return len(data)

    def flush(self) -> None:
        pending, self._pending = self._pending, bytearray()
        with memoryview(pending) as rest:
            written = 0
            while written < len(pending):
                written += os.write(self._file, rest[written:])

    def sync(self) -> None:
        os.fdatasync(self._file)

    def close(self) -> None:
        os.close(self._file)
