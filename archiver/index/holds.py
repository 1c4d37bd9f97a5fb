"""Which process has a host to itself, whose turn it is there, and which hosts asked for rest.

All of it is of shared indices: where an index is a file, the processes of one machine divide what
a host may be asked for (``limits``). Moments are by the server's clock, in milliseconds.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, exists, func, null, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import Clash, among_texts, insert_rows
from archiver.index.dialect.functions import Now
from archiver.index.host_tables import host_hold, host_rest, host_turn
from archiver.index.machine_tables import writer

_END = update(host_turn).values(owner=null(), free_at_ms=Now() + bindparam("wait"))


def is_free(host: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the process ``owner`` may have a host at the moment ``now``."""
    held, rest = host_hold.c, host_rest.c
    now = bindparam("now", type_=held.free_at_ms.type)
    is_anothers = _is_alive(held.owner) & (held.owner != bindparam("owner"))
    is_held = exists().where(held.host == host, or_(is_anothers, held.free_at_ms > now))
    return ~is_held & ~exists().where(rest.host == host, rest.until_ms > now)


def _is_alive(owner: ColumnElement[str]) -> ColumnElement[bool]:
    return exists().where(writer.c.name == owner)


async def hold(conn: AsyncConnection, owner: str, hosts: Collection[str], *, delay_ms: int) -> None:
    """Have hosts to oneself that ``is_free`` was true of in this transaction."""
    rows = [(host, owner, 0, delay_ms) for host in sorted(hosts)]
    columns = ("host", "owner", "free_at_ms", "delay_ms")
    await insert_rows(conn, host_hold, columns, rows, Clash.GOES)


async def let_go(conn: AsyncConnection, owner: str, hosts: Collection[str]) -> None:
    """Leave hosts to others, from a moment on at which they may be asked again."""
    if hosts:
        await _free(conn, host_hold.c.owner == owner, host_hold.c.host.in_(among_texts(hosts)))
        stale = delete(host_hold).where(
            host_hold.c.owner.is_(None), host_hold.c.free_at_ms <= Now()
        )
        await conn.execute(stale)


async def let_go_of_all(conn: AsyncConnection, owner: str) -> None:
    """Leave all hosts of a process to others, and end its turns."""
    await _free(conn, host_hold.c.owner == owner)
    await conn.execute(_END.where(host_turn.c.owner == owner), {"wait": 0})


async def take_turn(conn: AsyncConnection, owner: str, host: str) -> bool:
    """Have the one turn at a host that all have in common, if nobody has it."""
    await insert_rows(
        conn, host_turn, ("host", "owner", "free_at_ms"), [(host, None, 0)], Clash.STAYS
    )
    mine = (
        update(host_turn)
        .where(
            host_turn.c.host == host,
            ~_is_alive(host_turn.c.owner),
            host_turn.c.free_at_ms <= Now(),
        )
        .values(owner=owner)
        .returning(host_turn.c.host)
    )
    return bool((await conn.execute(mine)).all())


async def end_turn(conn: AsyncConnection, owner: str, host: str, *, wait_ms: int) -> None:
    """Give a turn back; the next one begins after a wait."""
    own = (host_turn.c.owner == owner, host_turn.c.host == host)
    await conn.execute(_END.where(*own), {"wait": wait_ms})


async def note_rests(conn: AsyncConnection, rests: Mapping[str, int]) -> None:
    """Note for how long from now on hosts want to be left alone (ms)."""
    await conn.execute(delete(host_rest).where(host_rest.c.until_ms <= Now()))
    moment = (await conn.execute(select(Now()))).scalar_one()
    rows = [(host, moment + rest) for host, rest in sorted(rests.items())]
    await insert_rows(conn, host_rest, ("host", "until_ms"), rows, Clash.RISES)


async def rests(conn: AsyncConnection) -> dict[str, int]:
    """For how long which hosts want to be left alone yet (ms): later, whoever hears it late."""
    left = host_rest.c.until_ms - Now()
    rows = await conn.execute(select(host_rest.c.host, left).where(left > 0))
    return dict(rows.all())


async def rest_of(conn: AsyncConnection, host: str) -> int:
    """For how long a host wants to be left alone yet (ms)."""
    left = select(host_rest.c.until_ms - Now()).where(host_rest.c.host == host)
    return max((await conn.execute(left)).scalar() or 0, 0)


async def crawlers(conn: AsyncConnection) -> int:
    """How many processes may ask hosts: all that write, and are not dead."""
    alive = select(func.count()).where(writer.c.beat_ms + writer.c.lease_ms >= Now())
    return int((await conn.execute(alive)).scalar_one())


async def _free(conn: AsyncConnection, *which: ColumnElement[bool]) -> None:
    free: dict[str, Any] = {"owner": null(), "free_at_ms": Now() + host_hold.c.delay_ms}
    await conn.execute(update(host_hold).where(*which).values(free))
