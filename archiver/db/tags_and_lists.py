"""Tags of entries, and tags and lists read together."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import lists as db_lists
from archiver.db.schema import entry, entry_tag, in_list, tag
from archiver.db.statements import THESE, OnConflict, among, among_texts, execute_rows, insert_rows
from archiver.search.words import fold


async def attach(
    conn: AsyncConnection,
    wanted: Mapping[int, Sequence[str]],
    *,
    known: Collection[int],
    added: Mapping[int, int],
) -> set[int]:
    """Add tags to entries; return the ids of changed entries.

    Args:
        conn: a writing connection.
        wanted: tags by entry, without duplicates.
        known: entries that may have tags already.
        added: ``added_at`` of all entries.
    """
    ids = await ids_of(conn, {name for tags in wanted.values() for name in tags})
    if not ids:
        return set()
    there = await _there(conn, known)
    fresh = [
        (entry_id, ids[name], added[entry_id])
        for entry_id, tags in wanted.items()
        for name in tags
        if (entry_id, ids[name]) not in there
    ]
    if fresh:
        await insert_rows(conn, entry_tag, ("entry_id", "tag_id", "added_at"), fresh)
        await _count(conn, Counter(row[1] for row in fresh))
    return {row[0] for row in fresh}


async def detach_all(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Remove all tags of entries."""
    lost = Counter(tag_id for _, tag_id in await _there(conn, entry_ids))
    if lost:
        await conn.execute(delete(entry_tag).where(entry_tag.c.entry_id.in_(among(entry_ids))))
        await _count(conn, {tag_id: -less for tag_id, less in lost.items()})


async def detach(conn: AsyncConnection, unwanted: Mapping[int, Collection[str]]) -> None:
    """Remove tags from entries; missing ones are ignored."""
    names = sorted({name for tags in unwanted.values() for name in tags})
    if not names:
        return
    rows = await conn.execute(
        select(tag.c.name, tag.c.id).where(tag.c.name.in_(among_texts(names)))
    )
    ids: dict[str, int] = dict(rows.all())
    lost = {
        (entry_id, ids[name]) for entry_id, tags in unwanted.items() for name in tags if name in ids
    } & await _there(conn, [*unwanted])
    if not lost:
        return
    await conn.execute(
        delete(entry_tag).where(
            entry_tag.c.entry_id == bindparam("from_entry"), entry_tag.c.tag_id == bindparam("gone")
        ),
        [{"from_entry": entry_id, "gone": tag_id} for entry_id, tag_id in sorted(lost)],
    )
    await _count(conn, {tag_id: -n for tag_id, n in Counter(each for _, each in lost).items()})


async def _there(conn: AsyncConnection, entry_ids: Collection[int]) -> set[tuple[int, int]]:
    """Return (entry, tag) pairs of entries."""
    if not entry_ids:
        return set()
    rows = await conn.execute(
        select(entry_tag.c.entry_id, entry_tag.c.tag_id).where(
            entry_tag.c.entry_id.in_(among(entry_ids))
        )
    )
    return {(row.entry_id, row.tag_id) for row in rows}


_OF_ENTRIES = (
    select(entry_tag.c.entry_id, tag.c.name)
    .join(tag, tag.c.id == entry_tag.c.tag_id)
    .where(entry_tag.c.entry_id.in_(THESE))
)


async def tags_of_entries(
    conn: AsyncConnection, entry_ids: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Return the sorted tags of each entry that has any."""
    rows = await conn.execute(_OF_ENTRIES, {"these": entry_ids})
    found: dict[int, list[str]] = {}
    for entry_id, name in rows:
        found.setdefault(entry_id, []).append(name)
    return {entry_id: tuple(sorted(names)) for entry_id, names in found.items()}


async def most_used(conn: AsyncConnection, limit: int) -> list[tuple[str, int]]:
    """Return (name, entry count) of the most used tags."""
    rows = await conn.execute(
        select(tag.c.name, tag.c.entry_count)
        .where(tag.c.entry_count > 0)
        .order_by(tag.c.entry_count.desc())
        .limit(limit)
    )
    return [(name, count) for name, count in rows]


async def count_of(conn: AsyncConnection, name: str, *, in_any_spelling: bool) -> int | None:
    """Return the entry count of a tag; None if several spellings exist."""
    named = tag.c.folded == fold(name) if in_any_spelling else tag.c.name == name
    rows = await conn.execute(
        select(tag.c.entry_count).where(named, tag.c.entry_count > 0).limit(2)
    )
    counts = rows.scalars().all()
    return counts[0] if len(counts) == 1 else None


async def all_of_them(conn: AsyncConnection, limit: int) -> list[tuple[str, str, int]]:
    """Return (name, folded name, entry count) of the used tags, by name."""
    rows = await conn.execute(
        select(tag.c.name, tag.c.folded, tag.c.entry_count)
        .where(tag.c.entry_count > 0)
        .order_by(tag.c.folded, tag.c.name)
        .limit(limit)
    )
    return [(name, folded, count) for name, folded, count in rows]


async def ids_of(conn: AsyncConnection, names: Collection[str]) -> dict[str, int]:
    """Return row ids of tags; missing ones are created."""
    if not names:
        return {}
    rows = [(name, fold(name)) for name in sorted(names)]
    await insert_rows(conn, tag, ("name", "folded"), rows, OnConflict.KEEP)
    found = await conn.execute(
        select(tag.c.name, tag.c.id).where(tag.c.name.in_(among_texts(names)))
    )
    return dict(found.all())


async def _count(conn: AsyncConnection, more: Mapping[int, int]) -> None:
    """Change the entry counts of tags."""
    await conn.execute(
        update(tag)
        .where(tag.c.id == bindparam("tag_id"))
        .values(entry_count=tag.c.entry_count + bindparam("more")),
        [{"tag_id": tag_id, "more": by} for tag_id, by in more.items()],
    )


_MOVE = tuple(
    update(table)
    .values(added_at=entry.c.added_at)
    .where(table.c.entry_id == entry.c.id, entry.c.id == bindparam("moved_id"))
    for table in (entry_tag, in_list)
)


@dataclass(frozen=True, slots=True)
class Labels:
    """Sorted tags of an entry, and its position in each of its lists, by path."""

    tags: tuple[str, ...] = ()
    lists: Mapping[str, int] = field(default_factory=dict)


NO_LABELS = Labels()


async def labels_of_entries(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, Labels]:
    """Return the tags and lists of entries."""
    of_tags = await tags_of_entries(conn, entry_ids)
    of_lists = await db_lists.lists_of_entries(conn, entry_ids)
    return {each: Labels(of_tags.get(each, ()), of_lists.get(each, {})) for each in entry_ids}


async def remove_labels(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Remove all tags and lists of entries."""
    await detach_all(conn, entry_ids)
    await db_lists.take_out_entries(conn, entry_ids)


async def reorder_labels(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Update the position of entries in their tags and lists, after ``added_at`` changed."""
    for statement in _MOVE:
        await execute_rows(conn, statement, ("moved_id",), [(each,) for each in entry_ids])
