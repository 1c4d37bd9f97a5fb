"""Where pages of other archives belong: the capture that each ends at, and the entry it is of.

Many at a time: a transaction for each costs more than all that is done within it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from archiver.index import captures, recorded_seeds, seeds, snapshots
from archiver.index.database import AsyncConnection, Database
from archiver.model.capture import Capture, HashUrl, PayloadDigest, RecordId, Timestamp
from archiver.model.requisite import RequisiteOutcome
from archiver.model.seed import RevisedSeed, Seed
from archiver.warc.entry_record import SnapshotRecord

FIRST_FINAL = 200
"""What has a lower status is an interim response (RFC 9110 §15.2), and no page."""
MOST_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class ForeignPage:
    """A page of another archive.

    Attributes:
        timestamp: when it was asked for.
        seed: its URL, and what a person says of it.
        payload_digest: of its response, where that is known to be the final one.
        final: (URL, timestamp, record id) of its final response, where a record names it.
        requisites: what became of each, where that is known.
        revision: of what the person says, where this program's own record tells.
        import_id: the import of links that it came with, if it did.
        told: what this program's own record tells of it.
    """

    timestamp: Timestamp
    seed: Seed
    payload_digest: PayloadDigest | None = None
    final: tuple[str, Timestamp, RecordId] | None = None
    requisites: tuple[RequisiteOutcome, ...] | None = None
    revision: int | None = None
    import_id: int | None = None
    told: SnapshotRecord | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A page, the capture that it ends at, and the row of its entry."""

    page: ForeignPage
    found: Capture
    entry_id: int

    @property
    def key(self) -> tuple[int, Timestamp]:
        """What names its snapshot."""
        return self.entry_id, self.page.timestamp


async def place(db: Database, pages: Sequence[ForeignPage]) -> list[Placed]:
    """Make sure that there are entries for pages.

    Returns:
        Those of which there is a capture, and no snapshot yet; in order, the first of those that
        would be one snapshot.
    """
    async with db.read() as conn:
        finals = await _final_captures(conn, pages)
    there = [
        (page, found)
        for page, found in zip(pages, finals, strict=True)
        if found and found.status >= FIRST_FINAL
    ]
    if not there:
        return []
    async with db.write() as conn:
        ids = await _ensure(conn, [page for page, _ in there])
        placed = [Placed(page, found, ids[page.seed.hash_url]) for page, found in there]
        held = await snapshots.held_at(conn, [each.key for each in placed])
    fresh: dict[tuple[int, Timestamp], Placed] = {}
    for each in placed:
        if each.key not in held:
            fresh.setdefault(each.key, each)
    return [*fresh.values()]


async def _ensure(conn: AsyncConnection, pages: Iterable[ForeignPage]) -> dict[HashUrl, int]:
    """Entries for pages, as they come: what is said of one entry is said one after the other."""
    ids: dict[HashUrl, int] = {}
    for turn in _turns(pages):
        given: dict[int | None, list[Seed]] = {}
        for page in turn:
            if page.revision is None:
                given.setdefault(page.import_id, []).append(page.seed)
        for import_id, some in given.items():
            ids |= await seeds.ensure(conn, some, import_id=import_id)
        revised = [
            RevisedSeed(each.seed, each.revision) for each in turn if each.revision is not None
        ]
        if revised:
            ids |= await recorded_seeds.take_in(conn, revised)
    return ids


def _turns(pages: Iterable[ForeignPage]) -> list[list[ForeignPage]]:
    """The first page of each entry, the second of each that has two, and so on."""
    turns: list[list[ForeignPage]] = []
    met: Counter[HashUrl] = Counter()
    for page in pages:
        turn = met[page.seed.hash_url]
        met[page.seed.hash_url] += 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(page)
    return turns


async def _final_captures(
    conn: AsyncConnection, pages: Sequence[ForeignPage]
) -> list[Capture | None]:
    """The final response of each page: one that is named, else what its URL leads to then."""
    named = [(page.final[0], page.final[2]) for page in pages if page.final]
    of_records = await captures.of_records(conn, named) if named else {}
    places = [place for page in pages if (place := _place_of(page))]
    at_place: dict[tuple[str, Timestamp], list[Capture]] = {}
    if places:
        urls, moments = zip(*places, strict=True)
        for each in await captures.at_moments(conn, urls, moments):
            at_place.setdefault((each.url, each.timestamp), []).append(each)
    finals: list[Capture | None] = []
    for page in pages:
        found = _named_capture(page, of_records, at_place)
        if found is None and page.payload_digest is None:
            found = await _led_to(conn, page)
        finals.append(found)
    return finals


def _place_of(page: ForeignPage) -> tuple[str, Timestamp] | None:
    """(URL, timestamp) of a final response that is told of."""
    if page.payload_digest:
        return page.seed.url, page.timestamp
    return page.final[:2] if page.final else None


def _named_capture(
    page: ForeignPage,
    of_records: Mapping[tuple[str, RecordId], Sequence[tuple[int, Capture]]],
    at_place: Mapping[tuple[str, Timestamp], Sequence[Capture]],
) -> Capture | None:
    """The capture that is told of: by its record, or by its place and its payload."""
    place = _place_of(page)
    if place is None:
        return None
    if page.final and not page.payload_digest:
        for _, held in of_records.get((page.final[0], page.final[2]), ()):
            if held.timestamp == place[1]:
                return held
    for each in at_place.get(place, ()):
        if page.payload_digest in (None, each.payload_digest):
            return each
    return None


async def _led_to(conn: AsyncConnection, page: ForeignPage) -> Capture | None:
    url, found = page.seed.url, None
    for _ in range(MOST_REDIRECTS):
        found = await captures.nearest(conn, url, page.timestamp) or found
        if found is None or found.redirect_to is None:
            break
        url = found.redirect_to
    return found
