"""What is due, before some of it is leased."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import changes, turns
from archiver.index.fair_share import Share, fair_share


@dataclass(frozen=True, slots=True)
class Due:
    """What a lease is made from.

    Attributes:
        soonest: when the first in line may be asked (ms), by priority.
        stamp: of what the transaction changes.
        share: what may be taken.
    """

    soonest: dict[int, int]
    stamp: int
    share: Share


async def due(conn: AsyncConnection, room: int, now: datetime, *, sharers: int = 1) -> Due:
    """What is due for one of so many processes, which has so much room."""
    return Due(
        await turns.soonest(conn),
        await changes.next_stamp(conn, now),
        await fair_share(conn, room, sharers),
    )
