"""New entries on their way in: a table of one transaction, of which the engine makes their rows.

Rows are put down here as they come, once, and the engine reads them for each table they go to. They
go in the order of the file: most keys rise with it, and are put at the end of their index. Keys in
no order each take a page for themselves, which is kept in memory (``Dialect.much``).
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Insert,
    MetaData,
    Table,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateTable

from archiver.index import annotations
from archiver.index.bulk import insert_rows
from archiver.index.dialect import dialect_of
from archiver.index.schema import entry, gone_entry, import_row, job
from archiver.index.table_registry import Number, Words
from archiver.model.importing import MOST_GIVEN, Outcome
from archiver.model.job import State
from archiver.model.seed_columns import SeedColumns

_OWN = ("hash_url", "url", "host", *annotations.NAMES)
"""What a row of an entry has from its seed."""
_arriving = Table(
    "arriving",
    MetaData(),
    Column("place", Number, primary_key=True, autoincrement=False),
    Column("row", Number),
    *(Column(name, Number if entry.c[name].type is Number else Words) for name in _OWN),
    prefixes=["TEMPORARY"],
)
_TAKE_OUT_KNOWN = (
    delete(_arriving)
    .where(exists().where(entry.c.hash_url == _arriving.c.hash_url))
    .returning(_arriving.c.place)
)


async def put_down(conn: AsyncConnection, seeds: SeedColumns, numbers: Sequence[int]) -> None:
    """Put seeds down, of which no two are of one address; their places are counted from 0.

    ``numbers`` are their rows in the file. The table stays with its connection: a statement is
    prepared anew when a table has come or gone.
    """
    columns = (
        numbers,
        seeds.keys,
        seeds.urls,
        seeds.hosts,
        *annotations.columns(seeds.annotations),
    )
    await conn.execute(CreateTable(_arriving, if_not_exists=True))
    await clear(conn)
    rows = [*zip(count(), *columns, strict=False)]
    await insert_rows(conn, _arriving, ("place", "row", *_OWN), rows)


async def take_out_known(conn: AsyncConnection) -> list[int]:
    """Take out those that are entries already; return their places."""
    return list((await conn.execute(_TAKE_OUT_KNOWN)).scalars())


async def make_entries(
    conn: AsyncConnection,
    first: int,
    *,
    state: State,
    sort_at: int,
    import_id: int,
    owed: bool,
    is_any_gone: bool,
) -> None:
    """Make entries of what is left, their rows numbered by their places from ``first`` on.

    Args:
        conn: a writing connection.
        first: the row of what stands at place 0.
        state: of them all.
        sort_at: the moment (Unix seconds).
        import_id: the import that alone brings them.
        owed: whether a record of them is owed.
        is_any_gone: whether any entry was thrown away before.
    """
    alike = {"first": first, "state": state.value, "sort_at": sort_at}
    alike |= {"import_id": import_id, "owed": int(owed)}
    await conn.execute(_MAKE_AGAIN if is_any_gone else _MAKE_ENTRIES, alike)


async def make_jobs(
    conn: AsyncConnection,
    first: int,
    *,
    first_entry: int,
    import_id: int,
    priority: int,
    now_ms: int,
    stamp: int,
) -> None:
    """Make a job for each of those entries, numbered as they are, from ``first`` on.

    ``now_ms`` is the moment in milliseconds, ``stamp`` that of ``changes``.
    """
    alike = {"first": first, "first_entry": first_entry, "import_id": import_id}
    alike |= {"priority": priority, "now_s": now_ms // 1000, "now_ms": now_ms, "stamp": stamp}
    await conn.execute(_MAKE_JOBS, alike)


async def write_receipt(conn: AsyncConnection, import_id: int) -> None:
    """Write down that what is left was added."""
    await conn.execute(_WRITE_RECEIPT, {"import_id": import_id})


async def clear(conn: AsyncConnection) -> None:
    """Take away what was put down."""
    await conn.execute(text(dialect_of(conn).empties.format(_arriving.name)))


def _number(name: str) -> ColumnElement[int]:
    return bindparam(name, type_=Number)


def _making(table: Table, made: Mapping[Column[Any], ColumnElement[Any]]) -> Insert:
    """Makes a row of each that is left, in the order of the file."""
    rows = select(*made.values()).order_by(_arriving.c.place)
    return insert(table).from_select([*made], rows)


def _entries(generation: ColumnElement[int]) -> Insert:
    made = {entry.c[name]: _arriving.c[name] for name in _OWN}
    alike = {
        entry.c.id: _arriving.c.place + _number("first"),
        entry.c.generation: generation,
        entry.c.state: bindparam("state", type_=Words),
        entry.c.sort_at: _number("sort_at"),
        entry.c.brought_by: _number("import_id"),
        entry.c.unrecorded: _number("owed"),
        entry.c.document_stale: _number("owed"),
    }
    return _making(entry, {**alike, **made})


_GONE = (
    select(func.max(gone_entry.c.generation))
    .where(gone_entry.c.hash_url == _arriving.c.hash_url)
    .scalar_subquery()
)
_MAKE_ENTRIES = _entries(literal(0))
_MAKE_AGAIN = _entries(func.coalesce(_GONE + 1, 0))
"""Where any is gone: an entry is of one generation more than that up to which it is."""
_MAKE_JOBS = _making(
    job,
    {
        job.c.id: _arriving.c.place + _number("first"),
        job.c.entry_id: _arriving.c.place + _number("first_entry"),
        job.c.import_id: _number("import_id"),
        job.c.host: _arriving.c.host,
        job.c.priority: _number("priority"),
        job.c.state: literal(State.QUEUED.value),
        job.c.created_at: _number("now_s"),
        job.c.not_before_ms: _number("now_ms"),
        job.c.changed_at_ms: _number("stamp"),
    },
)
_WRITE_RECEIPT = _making(
    import_row,
    {
        import_row.c.import_id: _number("import_id"),
        import_row.c.row: _arriving.c.row,
        import_row.c.outcome: literal(Outcome.ADDED.value),
        import_row.c.given: func.substr(_arriving.c.url_given, 1, MOST_GIVEN),
        import_row.c.hash_url: _arriving.c.hash_url,
        import_row.c.reason: literal(""),
    },
)
