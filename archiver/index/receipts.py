"""Receipts: what became of each row of each import, written with the rows themselves."""

from collections.abc import Sequence

from sqlalchemy import func, select

from archiver.index.bulk import insert_rows
from archiver.index.connection import AsyncConnection
from archiver.index.schema import import_row
from archiver.model.importing import Outcome, ReceiptRow, Rejected
from archiver.model.seed import Received, Seed

_COLUMNS = ("import_id", "row", "outcome", "given", "hash_url", "reason")
MOST_GIVEN = 10_000


async def write(
    conn: AsyncConnection,
    import_id: int,
    taken: Sequence[tuple[int, Seed, Received]],
    rejected: Sequence[Rejected],
) -> None:
    """Write down what became of some rows: those that were taken, by number, and those not."""
    rows: list[tuple[int, int, str, str, str | None, str]] = [
        (
            import_id,
            row,
            Outcome(received.reception).value,
            seed.annotation.url_given[:MOST_GIVEN],
            received.hash_url,
            "",
        )
        for row, seed, received in taken
    ]
    rows += [
        (import_id, each.row, _outcome(each), each.given, None, each.reason) for each in rejected
    ]
    rows.sort(key=lambda each: each[1])
    await insert_rows(conn, import_row, _COLUMNS, rows)


def _outcome(rejected: Rejected) -> str:
    return (Outcome.LEFT_OUT if rejected.is_left_out else Outcome.UNUSABLE).value


async def page(
    conn: AsyncConnection, import_id: int, *, after: int, limit: int
) -> list[ReceiptRow]:
    """The rows of a receipt behind a number, in order."""
    found = await conn.execute(
        select(import_row)
        .where(import_row.c.import_id == import_id, import_row.c.row > after)
        .order_by(import_row.c.row)
        .limit(limit)
    )
    return [
        ReceiptRow(row.row, Outcome(row.outcome), row.given, row.hash_url, row.reason)
        for row in found
    ]


async def reasons(conn: AsyncConnection, import_id: int, *, limit: int) -> list[tuple[str, int]]:
    """Why rows are unusable, with how many, the commonest first."""
    count = func.count()
    found = await conn.execute(
        select(import_row.c.reason, count)
        .where(
            import_row.c.import_id == import_id,
            import_row.c.reason != "",
            import_row.c.outcome == Outcome.UNUSABLE,
        )
        .group_by(import_row.c.reason)
        .order_by(count.desc(), import_row.c.reason)
        .limit(limit)
    )
    return [(reason, number) for reason, number in found]
