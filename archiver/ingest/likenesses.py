"""How pages looked in a browser, on the way in from a file of this program's.

They come before the record that says whose they are, so they wait in a file of their own. Icons
and covers are none of them: they are drawn anew of what the file holds.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from archiver.model.capture import RecordId
from archiver.model.likeness import (
    DRAWN,
    MEDIA_TYPES,
    PAGE_TYPE,
    LikenessKind,
    LikenessRef,
    NewLikeness,
)
from archiver.scratch import scratch_file
from archiver.warc.foreign import ForeignRecord
from archiver.wire.media_type import essence_of, parse_media_type

MOST_BYTES = 64 << 20
"""Of one of them."""
MOST_KEPT = 200_000


@dataclass(frozen=True, slots=True)
class ForeignLikeness:
    """A conversion record that says it is a likeness of a page.

    Attributes:
        record_id: what the page's record names it by.
        block: what it holds.
    """

    record_id: RecordId
    block: bytes


def is_likeness(record: ForeignRecord) -> bool:
    """Whether a record is one that may be kept, by its target, its type and its length."""
    kind = record.target_uri.rpartition(":")[2]
    if record.type != "conversion" or kind not in set(LikenessKind) - DRAWN:
        return False
    stated = essence_of(parse_media_type(record.get("content-type")))
    return stated in MEDIA_TYPES[LikenessKind(kind)] and record.block.left <= MOST_BYTES


class KeptLikenesses(ExitStack):
    """Likenesses of a file until the pages are known that they are of. Blocking."""

    def __init__(self) -> None:
        super().__init__()
        self._file = self.enter_context(scratch_file())
        self._places: dict[RecordId, tuple[int, int]] = {}
        self._end = 0

    def note(self, found: ForeignLikeness) -> None:
        """Keep one, as long as there is room for its place."""
        if len(self._places) < MOST_KEPT:
            self._file.seek(self._end)
            self._file.write(found.block)
            self._places[found.record_id] = self._end, len(found.block)
            self._end += len(found.block)

    def of(self, named: Sequence[LikenessRef]) -> tuple[NewLikeness, ...]:
        """Those that are named and there, one of a kind, as what their kind may be.

        What is drawn here is none of them, whatever records a file names as that.
        """
        found: dict[LikenessKind, NewLikeness] = {}
        for each in named:
            if each.kind in DRAWN:
                continue
            media_type = essence_of(parse_media_type(each.media_type))
            if media_type in MEDIA_TYPES[each.kind] and each.record_id in self._places:
                start, length = self._places[each.record_id]
                self._file.seek(start)
                content = self._file.read(length)
                stated = PAGE_TYPE if each.kind is LikenessKind.PAGE else media_type
                found.setdefault(each.kind, NewLikeness(each.kind, stated, content))
        return tuple(found.values())
