"""What a file of links says, some thousands of links at a time, read ahead by a process of its own.

To read rows and to make seeds of them take about as long: in two processes both are done at once.
"""

import gc
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from operator import attrgetter
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.seeds import bounded
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.entry_list import EntryList
from archiver.model.kept_page import KeptPage

BATCH = 5000
BATCH_BYTES = 16 << 20
"""Of pages that came with links, with the characters of what is said of those."""
_HEAVY = 1 << 20
"""Of one link: what is over its bounds stays with the process that read it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some links of a file, in order, as it says them.

    Attributes:
        bookmarks: those; at the end of the file none.
        lists: that the file told of up to there.
        lists_left_out: how many it told of beyond those.
    """

    bookmarks: list[Bookmark]
    lists: tuple[EntryList, ...]
    lists_left_out: int

    @property
    def is_last(self) -> bool:
        """Whether there is no more of the file."""
        return not (self.bookmarks or self.lists or self.lists_left_out)


def read_chunks(file: GivenFile, found: Iterator[Bookmark]) -> Iterator[Chunk]:
    """All links of a file; the last chunk is an empty one."""
    first = _next_chunk(file, found)
    yield first
    chunk = first
    if len(first.bookmarks) == BATCH:
        yield from _read_beside(file, found)
        return
    while not chunk.is_last:
        chunk = _next_chunk(file, found)
        yield chunk


def _next_chunk(file: GivenFile, found: Iterator[Bookmark]) -> Chunk:
    bookmarks, length = [], 0
    for bookmark in islice(found, BATCH):
        weight = _weight(bookmark)
        length += weight
        is_heavy = weight > _HEAVY and not bookmark.problem
        bookmarks.append(_lightened(bookmark) if is_heavy else bookmark)
        if length > BATCH_BYTES:
            break
    chunk = Chunk(bookmarks, tuple(file.lists), file.lists_left_out)
    file.lists.clear()
    file.lists_left_out = 0
    return chunk


def _lightened(bookmark: Bookmark) -> Bookmark:
    return replace(bookmark, annotation=bounded(bookmark.annotation))


def _weight(bookmark: Bookmark) -> int:
    """What it takes of memory, as far as that has no small bound of its own."""
    annotation, page = bookmark.annotation, bookmark.page
    weight = len(annotation.url_given) + len(annotation.note) + len(annotation.source_record)
    for names in (annotation.tags, annotation.folders):
        for name in names:
            weight += len(name)
    for each in annotation.highlights:
        weight += len(each.quote) + len(each.note)
    return weight + (page.weight if page else 0)


def _read_beside(file: GivenFile, found: Iterator[Bookmark]) -> Iterator[Chunk]:
    """Go on in a process of its own, which is given what this one reads.

    This one, whom the service has started and ends, goes on reading the file and comes to its end
    here; the other one ends with it, as nothing more comes.
    """
    theirs, ours = Pipe(duplex=False)
    gc.freeze()
    process = os.fork()
    if not process:
        ours.close()
        return _handed_over(theirs)
    theirs.close()
    os.close(sys.stdout.fileno())
    _hand_over(file, found, ours)
    _, status = os.waitpid(process, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


def _hand_over(file: GivenFile, found: Iterator[Bookmark], ours: Connection) -> None:
    while True:
        chunk = _next_chunk(file, found)
        try:
            ours.send(_packed(chunk))
        except BrokenPipeError:
            os._exit(1)  # nobody listens
        if chunk.is_last:
            ours.close()
            return


def _handed_over(theirs: Connection) -> Iterator[Chunk]:
    while True:
        try:
            chunk = _unpacked(theirs.recv())
        except (EOFError, OSError):
            os._exit(1)  # who read came to grief
        yield chunk
        if chunk.is_last:
            os._exit(0)  # files that lie about are the other one's to remove


def _packed(chunk: Chunk) -> "_Packed":
    """A chunk as plain values: objects take five times as long."""
    others = {
        place: (each.problem, each.page, each.is_broken)
        for place, each in enumerate(chunk.bookmarks)
        if each.problem or each.page
    }
    annotations = [_annotation_values(each.annotation) for each in chunk.bookmarks]
    return annotations, others, chunk.lists, chunk.lists_left_out


def _unpacked(packed: "_Packed") -> Chunk:
    annotations, others, lists, left_out = packed
    bookmarks = [Bookmark(Annotation(*each)) for each in annotations]
    for place, more in others.items():
        bookmarks[place] = Bookmark(bookmarks[place].annotation, *more)
    return Chunk(bookmarks, lists, left_out)


_Packed = tuple[
    list[tuple[Any, ...]], dict[int, tuple[str, KeptPage | None, bool]], tuple[EntryList, ...], int
]
_annotation_values = attrgetter(*(each.name for each in fields(Annotation)))
