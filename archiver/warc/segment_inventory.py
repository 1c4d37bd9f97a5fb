"""Inventory of the files in segment storage.

Unusable files are reported and skipped; all other files remain usable.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from archiver.errors import StoreError
from archiver.warc.reader import ReadOnly, StoredRecord, read_record
from archiver.warc.records import RecordType
from archiver.warc.segment_versions import is_segment_name, replaced_segments, writer_of

SUFFIX = ".warc.gz"
SOFTWARE = "archiver/"
_MAX_WARCINFO_BYTES = 64 << 10
_TRUNCATED_NAME = re.compile(r".+\.warc\.gz(\.\d+)?\.torn")


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """Segment file: its name and its size in bytes."""

    name: str
    size: int

    @property
    def writer(self) -> str:
        """Name of the process that wrote the segment; empty if the name is not a segment name."""
        return writer_of(self.name)


@dataclass(frozen=True, slots=True)
class UnusableFile:
    """Unusable file among the segments.

    Attributes:
        name: file name.
        problem: the reason as a sentence.
        has_lost_data: whether the file has a segment name, so that its records are missing from
            the archive.
    """

    name: str
    problem: str
    has_lost_data: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """Files of segment storage, sorted by name.

    ``truncated`` are copies of damaged ends of segments (``.torn`` files). ``superseded`` maps
    earlier versions of segments to the version that replaces them.
    """

    segments: tuple[SegmentFile, ...] = ()
    truncated: tuple[SegmentFile, ...] = ()
    unusable_files: tuple[UnusableFile, ...] = ()
    superseded: Mapping[str, str] = field(default_factory=dict)


def survey(directory: Path) -> Survey:
    """Classify every file of a directory except hidden files.

    Raises:
        StoreError: the directory can't be read.
    """
    segments, truncated, unusable_files = [], [], []
    for path in _files(directory):
        file = _classify(path)
        if isinstance(file, UnusableFile):
            unusable_files.append(file)
        elif _TRUNCATED_NAME.fullmatch(path.name):
            truncated.append(file)
        else:
            segments.append(file)
    earlier = replaced_segments(each.name for each in segments)
    read = tuple(each for each in segments if each.name not in earlier)
    return Survey(read, tuple(truncated), tuple(unusable_files), earlier)


def is_written_by_us(path: Path) -> bool:
    """Return whether a file starts with a warcinfo record of this program."""
    return not _not_by_us(path)


def _files(directory: Path) -> list[Path]:
    try:
        paths = sorted(directory.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"Cannot read {directory}: {error.strerror}.") from error
    return [path for path in paths if not path.name.startswith(".")]


def _classify(path: Path) -> SegmentFile | UnusableFile:
    has_segment_name = is_segment_name(path.name)
    try:
        status = path.stat()
    except OSError as error:
        return UnusableFile(path.name, f"Cannot read it: {error.strerror}.", has_segment_name)
    problem = _unusable(path, status)
    if not problem and not has_segment_name and not _TRUNCATED_NAME.fullmatch(path.name):
        problem = _not_by_us(path)
    if problem:
        return UnusableFile(path.name, problem, has_segment_name)
    return SegmentFile(path.name, status.st_size)


def _unusable(path: Path, status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        return "It is not a regular file."
    if not os.access(path, os.R_OK):
        return "Cannot read it: permission denied."
    return ""


def _not_by_us(path: Path) -> str:
    """Return why a file is not a segment of this program; empty if it is one."""
    if not path.name.endswith(SUFFIX):
        return "It is not a segment."
    try:
        record = read_record(ReadOnly(path), 0)
        if record.type is RecordType.WARCINFO and _software(record).startswith(SOFTWARE):
            return ""
    except OSError as error:
        return f"Cannot read it: {error.strerror}."
    except StoreError:
        return "It is not a readable WARC file, or it is damaged."
    return "It was written by another program. Import it with `archiver import`."


def _software(record: StoredRecord) -> str:
    """Return the program that a warcinfo record names (ISO 28500 §6.2)."""
    for line in record.block.read(_MAX_WARCINFO_BYTES).decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "software":
            return value.strip()
    return ""
