"""Points the index at a segment that holds several others whole, one after the other."""

from collections.abc import Mapping

from sqlalchemy import Column, MetaData, Table, Update, bindparam, delete, select, update
from sqlalchemy.schema import CreateTable, DropTable

from archiver.index import segments
from archiver.index.bulk import insert_rows
from archiver.index.connection import AsyncConnection
from archiver.index.schema import answer, capture, likeness, segment, snapshot, withheld
from archiver.index.table_registry import Number

_JOINED = Table(
    "joined",
    MetaData(),
    Column("was", Number, primary_key=True, autoincrement=False),
    Column("start", Number),
    prefixes=["TEMPORARY"],
)
_TO = bindparam("became", type_=Number)


def _moved(table: Table, prefix: str = "") -> Update:
    lies_in, offset = table.c[f"{prefix}segment_id"], table.c[f"{prefix}offset"]
    values = {lies_in: _TO, offset: offset + _JOINED.c.start}
    return update(table).values(values).where(lies_in == _JOINED.c.was)


_MOVED = (
    _moved(capture),
    _moved(withheld),
    _moved(likeness),
    _moved(answer),
    _moved(snapshot, "article_"),
    _moved(snapshot, "metadata_"),
)


async def join(conn: AsyncConnection, starts: Mapping[str, int], to: str, *, size: int) -> None:
    """Point at a segment that holds others whole; those are forgotten.

    Args:
        conn: a writing connection.
        starts: the byte where each begins there, by name.
        to: the segment that holds them.
        size: of it, in bytes.
    """
    numbers = await segments.advance(conn, {to: size, **dict.fromkeys(starts, 0)})
    await conn.execute(DropTable(_JOINED, if_exists=True))
    await conn.execute(CreateTable(_JOINED))
    rows = [(numbers[name], start) for name, start in starts.items()]
    await insert_rows(conn, _JOINED, ("was", "start"), rows)
    for statement in _MOVED:
        await conn.execute(statement, {"became": numbers[to]})
    await conn.execute(delete(segment).where(segment.c.id.in_(select(_JOINED.c.was))))
    await conn.execute(DropTable(_JOINED))
