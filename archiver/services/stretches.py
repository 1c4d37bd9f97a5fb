"""What an index has of a kind, read to its end by the stretch: no transaction is open meanwhile."""

from collections.abc import AsyncIterator
from typing import Protocol, TypeVar

from archiver.index.database import AsyncConnection, Database

MOST = 1_000

_Each = TypeVar("_Each")


class _Behind(Protocol[_Each]):
    """Gives so many of what stands behind a number, and the number of the last of them."""

    async def __call__(
        self, conn: AsyncConnection, after: int, /, *, limit: int
    ) -> tuple[list[_Each], int]: ...


async def stretches(
    db: Database, behind: _Behind[_Each], *, most: int = MOST
) -> AsyncIterator[list[_Each]]:
    """All of it, so many at a time."""
    after = 0
    while True:
        async with db.read() as conn:
            found, after = await behind(conn, after, limit=most)
        if not found:
            return
        yield found
