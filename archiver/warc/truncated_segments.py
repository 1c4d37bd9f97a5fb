"""Truncated ends of segments, moved to files of their own.

A writer that is killed, or whose machine loses power, leaves a record half written at the end of
its segment. Nothing else is ever cut: not what is damaged but whole, not what stands before a
record, not a file that is not ours. What is cut lies in ``SEGMENT.torn`` before it is cut.
"""

import fcntl
import os
from collections import deque
from itertools import count
from pathlib import Path

from archiver.errors import StoreError
from archiver.warc.durable_files import ReadOnly, sync_directory
from archiver.warc.segment_inventory import has_our_name, is_written_by_us
from archiver.warc.segment_scanning import Damage, scan

SUFFIX = ".torn"
LEFT = "It is no segment that archiver is known to have written: its end is left as it is."
_COPIED_BYTES = 1 << 20


def cut_torn_end(path: Path, *, from_offset: int, is_writer_known: bool = False) -> int:
    """Move the incomplete record at the end of a segment beside it; return the size it has then.

    To be called only for a segment whose writer is dead.

    Args:
        path: the segment.
        from_offset: the byte from which on no index has read it.
        is_writer_known: whether the process in its name is known to have been one of ours;
            otherwise its warcinfo record must say that archiver wrote it.

    Raises:
        StoreError: the segment can't be read or cut, or its end is torn and it is not ours; all
            that was in it still is.
    """
    try:
        with path.open("rb", buffering=0) as file:
            # Two processes may find the same dead writer.
            fcntl.flock(file, fcntl.LOCK_EX)
            end = _torn_from(path, from_offset)
            if end is not None:
                if not has_our_name(path) or not (is_writer_known or is_written_by_us(path)):
                    raise StoreError(f"{path.name} ends too early. {LEFT}")
                _keep(path, end)
                os.truncate(path, end)
                os.fsync(file.fileno())
            return os.fstat(file.fileno()).st_size
    except OSError as error:
        raise StoreError(f"The end of {path.name} can't be cut: {error.strerror}.") from error


def _torn_from(path: Path, from_offset: int) -> int | None:
    ends = deque(scan(path, from_offset=from_offset), maxlen=1)
    last = ends.pop() if ends else None
    return last.location.offset if isinstance(last, Damage) and last.is_torn else None


def _keep(path: Path, offset: int) -> None:
    """Copy the end of a segment into a new file beside it, durably."""
    unready = path.with_name(f"{path.name}{SUFFIX}.new")
    with unready.open("wb") as copy:
        source = ReadOnly(path)
        source.seek(offset)
        while piece := source.read(_COPIED_BYTES):
            copy.write(piece)
        copy.flush()
        os.fsync(copy.fileno())
    for number in count(1):
        kept = path.with_name(f"{path.name}{f'.{number}' if number > 1 else ''}{SUFFIX}")
        if not kept.exists():
            unready.rename(kept)
            break
    sync_directory(path.parent)
