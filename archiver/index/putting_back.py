"""Puts rows back that ``removal`` took out: of an entry all, or none if it came back by itself."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Table, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import counters, gone, list_members, queue, tags, withheld
from archiver.index.bulk import among, among_texts, insert_rows
from archiver.index.removal import CAPTURES, DELETION, LISTS, TAGS, forget, renew
from archiver.index.schema import attempt, document, entry, likeness, need, snapshot, trash
from archiver.model.capture import HashUrl
from archiver.model.job import State

_BULK = 1
_TABLES = (entry, snapshot, likeness, need, document, attempt)
"""What goes with an entry, in the order in which it can be put back."""
_Kept = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stretch:
    """What became of one stretch of a deletion, that which one record tells of.

    Attributes:
        record: the id of that record.
        captures: rows of the captures that it withheld, which are in every list again; none where
            nothing of the stretch was put back.
        entry_ids: entries that were put back.
        snapshots: how many snapshots were.
        stayed: entries that were not, or whose snapshots were not: they are there again by
            themselves, or gone once more.
    """

    record: int
    captures: tuple[int, ...] = ()
    entry_ids: tuple[int, ...] = ()
    snapshots: int = 0
    stayed: frozenset[HashUrl] = frozenset()

    @property
    def is_back(self) -> bool:
        """Whether anything of it was put back."""
        return bool(self.entry_ids or self.snapshots)


async def put_back(conn: AsyncConnection, number: int) -> list[Stretch]:
    """Put back what a deletion took out, but for what came back by itself or went again since.

    How the rest would be undone is forgotten; nothing is forgotten where nothing was put back.
    """
    rows = await conn.execute(
        select(trash.c.content).where(trash.c.deletion_id == number).order_by(trash.c.number.desc())
    )
    found, touched, of = [], set[int](), _Kept()
    for content in rows.scalars():
        kept = json.loads(content)
        if DELETION in kept:
            of = kept  # what the stretch withheld lies behind its rows
            continue
        found.append(await _put_stretch_back(conn, kept, of))
        if found[-1].snapshots and not found[-1].entry_ids:
            touched |= {row["entry_id"] for row in kept.get("snapshot", [])}
    await renew(conn, touched)
    if any(each.is_back for each in found):
        await forget(conn, number)
    return found


async def _put_stretch_back(conn: AsyncConnection, kept: _Kept, of: _Kept) -> Stretch:
    """Put a stretch back: some entries with all they have, or snapshots of one that has others."""
    entries, snapshots = kept.get("entry", []), kept.get("snapshot", [])
    if entries:
        stayed = await _not_to_be_put_back(conn, entries)
        kept = _without(kept, {row["id"] for row in entries if row["hash_url"] in stayed})
    else:
        stayed = await _in_the_way(conn, snapshots)
        kept = {} if stayed else kept
    if not (kept.get("entry") or kept.get("snapshot")):
        return Stretch(of[DELETION], stayed=stayed)
    await withheld.give_back(conn, of.get(CAPTURES, []))
    for table in _TABLES:
        await _insert(conn, table, kept.get(table.name, []))
    back = {row["id"]: row["added_at"] for row in kept.get("entry", [])}
    await tags.attach(conn, _by_entry(kept.get(TAGS, {}), back), known=back, added=back)
    await list_members.put(conn, _by_entry(kept.get(LISTS, {}), back), known=back, added=back)
    await _wait_again(conn, kept.get("entry", []))
    count = len(kept.get("snapshot", []))
    await counters.change(conn, {counters.ENTRIES: len(back), counters.SNAPSHOTS: count})
    return Stretch(of[DELETION], tuple(of.get(CAPTURES, [])), tuple(back), count, stayed)


async def _not_to_be_put_back(
    conn: AsyncConnection, entries: Sequence[Mapping[str, Any]]
) -> frozenset[HashUrl]:
    """Those of the entries that are there again, or gone once more."""
    known = {row["hash_url"]: row["generation"] for row in entries}
    here = entry.c.hash_url.in_(among_texts(known))
    there = {*(await conn.execute(select(entry.c.hash_url).where(here))).scalars()}
    last = await gone.generations(conn, known)
    return frozenset(
        HashUrl(key) for key, own in known.items() if key in there or last.get(key) != own
    )


async def _in_the_way(
    conn: AsyncConnection, rows: Sequence[Mapping[str, Any]]
) -> frozenset[HashUrl]:
    """The entry of snapshots, if it is gone itself or has others of the same timestamps."""
    owners = {row["entry_id"] for row in rows}
    known = select(entry.c.id, entry.c.hash_url).where(entry.c.id.in_(among(owners)))
    there = dict((await conn.execute(known)).all())
    taken = await conn.execute(
        select(snapshot.c.id).where(
            snapshot.c.entry_id.in_(among(owners)),
            snapshot.c.timestamp.in_(among({row["timestamp"] for row in rows})),
        )
    )
    if len(there) == len(owners) and taken.first() is None:
        return frozenset()
    return frozenset(map(HashUrl, there.values())) or frozenset({HashUrl("")})


def _without(kept: _Kept, left: Collection[int]) -> _Kept:
    """The rows of a stretch without those of some entries."""
    if not left:
        return kept
    snapshots = {row["id"] for row in kept.get("snapshot", []) if row["entry_id"] in left}
    own = {"entry": "id", "snapshot": "entry_id", "document": "entry_id", "attempt": "entry_id"}
    found = {
        name: [row for row in kept.get(name, []) if row[column] not in left]
        for name, column in own.items()
    }
    for name in ("likeness", "need"):
        found[name] = [row for row in kept.get(name, []) if row["snapshot_id"] not in snapshots]
    return kept | found


async def _wait_again(conn: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Queue entries anew that were waiting for their first visit."""
    waiting = [(row["id"], row["host"]) for row in rows if row["state"] == State.QUEUED]
    await queue.enqueue(conn, waiting, priority=_BULK, now=datetime.now(UTC))


def _by_entry(kept: Mapping[str, Any], wanted: Collection[int]) -> dict[int, Any]:
    return {int(key): each for key, each in kept.items() if int(key) in wanted}


async def _insert(conn: AsyncConnection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Put rows back as they were."""
    if not rows:
        return
    # Nothing names an attempt, so others may have its number by now.
    names = [column.name for column in table.c if column is not attempt.c.id]
    packed = {column.name for column in table.c if column.type.python_type is bytes}
    values = [
        tuple(bytes.fromhex(row[name]) if name in packed else row.get(name) for name in names)
        for row in rows
    ]
    await insert_rows(conn, table, names, values)
