"""What is found in an archive file, so much at a time as may be in memory."""

from collections.abc import Iterator

from archiver.errors import UnreadableFile
from archiver.ingest.exchanges import (
    SPOOLED_BYTES,
    ForeignCapture,
    ForeignEntryRecord,
    Found,
)
from archiver.ingest.likenesses import ForeignLikeness
from archiver.ingest.revisits import ForeignRevisit

BATCH = 200
_MOST_BYTES = 32 << 20
_LEAST_WEIGHT = 16 << 10


class FoundBatches:
    """What is found, so much at a time as may be in memory; what ends it is raised after it."""

    def __init__(self, found: Iterator[Found]) -> None:
        self._found = found
        self._error: UnreadableFile | None = None

    def next(self) -> list[Found]:
        """What comes next; empty at the end. Blocking.

        Raises:
            UnreadableFile: nothing more can be read.
        """
        if self._error:
            raise self._error
        batch: list[Found] = []
        weight = 0
        try:
            for each in self._found:
                batch.append(each)
                weight += _weight(each)
                if len(batch) >= BATCH or weight >= _MOST_BYTES:
                    break
        except UnreadableFile as error:
            if not batch:
                raise
            self._error = error
        return batch


def _weight(found: Found) -> int:
    match found:
        case ForeignCapture():
            return _LEAST_WEIGHT + min(found.exchange.payload_length, SPOOLED_BYTES)
        case ForeignEntryRecord() | ForeignLikeness():
            return len(found.block)
        case ForeignRevisit():
            return len(found.head) + len(found.request)
        case _:
            return 0
