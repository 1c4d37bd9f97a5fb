"""Walks the index of captures, so many rows at a time, each time from where the last ones ended."""

from collections.abc import AsyncGenerator

from archiver.index import capture_ranges
from archiver.index.capture_ranges import KeyRange, Place, Placed
from archiver.index.database import Database

PAGE = 1000


async def walk(
    db: Database, wanted: KeyRange, after: Place | None = None, until: Place | None = None
) -> AsyncGenerator[list[Placed], None]:
    """All captures of a range, between two places in the direction of the walk."""
    while True:
        async with db.read() as conn:
            found = await capture_ranges.in_range(conn, wanted, after=after, limit=PAGE)
        inside = [each for each in found if _is_before(each[0], until, wanted)]
        if inside:
            after = inside[-1][0]
            yield inside
        if len(inside) < PAGE:
            return


def _is_before(place: Place, until: Place | None, wanted: KeyRange) -> bool:
    if until is None:
        return True
    return place > until if wanted.newest_first else place < until
