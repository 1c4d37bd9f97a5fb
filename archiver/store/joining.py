"""Which segments of a writer may become one, and the one that they become.

What is joined are first editions alone, without a gap between them: then a name says all that it
takes the place of (``editions``).
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from archiver.errors import StoreError
from archiver.store.editions import edition_of, is_joined, is_ours, serial_of
from archiver.store.files import make_directory
from archiver.store.shelf import Shelf
from archiver.store.survey import SegmentFile

MOST_JOINED = 1000
"""At once: what lists a bucket gets as many names in one answer."""


def runs(found: Iterable[SegmentFile], most_bytes: int) -> Iterator[list[SegmentFile]]:
    """Those among some segments that may become one, two at least, as many as fit.

    Args:
        found: segments that are settled.
        most_bytes: that one is to have.
    """
    run: list[SegmentFile] = []
    size = 0
    plain = (each for each in found if _is_plain(each.name))
    for each in sorted(plain, key=lambda each: (each.writer, serial_of(each.name))):
        fits = size + each.size <= most_bytes and len(run) < MOST_JOINED
        if not (run and fits and _follows(run[-1], each)):
            if len(run) > 1:
                yield run
            run, size = [], 0
        run.append(each)
        size += each.size
    if len(run) > 1:
        yield run


def write_joined(shelf: Shelf, parts: Sequence[SegmentFile], path: Path) -> None:
    """Write segments one after the other, as they lie, into a file; it is on disk then.

    Raises:
        OSError, StoreError: one can't be read whole, or it can't be written.
    """
    make_directory(path.parent)
    with path.open("wb") as file:
        for part in parts:
            for piece in shelf.copy(part.name, 0, part.size):
                file.write(piece)
            if shelf.size(part.name) != part.size:
                raise StoreError(f"{part.name} is longer than it was.")
        file.flush()
        os.fsync(file.fileno())


def _is_plain(name: str) -> bool:
    return is_ours(name) and edition_of(name) == 1 and not is_joined(name)


def _follows(one: SegmentFile, other: SegmentFile) -> bool:
    return (one.writer, serial_of(one.name) + 1) == (other.writer, serial_of(other.name))
