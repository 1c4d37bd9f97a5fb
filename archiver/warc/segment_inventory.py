"""Inventory of the files in segment storage.

A file that can't be used is told of and passed by; it never keeps the others from being used.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from archiver.errors import StoreError
from archiver.warc.durable_files import ReadOnly
from archiver.warc.reader import StoredRecord, read_record
from archiver.warc.records import RecordType
from archiver.warc.segment_versions import is_ours, superseded, writer_of

SUFFIX = ".warc.gz"
SOFTWARE = "archiver/"
_MOST_WARCINFO_BYTES = 64 << 10
_TORN = re.compile(r".+\.warc\.gz(\.\d+)?\.torn")


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A segment on disk: its name and its size in bytes."""

    name: str
    size: int

    @property
    def writer(self) -> str:
        """The process that wrote it; empty if the name is not one of ours."""
        return writer_of(self.name)


@dataclass(frozen=True, slots=True)
class PassedBy:
    """A file among the segments that is not used, and why.

    Attributes:
        name: its name.
        problem: a sentence.
        is_loss: whether it has the name of a segment of ours, so that something is missing.
    """

    name: str
    problem: str
    is_loss: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """A directory of segments; each part by name.

    ``superseded``: earlier editions of segments, by name, and the one that is read instead.
    """

    segments: tuple[SegmentFile, ...] = ()
    torn: tuple[SegmentFile, ...] = ()
    passed_by: tuple[PassedBy, ...] = ()
    superseded: Mapping[str, str] = field(default_factory=dict)


def survey(directory: Path) -> Survey:
    """Look at every file of a directory; hidden files are not looked at.

    Raises:
        StoreError: the directory can't be read.
    """
    segments, torn, passed_by = [], [], []
    for path in _files(directory):
        found = _look_at(path)
        if isinstance(found, PassedBy):
            passed_by.append(found)
        elif _TORN.fullmatch(path.name):
            torn.append(found)
        else:
            segments.append(found)
    earlier = superseded(each.name for each in segments)
    read = tuple(each for each in segments if each.name not in earlier)
    return Survey(read, tuple(torn), tuple(passed_by), earlier)


def has_our_name(path: Path) -> bool:
    """Whether a file is called as segments of ours are."""
    return is_ours(path.name)


def is_written_by_us(path: Path) -> bool:
    """Whether a file opens with a warcinfo record of ours."""
    return not _not_by_us(path)


def _files(directory: Path) -> list[Path]:
    try:
        found = sorted(directory.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{directory} can't be read: {error.strerror}.") from error
    return [path for path in found if not path.name.startswith(".")]


def _look_at(path: Path) -> SegmentFile | PassedBy:
    is_ours = has_our_name(path)
    try:
        found = path.stat()
    except OSError as error:
        return PassedBy(path.name, f"It can't be read: {error.strerror}.", is_ours)
    problem = _unusable(path, found)
    if not problem and not is_ours and not _TORN.fullmatch(path.name):
        problem = _not_by_us(path)
    if problem:
        return PassedBy(path.name, problem, is_ours)
    return SegmentFile(path.name, found.st_size)


def _unusable(path: Path, found: os.stat_result) -> str:
    if not stat.S_ISREG(found.st_mode):
        return "It is no file."
    if not os.access(path, os.R_OK):
        return "It can't be read: you may not."
    return ""


def _not_by_us(path: Path) -> str:
    """Why a file is not to be taken for a segment of ours; empty if it is one."""
    if not path.name.endswith(SUFFIX):
        return "It is no segment."
    try:
        record = read_record(ReadOnly(path), 0)
        if record.type is RecordType.WARCINFO and _software(record).startswith(SOFTWARE):
            return ""
    except OSError as error:
        return f"It can't be read: {error.strerror}."
    except StoreError:
        return "It is no WARC file that can be read, or a damaged one."
    return "Another program wrote it: `archiver import` takes in what it holds."


def _software(record: StoredRecord) -> str:
    """The program that a warcinfo record names (ISO 28500 §6.2)."""
    for line in record.block.read(_MOST_WARCINFO_BYTES).decode("utf-8", "replace").split("\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "software":
            return value.strip()
    return ""
