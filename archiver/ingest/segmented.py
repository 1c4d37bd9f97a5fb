"""Joins the segments of records that were cut into several (ISO 28500 §7)."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import IO

from archiver.errors import InvalidRecord, StoreError
from archiver.scratch import scratch_file
from archiver.warc.foreign import ForeignBlock, ForeignRecord, Skipped

MOST_OPEN = 16
"""Records whose segments are waited for at a time; the one that has waited longest is given up."""
PIECE = 64 << 10
_CONTINUATION = "continuation"


@dataclass(slots=True)
class _Begun:
    """A record of which some segments were met."""

    first: ForeignRecord
    block: IO[bytes]
    length: int = 0
    segments: int = 1


class Segments(ExitStack):
    """The records that are whole, and those whose segments were joined.

    Args:
        most_bytes: the longest block that is joined.
    """

    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self._most_bytes = most_bytes
        self._begun: dict[str, _Begun] = {}
        self._given: IO[bytes] | None = None
        self.callback(self._close_all)

    def joined(
        self, records: Iterable[ForeignRecord | Skipped]
    ) -> Iterator[ForeignRecord | Skipped]:
        """Records in order; a segmented one where its last segment stands."""
        for each in records:
            if isinstance(each, Skipped) or not each.get("warc-segment-number"):
                yield each
                continue
            try:
                found = self._continue(each) if each.type == _CONTINUATION else self._begin(each)
            except StoreError as error:
                yield Skipped(each.place, f"A segment of {each.target_uri}: {error}")
            else:
                yield from found
                self._close_given()
        for begun in self._begun.values():
            yield _given_up(begun)

    def _begin(self, record: ForeignRecord) -> list[ForeignRecord | Skipped]:
        begun = _Begun(record, scratch_file())
        self._take(begun, record)
        found: list[ForeignRecord | Skipped] = []
        if len(self._begun) >= MOST_OPEN:
            found.append(self._give_up(next(iter(self._begun))))
        if record.id in self._begun:
            found.append(self._give_up(record.id))
        self._begun[record.id] = begun
        return found

    def _continue(self, record: ForeignRecord) -> list[ForeignRecord | Skipped]:
        origin = record.get("warc-segment-origin-id").strip("<>")
        begun = self._begun.get(origin)
        if begun is None:
            raise InvalidRecord("what it continues is not in this file before it.")
        if record.get("warc-segment-number") != str(begun.segments + 1):
            return [self._give_up(origin)]
        begun.segments += 1
        self._take(begun, record)
        total = record.get("warc-segment-total-length")
        if not total:
            return []
        if total != str(begun.length):
            return [self._give_up(origin)]
        del self._begun[origin]
        begun.block.seek(0)
        self._given = begun.block
        return [replace(begun.first, block=ForeignBlock(_Lines(begun.block), begun.length))]

    def _take(self, begun: _Begun, record: ForeignRecord) -> None:
        if begun.length + record.block.left > self._most_bytes:
            self._begun.pop(begun.first.id, None)
            begun.block.close()
            raise InvalidRecord(f"its segments are larger than {self._most_bytes:,} bytes.")
        begun.length += record.block.left
        while data := record.block.read(PIECE):
            begun.block.write(data)

    def _close_all(self) -> None:
        for begun in self._begun.values():
            begun.block.close()
        self._close_given()

    def _close_given(self) -> None:
        if self._given:
            self._given.close()
        self._given = None

    def _give_up(self, record_id: str) -> Skipped:
        begun = self._begun.pop(record_id)
        begun.block.close()
        return _given_up(begun)


def _given_up(begun: _Begun) -> Skipped:
    return Skipped(
        begun.first.place,
        f"{begun.first.target_uri}: of its segments {begun.segments} are in this file, "
        "and those that follow are not.",
    )


class _Lines:
    """A file that is read by bytes or by line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int, /) -> bytes:
        return self._file.read(size)

    def line(self, most: int, /) -> bytes:
        return self._file.readline(most)
