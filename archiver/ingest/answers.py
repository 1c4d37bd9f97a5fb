"""What the scripts of pages were answered, on the way in from a file of this program's.

Such records come before the one that says whose they are, so they wait in a file of their own. What
no page names stays out: nobody could find it.
"""

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from io import BytesIO

from archiver.ingest.exchanges import ForeignCapture, pieces_of
from archiver.model.capture import RecordId
from archiver.model.exchange import Exchange
from archiver.scratch import scratch_file, spooled_file

MOST_HELD = 64 << 20
"""Bytes of heads and requests that wait in memory."""
MOST_SPOOLED = 4 << 30
"""Bytes of bodies that wait on the disk: a small file can unpack to a thousand times its size."""
SPOOLED_BYTES = 1 << 20
PIECE = 64 << 10


@dataclass(frozen=True, slots=True)
class _Place:
    """An exchange without its body, and where that lies."""

    exchange: Exchange
    start: int
    length: int


class KeptAnswers(ExitStack):
    """Answers of a file until the pages are known that they are of. Blocking."""

    def __init__(self) -> None:
        super().__init__()
        self._file = self.enter_context(scratch_file())
        self._places: dict[RecordId, _Place] = {}
        self._end = self._held = 0

    def note(self, found: ForeignCapture) -> None:
        """Keep one, as long as there is room for what is said of it; its body is closed."""
        exchange = found.exchange
        with closing(exchange.body):
            self._held += len(exchange.head) + len(exchange.request) + PIECE // 64
            if self._held > MOST_HELD:
                return
            start = self._file.seek(self._end)
            for piece in pieces_of(exchange.body):
                if self._file.tell() + len(piece) > MOST_SPOOLED:
                    return
                self._file.write(piece)
            self._end = self._file.tell()
        place = _Place(replace(exchange, body=BytesIO()), start, self._end - start)
        self._places[RecordId(found.given_id)] = place

    def take(self, named: RecordId) -> Exchange | None:
        """One that is there, and to nobody a second time; whoever gets it closes its body."""
        place = self._places.pop(named, None)
        return self._whole(place) if place else None

    def _whole(self, place: _Place) -> Exchange:
        body, left = spooled_file(SPOOLED_BYTES), place.length
        self._file.seek(place.start)
        while left and (piece := self._file.read(min(PIECE, left))):
            body.write(piece)
            left -= len(piece)
        return replace(place.exchange, body=body)
