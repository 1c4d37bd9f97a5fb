"""What entries carry: their tags, and the lists they lie in, looked up together."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import bindparam, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import list_members, tags
from archiver.index.bulk import execute_rows
from archiver.index.schema import entry, entry_tag, in_list

_MOVE = tuple(
    update(table)
    .values(added_at=entry.c.added_at)
    .where(table.c.entry_id == entry.c.id, entry.c.id == bindparam("moved_id"))
    for table in (entry_tag, in_list)
)


@dataclass(frozen=True, slots=True)
class Labels:
    """The sorted tags of an entry, and its place in each list that it lies in, by path."""

    tags: tuple[str, ...] = ()
    lists: Mapping[str, int] = field(default_factory=dict)


NONE = Labels()


async def of_entries(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, Labels]:
    """What each of these entries carries."""
    of_tags = await tags.of_entries(conn, entry_ids)
    of_lists = await list_members.of_entries(conn, entry_ids)
    return {each: Labels(of_tags.get(each, ()), of_lists.get(each, {})) for each in entry_ids}


async def take_all(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Take all of it from entries."""
    await tags.detach_all(conn, entry_ids)
    await list_members.take_out_all(conn, entry_ids)


async def move(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Bring entries whose ``added_at`` changed to their places among those of their labels."""
    for statement in _MOVE:
        await execute_rows(conn, statement, ("moved_id",), [(each,) for each in entry_ids])
