"""What seeds say, put into entries: new ones, or those that are known."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import annotations, labels, list_members, new_entries, tags
from archiver.index.known_entries import KnownRow, added_at_of
from archiver.index.schema import entry
from archiver.model.seed import Seed
from archiver.model.seed_columns import SeedColumns


async def insert_entries(
    conn: AsyncConnection,
    seeds: Sequence[Seed],
    now: datetime,
    import_id: int | None = None,
    *,
    is_link: bool = False,
) -> dict[str, int]:
    """Make entries of seeds that are new; return row ids by hash_url."""
    made = await new_entries.insert(conn, SeedColumns.of(seeds), now, by=import_id, is_link=is_link)
    return {seed.hash_url: row for seed, row in zip(seeds, made, strict=True)}


async def attach(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    ids: Mapping[str, int],
    known: Mapping[str, KnownRow],
    import_id: int | None = None,
) -> set[int]:
    """Give entries their tags, and put them into their lists; ids of those that got one."""
    there = {row.id for row in known.values()}
    labelled = [ids[key] for key, each in seeds.items() if _carries(each)]
    added = await added_at_of(conn, labelled)
    given = {ids[key]: names for key, seed in seeds.items() if (names := seed.annotation.tags)}
    tagged = await tags.attach(conn, given, known=there, added=added)
    wanted = {
        ids[key]: seed.annotation.lists for key, seed in seeds.items() if seed.annotation.folders
    }
    present = await list_members.of_entries(conn, wanted.keys() & there)
    wanted |= {each: {**wanted[each], **at} for each, at in present.items()}
    listed = await list_members.put(conn, wanted, known=there, added=added, import_id=import_id)
    return tagged | listed


def _carries(seed: Seed) -> bool:
    return bool(seed.annotation.tags or seed.annotation.folders)


async def enrich(
    conn: AsyncConnection, seeds: Mapping[str, Seed], known: Mapping[str, KnownRow]
) -> set[int]:
    """Add what a person now says to what they said before; a title once given stays."""
    rows, earlier = [], []
    for key, row in known.items():
        before = annotations.of_row(row, labels.NONE)
        after = before.merged(seeds[key].annotation)
        if changed := annotations.changes(before, after):
            rows.append({"entry_id": row.id, **changed})
        if after.added_at != before.added_at:
            earlier.append(row.id)
    if rows:
        await conn.execute(update(entry).where(entry.c.id == bindparam("entry_id")), rows)
    await labels.move(conn, earlier)
    return {row["entry_id"] for row in rows}
