"""WARC segments: appending and reading records.

A segment is named ``archiver-<created, 14 digits>-<writer>-<serial>.warc.gz``. Each process writes
its own segments, so commands can run while the server does. Only one thread at a time may call
``append`` and ``sync``; any number may call ``read``.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from archiver.errors import StoreError
from archiver.helpers import make_directory, sync_directory
from archiver.model.capture import Location
from archiver.warc.locks import RunLock
from archiver.warc.reader import SegmentBytes, StoredRecord, read_record
from archiver.warc.records import Record
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.writer import warcinfo, write_record

FLUSHED_BYTES = 1 << 20
OPENED = 16
"""Maximum number of segments that a reader keeps open."""


class SegmentStore:
    """Segments of an archive, as written and read by one process.

    Attributes:
        storage: the segment storage.
        lock: the run lock of this process; its name is the writer's name.

    Args:
        storage, lock: as above.
        segment_bytes, segment_seconds: size and age from which the open segment is to be closed.
        software: name and version of this program, for warcinfo records.
    """

    def __init__(
        self,
        storage: SegmentStorage,
        *,
        lock: RunLock,
        segment_bytes: int,
        software: str,
        segment_seconds: float = inf,
    ) -> None:
        self.storage = storage
        self._segment_seconds = segment_seconds
        self.lock = lock
        self._segment_bytes = segment_bytes
        self._software = software
        self._serial = 0
        self._open: _OpenSegment | None = None

    @property
    def directory(self) -> Path:
        """Folder that this process writes to."""
        return self.storage.directory

    @property
    def writer(self) -> str:
        """Name of this process in segment names and leases."""
        return self.lock.name

    def is_open(self, segment: str) -> bool:
        """Return whether this process has a segment open for writing.

        Segments are never reopened.
        """
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
        """Append records and return their locations.

        The records are durable after ``sync``.

        Raises:
            StoreError: not all records could be written; the segment is truncated to its size
                before the call.
        """
        open_before, serial = self._open, self._serial
        size = open_before.size if open_before else 0
        try:
            places = [self._writable().append(record) for record in records]
            if self._open:
                self._open.flush()
        except OSError as error:
            self._undo(open_before, size, serial)
            raise StoreError(f"Cannot write records: {error.strerror}.") from error
        return places

    def sync(self) -> None:
        """Wait until all appended records are on disk (fdatasync).

        Raises:
            StoreError: the disk reported an error.
        """
        if self._open:
            try:
                self._open.sync()
            except OSError as error:
                self.close()
                raise StoreError(f"Cannot sync records to disk: {error.strerror}.") from error

    def read(self, location: Location) -> StoredRecord:
        """Read the record at a location.

        Raises:
            StoreError: the segment or the record does not exist.
        """
        return read_record(self.opened(location.segment), location.offset, location.length)

    def opened(self, segment: str) -> SegmentBytes:
        """Open a segment to be read by position.

        Raises:
            StoreError: the segment does not exist or can't be read.
        """
        try:
            return self.storage.open(segment)
        except OSError as error:
            raise StoreError(f"Cannot read {segment}: {error.strerror}.") from error

    def copy(self, location: Location) -> Iterator[bytes]:
        """Iterate over the compressed bytes at a location.

        Raises:
            StoreError: the segment does not exist or is too short.
        """
        return self.storage.copy(location.segment, location.offset, location.length)

    def close(self) -> None:
        """Close the open segment."""
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
                # The lock file must be on disk before the first segment, because recovery after a
                # power loss needs the lock file of the process that wrote a truncated segment.
                sync_directory(self.lock.directory)
            self._serial += 1
            created = datetime.now(UTC).replace(microsecond=0)
            name = f"archiver-{created:%Y%m%d%H%M%S}-{self.writer}-{self._serial:05d}.warc.gz"
            self._open = _OpenSegment(self.directory, name, self._software, created)
        return self._open

    def _undo(self, began: "_OpenSegment | None", size: int, serial: int) -> None:
        """Undo a batch: truncate the segment it started in, close it, and delete later segments."""
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
    """Reader for many records in sequence, which keeps segments open.

    Each record must be used before the next is read.
    """

    def __init__(self, store: SegmentStore) -> None:
        self._store = store
        self._opened: dict[str, SegmentBytes] = {}

    def read(self, location: Location) -> StoredRecord:
        """Read the record at a location; raises like ``SegmentStore.read``."""
        file = self._opened.get(location.segment)
        if file is None:
            if len(self._opened) >= OPENED:
                self._opened.clear()
            file = self._opened[location.segment] = self._store.opened(location.segment)
        return read_record(file, location.offset, location.length)


class _OpenSegment:
    """Segment open for writing. Appended records are in the file after ``flush``."""

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
        """Seconds since the segment was opened."""
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
