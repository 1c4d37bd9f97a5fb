"""What a person saved within spans of time, by when they saved it."""

from collections.abc import Sequence

from sqlalchemy import select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.schema import entry


async def added_within(
    conn: AsyncConnection, spans: Sequence[tuple[int, int]], *, each: int
) -> list[int]:
    """Rows of the entries that were saved last in each span of Unix seconds, span after span.

    Args:
        conn: a connection.
        spans: a few dozen, each from its first second up to the one behind it.
        each: so many of a span at most.
    """
    arms = [
        select(
            select(entry.c.id)
            .where(entry.c.added_at >= first, entry.c.added_at < beyond)
            .order_by(entry.c.added_at.desc(), entry.c.id.desc())
            .limit(each)
            .subquery(f"day_{n}")
        )
        for n, (first, beyond) in enumerate(spans)
    ]
    return list((await conn.execute(union_all(*arms))).scalars())
