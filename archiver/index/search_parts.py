"""Full parts of the words' index, put into one piece each.

What is written at different times lies in pieces of its own, of which a query asks each: a dozen in
a part. A part that is full is written no more, so it is worth putting together once. A server's
index has one piece, and a list of what is not sorted into it yet.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import counters, documents
from archiver.index.dialect import dialect_of
from archiver.index.search import TOP
from archiver.index.search_tables import search_table

WHOLE_BELOW = "parts whole below"
PAGES = 250
"""Pages of a part that are put together in one transaction, mostly a twentieth of a second."""
_NOTHING_DONE = 2
"""An engine counts fewer changes where there was nothing to put together."""


async def in_pieces(conn: AsyncConnection) -> int | None:
    """The oldest full part that may lie in pieces; None if there is none, or words are owed yet."""
    if not dialect_of(conn).words.merge or await documents.owed_below(conn) is not None:
        return None
    newest = max(await documents.parts(conn, below=TOP), default=0)
    part = (await counters.all_counters(conn)).get(WHOLE_BELOW, 0)
    return part if part < newest else None


async def put_together(conn: AsyncConnection, part: int) -> None:
    """Put some of a part's pieces together, and note it where it was in one already."""
    words, name = dialect_of(conn).words, search_table(part)
    before = (await conn.execute(text(words.changes))).scalar_one()
    await conn.execute(text(words.merge.format(name)), {"pages": PAGES})
    if (await conn.execute(text(words.changes))).scalar_one() - before < _NOTHING_DONE:
        await counters.put(conn, {WHOLE_BELOW: part + 1})
