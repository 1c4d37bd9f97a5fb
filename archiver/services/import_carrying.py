"""Carries over what only an index knows of imports: rows of open ones, and what undoing takes."""

from archiver.index import import_shares, imports, list_shares, receipts
from archiver.index.database import Database
from archiver.services.stretches import MOST, stretches


async def carry_imports_over(old: Database, new: Database) -> None:
    """Take over from an index to the one that is to take its place, whose imports are there."""
    async with old.read() as conn:
        open_ = [each.id for each in await imports.unfinished(conn)]
        whole = await receipts.known_whole(conn)
    async with new.write() as conn:
        await receipts.note_known_whole(conn, whole)
    for number in open_:
        await _carry_rows(old, new, number)
    async for owners in stretches(old, import_shares.owners_after):
        async with new.write() as conn:
            await import_shares.restore(conn, owners, [])
    async for shares in stretches(old, import_shares.shares_after):
        async with new.write() as conn:
            await import_shares.restore(conn, [], shares)
    async with old.read() as conn:
        brought = await list_shares.all_of_them(conn)
    async with new.write() as conn:
        await list_shares.restore(conn, brought)


async def _carry_rows(old: Database, new: Database, number: int) -> None:
    after = 0
    while True:
        async with old.read() as conn:
            rows = await receipts.page(conn, number, after=after, limit=MOST)
        if not rows:
            return
        async with new.write() as conn:
            await receipts.restore_rows(conn, number, rows)
        after = rows[-1].row
