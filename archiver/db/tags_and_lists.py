"""Tags and lists of entries.

The record of an entry names its lists. Such records do not contain empty lists, saved searches and
the order of lists. So each change of these adds a pending record of all lists
(``add_pending_record``). The row of a tag or list has its number of entries, which is updated with
each change.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import counters, tombstones
from archiver.db.dialects import THESE, among, text_values
from archiver.db.schema import entry, entry_list, entry_tag, imports, in_list, tag
from archiver.db.statements import OnConflict, execute_rows, insert_rows
from archiver.model.annotation import tag_key, unique_tags
from archiver.model.entry_list import (
    MAX_LISTS,
    Arrangement,
    EntryList,
    ListColour,
    folders_above,
    path_for_search,
    with_more,
    with_parents,
)
from archiver.search.words import fold, list_key
from archiver.warc.metadata_records import write_arrangement

_REVISION = "lists"
"""Name of the counter of list changes; its value is the revision of the newest lists record."""
_ARRANGED = "lists arranged"
"""Name of the counter that has the number of lists in the newest applied lists record."""
_ARRANGE = update(entry_list).where(entry_list.c.path == bindparam("of_path"))


_UPDATE_TAG = update(tag).where(tag.c.id == bindparam("tag_id"))
_COUNT_TAG = _UPDATE_TAG.values(entry_count=tag.c.entry_count + bindparam("more"))
_COUNT_LIST = (
    update(entry_list)
    .where(entry_list.c.id == bindparam("list_id"))
    .values(entry_count=entry_list.c.entry_count + bindparam("more"))
)
_DETACH = delete(entry_tag).where(
    entry_tag.c.entry_id == bindparam("from_entry"), entry_tag.c.tag_id == bindparam("gone")
)


async def all_lists(conn: AsyncConnection) -> list[EntryList]:
    """Return all lists in order, with their entry counts; saved searches have no entry count."""
    rows = await conn.execute(
        select(entry_list.c.path, entry_list.c.query, entry_list.c.entry_count, entry_list.c.colour)
        .order_by(entry_list.c.position, entry_list.c.id)
        .limit(MAX_LISTS)
    )
    return [
        EntryList(path, query, None if query else count, colour=ListColour.of(colour))
        for path, query, count, colour in rows
    ]


async def arrange(conn: AsyncConnection, lists: Sequence[EntryList]) -> None:
    """Set the lists and their order.

    Other lists are deleted if they are empty. If not, they come after ``lists``.
    """
    rows = [
        {
            "path": each.path,
            "folded": list_key(each.path),
            "position": n,
            "query": each.query,
            "colour": each.colour,
        }
        for n, each in enumerate(lists, 1)
    ]
    await execute_rows(conn, _ARRANGE, [{**row, "of_path": row["path"]} for row in rows])
    await insert_rows(conn, entry_list, rows, OnConflict.KEEP)
    is_deleted = entry_list.c.path.not_in(text_values(each.path for each in lists))
    await conn.execute(delete(entry_list).where(is_deleted, entry_list.c.entry_count == 0))
    await conn.execute(
        update(entry_list).where(is_deleted).values(position=len(lists) + entry_list.c.id)
    )
    await _rename_clashing_searches(conn, entry_list.c.entry_count > 0)


async def add(conn: AsyncConnection, lists: Sequence[EntryList], *, import_id: int) -> int:
    """Append the lists of an import file; return how many exceed ``MAX_LISTS`` or ``MAX_PATHS``."""
    if not lists:
        return 0
    existing = await all_lists(conn)
    allowed, left_out = with_more(existing, lists)
    if len(allowed) > len(existing):
        await arrange(conn, allowed)
        await add_pending_record(conn)
    fresh = {each.path for each in allowed} - {each.path for each in existing}
    await set_creator(conn, import_id, fresh)
    return len(left_out)


async def add_pending_record(conn: AsyncConnection) -> None:
    """Add a pending record of the lists and their order."""
    await counters.change(conn, {_REVISION: 1})
    lists = tuple(await all_lists(conn))
    now = datetime.now(UTC).replace(microsecond=0)
    arrangement = Arrangement(await counters.get(conn, _REVISION) or 0, now, lists)
    await tombstones.add_pending(
        conn, json.dumps(write_arrangement(arrangement), ensure_ascii=False)
    )


async def apply_records(conn: AsyncConnection, arrangements: Sequence[Arrangement]) -> None:
    """Apply the newest lists record of ``arrangements``, if it is newer than the current lists."""
    revision = await counters.get(conn, _REVISION) or 0
    newest = max(arrangements, key=lambda each: each.revision, default=None)
    if newest and newest.revision > revision:
        await arrange(conn, with_parents(newest.lists))
        arranged = await counters.get(conn, _ARRANGED) or 0
        await counters.change(
            conn,
            {
                _REVISION: newest.revision - revision,
                _ARRANGED: len(with_parents(newest.lists)) - arranged,
            },
        )


async def delete_outdated_lists(conn: AsyncConnection) -> None:
    """Delete empty lists that are not in the newest lists record; called after a rebuild."""
    full = await conn.execute(select(entry_list.c.path).where(entry_list.c.entry_count > 0))
    paths = [each.path for each in with_parents(map(EntryList, full.scalars()))]
    arranged = await counters.get(conn, _ARRANGED) or 0
    await conn.execute(
        delete(entry_list).where(
            entry_list.c.position > arranged,
            entry_list.c.path.not_in(text_values(paths)),
        )
    )


async def _ids_to_fill(
    conn: AsyncConnection, paths: Collection[str], import_id: int | None
) -> dict[str, int]:
    """Return, by path, the row ids of lists that get entries; missing lists are created.

    A saved search with the path of such a list is renamed. ``import_id`` is the import that adds
    the entries; None if a user adds them.
    """
    if not paths:
        return {}
    before = await _existing_ids(conn, _with_outer(paths))
    if await _rename_clashing_searches(conn, entry_list.c.path.in_(text_values(paths))):
        await add_pending_record(conn)
    ids = await list_ids(conn, paths)
    created = ids.keys() - before.keys()
    await set_creator(conn, import_id, ids if import_id is None else created)
    return ids


async def list_ids(conn: AsyncConnection, paths: Iterable[str]) -> dict[str, int]:
    """Return the row ids of lists by path; missing lists are appended."""
    all_paths = _with_outer(paths)
    existing = await _existing_ids(conn, all_paths)
    fresh = [path for path in all_paths if path not in existing]
    if not fresh:
        return existing
    last = (await conn.execute(select(func.max(entry_list.c.position)))).scalar() or 0
    rows = [
        {"path": path, "folded": list_key(path), "position": last + n}
        for n, path in enumerate(fresh, 1)
    ]
    await insert_rows(conn, entry_list, rows)
    if last < MAX_LISTS:
        await add_pending_record(conn)
    return await _existing_ids(conn, all_paths)


async def set_creator(conn: AsyncConnection, import_id: int | None, paths: Collection[str]) -> None:
    """Store which import created lists, so that undoing the import can delete them.

    ``import_id`` is None if a user created the lists or added entries to them.
    """
    if paths:
        await conn.execute(
            update(entry_list)
            .where(entry_list.c.path.in_(text_values(paths)))
            .values(created_by_import=import_id)
        )


async def count_created(conn: AsyncConnection, import_id: int) -> int:
    """Return how many lists exist that an import created and no user has used since."""
    mine = entry_list.c.created_by_import == import_id
    return int((await conn.execute(select(func.count(entry_list.c.id)).where(mine))).scalar_one())


async def creators(conn: AsyncConnection) -> Sequence[tuple[str, int]]:
    """Return (path, import id) of all lists that an import created and no user has used since."""
    column = entry_list.c.created_by_import
    rows = await conn.execute(select(entry_list.c.path, column).where(column.is_not(None)))
    return [(path, number) for path, number in rows]


async def restore_creators(conn: AsyncConnection, rows: Sequence[tuple[str, int]]) -> None:
    """Store the (path, import id) pairs that ``creators`` returned for another index."""
    if rows:
        await conn.execute(
            update(entry_list)
            .where(entry_list.c.path == bindparam("named"))
            .values(created_by_import=bindparam("creator")),
            [{"named": path, "creator": number} for path, number in rows],
        )


async def delete_empty(conn: AsyncConnection) -> bool:
    """Delete empty lists that undone imports created; return whether there were any."""
    column = entry_list.c.created_by_import
    rows = (await conn.execute(select(entry_list.c.path, entry_list.c.entry_count, column))).all()
    undone = {*(await conn.execute(select(imports.c.id).where(imports.c.undone != ""))).scalars()}
    used = {row.path for row in rows if row.entry_count or row.created_by_import not in undone}
    used |= {outer for path in used for outer in folders_above(path)}
    empty = [row.path for row in rows if row.path not in used]
    if empty:
        await conn.execute(delete(entry_list).where(entry_list.c.path.in_(text_values(empty))))
    return bool(empty)


def _with_outer(paths: Iterable[str]) -> list[str]:
    return [each.path for each in with_parents(map(EntryList, paths))]


async def _rename_clashing_searches(conn: AsyncConnection, which: ColumnElement[bool]) -> bool:
    """Give other paths to saved searches whose path is that of a list with entries.

    A saved search shows its results, so the entries of the list would not be visible.

    Args:
        conn: a writing connection.
        which: condition for the lists to check.

    Returns:
        Whether any saved search was renamed.
    """
    clashing = await conn.execute(select(entry_list).where(which, entry_list.c.query != ""))
    searches = clashing.all()
    if searches:
        used_paths = {*(await conn.execute(select(entry_list.c.path))).scalars()}
        rows = []
        for each in searches:
            path = path_for_search(each.path, used_paths)
            used_paths.add(path)
            rows.append(
                {
                    "path": path,
                    "folded": list_key(path),
                    "position": each.position,
                    "query": each.query,
                    "colour": each.colour,
                }
            )
        await insert_rows(conn, entry_list, rows)
        ids = among(each.id for each in searches)
        await conn.execute(update(entry_list).where(entry_list.c.id.in_(ids)).values(query=""))
    return bool(searches)


async def _existing_ids(conn: AsyncConnection, paths: Iterable[str]) -> dict[str, int]:
    rows = await conn.execute(
        select(entry_list.c.path, entry_list.c.id).where(entry_list.c.path.in_(text_values(paths)))
    )
    return dict(rows.all())


STEP = 1 << 20
"""Distance of an appended entry from the last one; entries can be moved to positions between."""
MIDDLE = 1 << 40
"""Position after which the first entry of a list is placed.

Entries can be moved before the first one, to lower positions. Position 0 means no position.
"""
_Rows = set[tuple[int, int]]
_REMOVE = delete(in_list).where(
    in_list.c.entry_id == bindparam("of_entry"), in_list.c.list_id == bindparam("of_list")
)


async def set_lists(
    conn: AsyncConnection,
    positions: Mapping[int, Mapping[str, int]],
    *,
    existing_ids: Collection[int],
    added: Mapping[int, int],
    import_id: int | None = None,
) -> set[int]:
    """Set the lists of entries; return the ids of changed entries.

    Args:
        conn: a writing connection.
        positions: for each entry id, the position of the entry in each of its lists, by path. With
            position 0, the entry stays where it is, or is appended if it is new in the list.
        existing_ids: ids of entries that may be in lists already.
        added: time of saving (Unix seconds) by entry id.
        import_id: the import that sets the lists; None if a user sets them.
    """
    before = await lists_of_entries(conn, positions.keys() & {*existing_ids})
    lost = {
        (entry_id, path)
        for entry_id, lists in before.items()
        for path in lists
        if path not in positions[entry_id]
    }
    gained = {
        (entry_id, path): place
        for entry_id, lists in positions.items()
        for path, place in lists.items()
        if entry_id not in before or _is_new(path, place, before[entry_id])
    }
    if not lost and not gained:
        return set()
    await _remove_from_paths(conn, lost)
    ids = await _ids_to_fill(conn, {path: None for _, path in gained}, import_id)
    fresh = (ids[path] for each, path in gained if path not in before.get(each, {}))
    places = gained.items()
    rows = [(each, ids[path], at, added[each]) for (each, path), at in places]
    last = await _last_places(conn, {list_id for _, list_id, place, _ in rows if not place})
    await _insert_members(conn, rows, last, fresh=Counter(fresh))
    return {entry_id for entry_id, _ in (*lost, *gained)}


async def _remove_from_paths(conn: AsyncConnection, lost: Collection[tuple[int, str]]) -> None:
    """Remove entries from lists, given as (entry id, path) pairs."""
    ids = await list_ids(conn, dict.fromkeys(path for _, path in lost))
    await _remove_from_lists(conn, {(entry_id, ids[path]) for entry_id, path in lost})


def _is_new(path: str, place: int, before: Mapping[str, int]) -> bool:
    """Return whether an entry is new in a list or moves to another position."""
    return before.get(path) != place if place else path not in before


async def remove_from_all_lists(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Remove entries from all lists."""
    rows = await conn.execute(
        select(in_list.c.entry_id, in_list.c.list_id).where(
            in_list.c.entry_id.in_(among(entry_ids))
        )
    )
    await _remove_from_lists(conn, {(row.entry_id, row.list_id) for row in rows})


_LISTS_OF_ENTRIES = (
    select(in_list.c.entry_id, entry_list.c.path, in_list.c.place)
    .join(entry_list, entry_list.c.id == in_list.c.list_id)
    .where(in_list.c.entry_id.in_(THESE))
)


async def lists_of_entries(
    conn: AsyncConnection, entry_ids: Collection[int]
) -> dict[int, dict[str, int]]:
    """Return, by entry id, the positions of the entry in its lists, by path of the list.

    The paths are sorted.
    """
    if not entry_ids:
        return {}
    rows = await conn.execute(_LISTS_OF_ENTRIES, {"these": entry_ids})
    paths_by_entry: dict[int, dict[str, int]] = {}
    for entry_id, path, place in sorted((row.entry_id, row.path, row.place) for row in rows):
        paths_by_entry.setdefault(entry_id, {})[path] = place
    return paths_by_entry


async def members_in_order(conn: AsyncConnection, path: str) -> list[tuple[int, int]]:
    """Return (row id, position) of all entries of a list, in order."""
    rows = await conn.execute(
        select(in_list.c.entry_id, in_list.c.place)
        .join(entry_list, entry_list.c.id == in_list.c.list_id)
        .where(entry_list.c.path == path)
        .order_by(in_list.c.place, in_list.c.entry_id)
    )
    return [(row.entry_id, row.place) for row in rows]


async def _insert_members(
    conn: AsyncConnection,
    rows: Sequence[tuple[int, int, int, int]],
    last: dict[int, int],
    *,
    fresh: Mapping[int, int],
) -> None:
    """Insert (entry id, list id, position, time of saving) rows; position 0 appends.

    Args:
        conn: a writing connection.
        rows: the rows.
        last: last position in each list, by list id; this function updates it.
        fresh: number of new entries by list id.
    """
    placed = []
    for entry_id, list_id, place, added_at in rows:
        if not place:
            last[list_id] += STEP
        placed.append(
            {
                "entry_id": entry_id,
                "list_id": list_id,
                "place": place or last[list_id],
                "added_at": added_at,
            }
        )
    await insert_rows(conn, in_list, placed, OnConflict.REPLACE)
    await _count_lists(conn, fresh)


async def _last_places(conn: AsyncConnection, list_ids: Collection[int]) -> dict[int, int]:
    # A subquery per list reads one end of an index; GROUP BY would read all entries of the lists.
    last = select(func.max(in_list.c.place)).where(in_list.c.list_id == entry_list.c.id)
    rows = await conn.execute(
        select(entry_list.c.id, func.coalesce(last.scalar_subquery(), MIDDLE)).where(
            entry_list.c.id.in_(among(list_ids))
        )
    )
    return dict(rows.all())


async def _remove_from_lists(conn: AsyncConnection, rows: _Rows) -> None:
    removed = [{"of_entry": entry_id, "of_list": list_id} for entry_id, list_id in sorted(rows)]
    await execute_rows(conn, _REMOVE, removed)
    await _count_lists(conn, {each: -n for each, n in Counter(one for _, one in rows).items()})


async def _count_lists(conn: AsyncConnection, more: Mapping[int, int]) -> None:
    rows = [{"list_id": list_id, "more": increment} for list_id, increment in more.items()]
    await execute_rows(conn, _COUNT_LIST, rows)


MAX_IN_SEVERAL = 200_000
"""Maximum number of rows read by ``entries_in_several_lists``.

The rows are used to count an entry in several nested lists only once.
"""


async def entries_in_several_lists(conn: AsyncConnection) -> list[tuple[int, str]]:
    """Return up to ``MAX_IN_SEVERAL`` pairs (entry id, path) of entries in several lists.

    The pairs are sorted by entry id.
    """
    several = select(in_list.c.entry_id).group_by(in_list.c.entry_id).having(func.count() > 1)
    rows = await conn.execute(
        select(in_list.c.entry_id, entry_list.c.path)
        .join(entry_list, entry_list.c.id == in_list.c.list_id)
        .where(in_list.c.entry_id.in_(several))
        .order_by(in_list.c.entry_id)
        .limit(MAX_IN_SEVERAL)
    )
    return [(row.entry_id, row.path) for row in rows]


async def attach(
    conn: AsyncConnection,
    names_by_entry: Mapping[int, Sequence[str]],
    *,
    existing_ids: Collection[int],
    added: Mapping[int, int],
) -> set[int]:
    """Add tags to entries; return the ids of changed entries.

    Args:
        conn: a writing connection.
        names_by_entry: tags by entry id.
        existing_ids: ids of entries that may have tags already.
        added: time of saving (Unix seconds) by entry id.
    """
    ids = await ids_of(conn, (name for tags in names_by_entry.values() for name in tags))
    if not ids:
        return set()
    existing = await _tag_pairs(conn, existing_ids)
    tagged = dict.fromkeys(
        (each, ids[name]) for each, tags in names_by_entry.items() for name in tags
    )
    fresh = [
        {"entry_id": entry_id, "tag_id": tag_id, "added_at": added[entry_id]}
        for entry_id, tag_id in tagged
        if (entry_id, tag_id) not in existing
    ]
    await insert_rows(conn, entry_tag, fresh)
    await _count_tags(conn, Counter(row["tag_id"] for row in fresh))
    return {row["entry_id"] for row in fresh}


async def respell(conn: AsyncConnection, names: Iterable[str]) -> list[int]:
    """Change the spelling of tags to that in ``names``; return the ids of affected entries."""
    spellings = {tag_key(name): name for name in names}
    rows = (await _by_key(conn, spellings)).values() if spellings else ()
    spelled = [(each.id, spellings[each.key]) for each in rows if each.name != spellings[each.key]]
    if not spelled:
        return []
    await _spell(conn, spelled)
    ids = among(tag_id for tag_id, _ in spelled)
    changed = await conn.execute(select(entry_tag.c.entry_id).where(entry_tag.c.tag_id.in_(ids)))
    return [*changed.scalars()]


async def detach_all(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Remove all tags of entries."""
    lost = Counter(tag_id for _, tag_id in await _tag_pairs(conn, entry_ids))
    if lost:
        await conn.execute(delete(entry_tag).where(entry_tag.c.entry_id.in_(among(entry_ids))))
        await _count_tags(conn, {tag_id: -count for tag_id, count in lost.items()})


async def detach(conn: AsyncConnection, unwanted: Mapping[int, Collection[str]]) -> None:
    """Remove tags from entries; tags that an entry does not have are ignored."""
    keys = {each: {tag_key(name) for name in names} for each, names in unwanted.items() if names}
    if not keys:
        return
    tags = await _by_key(conn, {key for tag_keys in keys.values() for key in tag_keys})
    lost = {
        (each, tags[key].id) for each, tag_keys in keys.items() for key in tag_keys if key in tags
    } & await _tag_pairs(conn, [*keys])
    rows = [{"from_entry": entry_id, "gone": tag_id} for entry_id, tag_id in sorted(lost)]
    await execute_rows(conn, _DETACH, rows)
    await _count_tags(conn, {tag_id: -n for tag_id, n in Counter(each for _, each in lost).items()})


async def _tag_pairs(conn: AsyncConnection, entry_ids: Collection[int]) -> set[tuple[int, int]]:
    if not entry_ids:
        return set()
    rows = await conn.execute(
        select(entry_tag.c.entry_id, entry_tag.c.tag_id).where(
            entry_tag.c.entry_id.in_(among(entry_ids))
        )
    )
    return {(row.entry_id, row.tag_id) for row in rows}


_TAGS_OF_ENTRIES = (
    select(entry_tag.c.entry_id, tag.c.name)
    .join(tag, tag.c.id == entry_tag.c.tag_id)
    .where(entry_tag.c.entry_id.in_(THESE))
)


async def tags_of_entries(
    conn: AsyncConnection, entry_ids: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Return the sorted tags of entries by entry id; entries without tags are left out."""
    rows = await conn.execute(_TAGS_OF_ENTRIES, {"these": entry_ids})
    names_by_entry: dict[int, list[str]] = {}
    for entry_id, name in rows:
        names_by_entry.setdefault(entry_id, []).append(name)
    return {entry_id: tuple(sorted(names)) for entry_id, names in names_by_entry.items()}


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
    """Return the entry count of a tag; None unless exactly one tag in use matches ``name``."""
    named = tag.c.folded == fold(name) if in_any_spelling else tag.c.key == tag_key(name)
    rows = await conn.execute(
        select(tag.c.entry_count).where(named, tag.c.entry_count > 0).limit(2)
    )
    counts = rows.scalars().all()
    return counts[0] if len(counts) == 1 else None


async def all_tags(conn: AsyncConnection, limit: int) -> list[tuple[str, str, int]]:
    """Return (name, folded name, entry count) of the used tags, by name."""
    rows = await conn.execute(
        select(tag.c.name, tag.c.folded, tag.c.entry_count)
        .where(tag.c.entry_count > 0)
        .order_by(tag.c.folded, tag.c.name)
        .limit(limit)
    )
    return [(name, folded, count) for name, folded, count in rows]


async def ids_of(conn: AsyncConnection, names: Iterable[str]) -> dict[str, int]:
    """Return row ids of tags by name; missing tags are created.

    A tag keeps its spelling as long as an entry has the tag.
    """
    keys = {name: tag_key(name) for name in names}
    if not keys:
        return {}
    first = {tag_key(name): name for name in unique_tags(keys)}
    rows = [{"name": name, "key": key, "folded": fold(name)} for key, name in first.items()]
    await insert_rows(conn, tag, rows, OnConflict.KEEP)
    tags = await _by_key(conn, first)
    unused = [each for each in tags.values() if not each.entry_count]
    await _spell(
        conn, [(each.id, first[each.key]) for each in unused if each.name != first[each.key]]
    )
    return {name: tags[key].id for name, key in keys.items()}


async def _by_key(conn: AsyncConnection, keys: Iterable[str]) -> dict[str, Row[*tuple[Any, ...]]]:
    columns = (tag.c.id, tag.c.key, tag.c.name, tag.c.entry_count)
    rows = await conn.execute(select(*columns).where(tag.c.key.in_(text_values(keys))))
    return {row.key: row for row in rows}


async def _spell(conn: AsyncConnection, tags: Sequence[tuple[int, str]]) -> None:
    rows = [{"tag_id": tag_id, "name": name, "folded": fold(name)} for tag_id, name in tags]
    await execute_rows(conn, _UPDATE_TAG, rows)


async def _count_tags(conn: AsyncConnection, more: Mapping[int, int]) -> None:
    rows = [{"tag_id": tag_id, "more": increment} for tag_id, increment in more.items()]
    await execute_rows(conn, _COUNT_TAG, rows)


_COPY_ADDED_AT = tuple(
    update(table)
    .values(added_at=entry.c.added_at)
    .where(table.c.entry_id == entry.c.id, entry.c.id == bindparam("moved_id"))
    for table in (entry_tag, in_list)
)


@dataclass(frozen=True, slots=True)
class Labels:
    """Sorted tags of an entry, and the positions of the entry in its lists by path."""

    tags: tuple[str, ...] = ()
    lists: Mapping[str, int] = field(default_factory=dict)


NO_LABELS = Labels()


async def labels_of_entries(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, Labels]:
    """Return the tags and lists of entries, by entry id."""
    of_tags = await tags_of_entries(conn, entry_ids)
    of_lists = await lists_of_entries(conn, entry_ids)
    return {each: Labels(of_tags.get(each, ()), of_lists.get(each, {})) for each in entry_ids}


async def remove_labels(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Remove all tags and lists of entries."""
    await detach_all(conn, entry_ids)
    await remove_from_all_lists(conn, entry_ids)


async def reorder_labels(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Copy ``added_at`` of entries to the rows of their tags and lists, after it changed."""
    for statement in _COPY_ADDED_AT:
        await execute_rows(conn, statement, [{"moved_id": each} for each in entry_ids])
