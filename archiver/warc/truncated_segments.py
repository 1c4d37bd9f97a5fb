"""Truncated tails of segments, moved to separate files.

A writer that is killed, or whose machine loses power, leaves a partial record at the end of its
segment. Only such a record is moved, and only from segments that archiver wrote. Damaged but
complete records, damage before other records, and files of other programs are not changed. The
partial record is copied to ``SEGMENT.torn`` before the segment is truncated.
"""

import fcntl
import os
from collections import deque
from itertools import count
from pathlib import Path

from archiver.errors import StoreError
from archiver.helpers import sync_directory
from archiver.warc.reader import ReadOnly
from archiver.warc.segment_inventory import is_written_by_us
from archiver.warc.segment_scanning import Damage, scan
from archiver.warc.segment_versions import is_segment_name

SUFFIX = ".torn"
WRITER_UNKNOWN = "It is not known to be written by archiver, so its end is not changed."
_COPIED_BYTES = 1 << 20


def cut_truncated_tail(path: Path, *, from_offset: int, is_writer_known: bool = False) -> int:
    """Move the partial record at the end of a segment to its own file; return the new size.

    Call this only for a segment whose writer has ended.

    Args:
        path: path of the segment.
        from_offset: offset in bytes of the end of the indexed records.
        is_writer_known: whether the writer in the segment's name is known to be a process of
            archiver; otherwise the warcinfo record must name archiver.

    Raises:
        StoreError: the segment can't be read or cut. Or it has a truncated tail, but is not known
            to be written by archiver; then the file is unchanged.
    """
    try:
        with path.open("rb", buffering=0) as file:
            # Two processes may recover the segments of the same dead writer.
            fcntl.flock(file, fcntl.LOCK_EX)
            end = _truncated_offset(path, from_offset)
            if end is not None:
                is_ours = is_writer_known or is_written_by_us(path)
                if not (is_ours and is_segment_name(path.name)):
                    raise StoreError(f"{path.name} is truncated. {WRITER_UNKNOWN}")
                _copy_tail(path, end)
                os.truncate(path, end)
                os.fsync(file.fileno())
            return os.fstat(file.fileno()).st_size
    except OSError as error:
        raise StoreError(
            f"Cannot move the truncated end of {path.name}: {error.strerror}."
        ) from error


def _truncated_offset(path: Path, from_offset: int) -> int | None:
    ends = deque(scan(path, from_offset=from_offset), maxlen=1)
    last = ends.pop() if ends else None
    return last.location.offset if isinstance(last, Damage) and last.is_truncated else None


def _copy_tail(path: Path, offset: int) -> None:
    """Copy the end of a segment to a new file next to the segment, and sync it to disk."""
    partial = path.with_name(f"{path.name}{SUFFIX}.new")
    with partial.open("wb") as copy:
        source = ReadOnly(path)
        source.seek(offset)
        while piece := source.read(_COPIED_BYTES):
            copy.write(piece)
        copy.flush()
        os.fsync(copy.fileno())
    for number in count(1):
        target = path.with_name(f"{path.name}{f'.{number}' if number > 1 else ''}{SUFFIX}")
        if not target.exists():
            partial.rename(target)
            break
    sync_directory(path.parent)
