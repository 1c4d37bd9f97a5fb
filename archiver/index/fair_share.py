"""How much of the queue one process takes at once, where others work it too.

Who takes a host has it to itself, and who takes jobs keeps them until they are done: one that took
all it has room for would leave the others without work, at the beginning of a crawl and at its end.
"""

from dataclasses import dataclass

from sqlalchemy import Integer, bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import counters
from archiver.index.schema import counter, queue_host

LEAST = 16
OF_ROOM = 8
"""Such a part of the room is worth a lease in any case."""
_QUEUED = select(counter.c.value).where(counter.c.name == counters.QUEUED)
_IN_LINE = select(func.count()).select_from(
    select(queue_host.c.host).limit(bindparam("most", type_=Integer)).subquery()
)


@dataclass(frozen=True, slots=True)
class Share:
    """What one process may take at once.

    Attributes:
        jobs: how many.
        strangers: how many hosts of which it does not know whether they answer.
    """

    jobs: int
    strangers: int

    def within(self, room: int) -> "Share":
        """What of it there is room for."""
        return Share(min(room, self.jobs), min(room, self.strangers))


async def fair_share(conn: AsyncConnection, room: int, sharers: int) -> Share:
    """A share of what waits, for one of so many processes that has so much room."""
    if sharers < 2:
        return Share(room, room)
    queued = await conn.execute(_QUEUED)
    hosts = await conn.execute(_IN_LINE, {"most": room * sharers})
    least = max(LEAST, room // OF_ROOM)
    waiting = (queued.scalar() or 0, hosts.scalar_one())
    return Share(*(max(each // sharers, least) for each in waiting)).within(room)
