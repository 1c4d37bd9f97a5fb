"""Versions of a segment, and the writer of the next version.

``archiver-….warc.gz`` is the first version of a segment, ``archiver-….2.warc.gz`` the second.
Compaction writes a new version with all records that are still needed. The new version gets its
final name when it is complete. From then on the earlier version is never read, even if its file
still exists.

Segments with two serial numbers in the name (``…-00003-00009.warc.gz``) were written by earlier
releases of archiver, which merged several segments of a writer into one. They are read like other
segments.

The functions of this module block. If the process is killed at any point, the earlier version, the
later version, or both exist.
"""

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path

from archiver.errors import StoreError
from archiver.helpers import make_directory, sync_directory
from archiver.model.capture import Location
from archiver.warc.reader import SegmentBytes
from archiver.warc.records import Record
from archiver.warc.writer import warcinfo, write_record

_NAME = re.compile(
    r"(?P<stem>archiver-(?P<created>\d{14})-(?P<writer>[0-9a-f]{12})-(?P<first>\d{5,})"
    r"(?:-(?P<last>\d{5,}))?)"
    r"(?:\.(?P<version>[1-9]\d{0,8}))?\.warc\.gz"
)


def is_segment_name(name: str) -> bool:
    """Return whether a file name is a segment name of this program."""
    return _NAME.fullmatch(name) is not None


def writer_of(name: str) -> str:
    """Return the writer of a segment; empty if the name has another form."""
    named = _NAME.fullmatch(name)
    return named["writer"] if named else ""


def created_of(name: str) -> datetime | None:
    """Return when a segment was created; None if the name has no valid timestamp."""
    named = _NAME.fullmatch(name)
    try:
        return datetime.strptime(f"{named['created']}Z", "%Y%m%d%H%M%S%z") if named else None
    except ValueError:
        return None


def serial_of(name: str) -> int:
    """Return the serial number of a segment, from 1; 0 if the name has another form."""
    named = _NAME.fullmatch(name)
    return int(named["last"] or named["first"]) if named else 0


def version_number(name: str) -> int:
    """Return the version of a segment, from 1; 0 if the name has another form."""
    named = _NAME.fullmatch(name)
    return int(named["version"] or 1) if named else 0


def next_version(name: str) -> str:
    """Return the name of the next version of a segment.

    >>> next_version("archiver-20260301120000-0123456789ab-00001.warc.gz")
    'archiver-20260301120000-0123456789ab-00001.2.warc.gz'
    """
    named = _NAME.fullmatch(name)
    if named is None:
        raise ValueError(f"{name} is not the name of a segment")
    return f"{named['stem']}.{version_number(name) + 1}.warc.gz"


def is_replaced(name: str, names: Collection[str]) -> bool:
    """Return whether ``names`` contains a later version of the segment ``name``."""
    named = _NAME.fullmatch(name)
    if named is None:
        return False
    versions = (_NAME.fullmatch(each) for each in names)
    return any(
        each is not None
        and each["stem"] == named["stem"]
        and version_number(each.string) > version_number(name)
        for each in versions
    )


def replaced_segments(names: Iterable[str]) -> dict[str, str]:
    """Return the names of replaced segments, each with the name of the segment's last version."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if named := _NAME.fullmatch(name):
            by_stem[named["stem"]].append(name)
    latest: dict[str, str] = {}
    for versions in by_stem.values():
        *earlier, last = sorted(versions, key=version_number)
        latest |= dict.fromkeys(earlier, last)
    return latest


_COPIED_BYTES = 1 << 20
_PARTIAL_SUFFIX = ".new"


class NextVersion:
    """Next version of a segment while it is written.

    Attributes:
        name: final file name of the next version.
        earlier: name of the version that is replaced.
        path: path of the temporary file.
        size: number of bytes written so far.

    Args:
        directory: folder for the temporary file.
        source: content of the earlier version.
        segment: name of the earlier version.
        software: name and version of this program, for the warcinfo record.
    """

    def __init__(self, directory: Path, source: SegmentBytes, segment: str, software: str) -> None:
        self.name = next_version(segment)
        self.earlier = segment
        self.size = 0
        self._source = source
        self.path = directory / f".{self.name}{_PARTIAL_SUFFIX}"
        make_directory(directory)  # it does not exist if all segments are in the object store
        self._file = self.path.open("wb")
        now = datetime.now(UTC).replace(microsecond=0)
        self.add(warcinfo(filename=self.name, software=software, date=now))

    def copy(self, offset: int, length: int) -> Location:
        """Copy a range of the earlier version unchanged; return the location of the copy."""
        place = Location(self.name, self.size, length)
        while length:
            piece = self._source.read_at(offset, min(length, _COPIED_BYTES))
            if not piece:
                raise StoreError("A segment is truncated. Run `archiver verify`.")
            self.write(piece)
            offset, length = offset + len(piece), length - len(piece)
        return place

    def add(self, record: Record) -> Location:
        """Write a record and return its location."""
        start = self.size
        return Location(self.name, start, write_record(record, self))

    def write(self, data: bytes) -> int:
        """Write bytes and return their number."""
        self.size += len(data)
        return self._file.write(data)

    def finish(self) -> None:
        """Fsync and close the temporary file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def discard(self) -> None:
        """Delete the temporary file; the earlier version stays valid."""
        self._file.close()
        self.path.unlink(missing_ok=True)


def remove_partial_versions(directory: Path) -> None:
    """Remove temporary files of killed processes. No process may be writing a version."""
    for path in directory.glob(f".archiver-*{_PARTIAL_SUFFIX}"):
        path.unlink(missing_ok=True)


def remove_segment(directory: Path, name: str) -> int:
    """Remove a segment; return its size, or 0 if it does not exist."""
    path = directory / name
    try:
        size = path.stat().st_size
        path.unlink()
        sync_directory(directory)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise StoreError(f"Cannot remove {name}: {error.strerror}.") from error
    return size
