"""Which entries imports alone have brought, and what each added to others: what undoing takes.

An entry is an import's own (``entry.brought_by``) until a person saves or changes it. Where another
import names it too, both have shares in what is said of it, and the other one is its heir: it
becomes that one's own when the first is undone.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, Select, and_, bindparam, delete, func, or_, select, update

from archiver.index import annotations, labels
from archiver.index.bulk import among, among_texts, insert_rows
from archiver.index.connection import AsyncConnection
from archiver.index.schema import entry, import_share, imports
from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl
from archiver.model.import_share import ImportShare
from archiver.model.seed import Seed

_COLUMNS = ("import_id", "entry_id", "share", "is_heir")
_EMPTY = "{}"


@dataclass(frozen=True, slots=True)
class Spoken:
    """What is said of an entry that is there.

    Attributes:
        entry_id: its row.
        brought_by: the import that alone had brought it, if one had.
        before: what was said of it until now.
        annotation: what is said now.
    """

    entry_id: int
    brought_by: int | None
    before: Annotation
    annotation: Annotation


@dataclass(frozen=True, slots=True)
class Shares:
    """Who has a share in one entry.

    Attributes:
        rows: of the import that is asked for.
        own: its shares, in order.
        others: those of other imports.
    """

    rows: list[int] = field(default_factory=list)
    own: list[ImportShare] = field(default_factory=list)
    others: list[ImportShare] = field(default_factory=list)


async def spoken(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    known: Mapping[str, Row[*tuple[Any, ...]]],
) -> list[Spoken]:
    """What seeds say of entries that are known, by hash_url, before it is added to them."""
    carried = await labels.of_entries(conn, [row.id for row in known.values()])
    return [
        Spoken(
            row.id,
            row.brought_by,
            annotations.of_row(row, carried[row.id]),
            seeds[key].annotation,
        )
        for key, row in known.items()
    ]


async def note(
    conn: AsyncConnection, spoken: Sequence[Spoken], import_id: int | None = None
) -> None:
    """Note who speaks of entries: an import, or a person where none is named."""
    if not spoken:
        return
    known = await _known(conn, [each.entry_id for each in spoken], import_id)
    whole = [
        (each.brought_by, each.entry_id, ImportShare.whole(each.before), 0)
        for each in spoken
        if each.brought_by not in (None, import_id) and each.entry_id not in known
    ]
    if import_id is None:
        now = {each.entry_id: each.annotation for each in spoken}
        made = [(number, row, share.without(now[row]), 0) for number, row, share, _ in whole]
        await _lessen(conn, now)
        await touch(conn, now)
    else:
        for _, row, share, _ in whole:
            known[row] = Shares(others=[share])
        own = [_gained(each, known.get(each.entry_id, Shares()), import_id) for each in spoken]
        made = [*whole, *filter(None, own)]
    rows = [(number, row, share.write(), is_heir) for number, row, share, is_heir in made]
    await insert_rows(conn, import_share, _COLUMNS, rows)


def _gained(
    each: Spoken, shares: Shares, import_id: int
) -> tuple[int, int, ImportShare, int] | None:
    """The row of what an import adds to what nobody but other imports said; None if it needs none.

    What they said too is part of it: it stays until the last of them is undone.
    """
    if each.brought_by == import_id and not (shares.own or shares.others):
        return None
    base = each.before
    for other in shares.others:
        base = other.taken_from(base)
    became = ImportShare.of(each.before, each.before.merged(each.annotation))
    share = ImportShare.of(base, base.merged(each.annotation)).joined(became)
    is_heir = each.brought_by not in (None, import_id)
    if not share and (shares.own or not is_heir):
        return None
    return import_id, each.entry_id, share, int(is_heir)


async def touch(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Note that entries are no import's own any more."""
    if entry_ids:
        await conn.execute(
            update(entry)
            .where(entry.c.id.in_(among(entry_ids)), entry.c.brought_by.is_not(None))
            .values(brought_by=None)
        )


async def sizes(conn: AsyncConnection, import_id: int) -> tuple[int, int]:
    """How many entries only an import has brought, and in how many others it has a share."""
    only = and_(entry.c.brought_by == import_id, ~_heirs(import_id).exists())
    shared = (
        select(func.count(entry.c.id.distinct()))
        .join(import_share, import_share.c.entry_id == entry.c.id)
        .where(import_share.c.import_id == import_id, import_share.c.share != _EMPTY)
        .where(or_(entry.c.brought_by.is_distinct_from(import_id), _heirs(import_id).exists()))
    )
    return (
        (await conn.execute(select(func.count(entry.c.id)).where(only))).scalar_one(),
        (await conn.execute(shared)).scalar_one(),
    )


async def hand_on(conn: AsyncConnection, import_id: int, *, limit: int) -> int:
    """Let some of an import's own entries become those of their heirs; how many had one."""
    some = (
        select(entry.c.id)
        .where(entry.c.brought_by == import_id, _heirs(import_id).exists())
        .limit(limit)
    )
    done = await conn.execute(
        update(entry)
        .where(entry.c.id.in_(some))
        .values(brought_by=_heirs(import_id).scalar_subquery())
    )
    return done.rowcount


async def own_entries(conn: AsyncConnection, import_id: int, *, limit: int) -> list[int]:
    """Some entries that an import alone has brought, once its heirs have theirs."""
    rows = await conn.execute(
        select(entry.c.id).where(entry.c.brought_by == import_id).order_by(entry.c.id).limit(limit)
    )
    return list(rows.scalars())


async def shares_of(conn: AsyncConnection, import_id: int, *, limit: int) -> dict[int, Shares]:
    """All shares in some of the entries that an import has one in, by entry."""
    mine = import_share.c.import_id == import_id
    first = await conn.execute(
        select(import_share.c.entry_id).where(mine).order_by(import_share.c.id).limit(limit)
    )
    return await _known(conn, {*first.scalars()}, import_id)


async def forget(conn: AsyncConnection, rows: Collection[int]) -> None:
    """Forget shares that were taken back, by row."""
    await conn.execute(delete(import_share).where(import_share.c.id.in_(among(rows))))


async def forget_entries(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Forget all shares in entries that go."""
    await conn.execute(delete(import_share).where(import_share.c.entry_id.in_(among(entry_ids))))


async def owners_after(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[tuple[HashUrl, int]], int]:
    """Entries that are an import's own, with that import, behind a row; and the last row of it."""
    rows = (
        await conn.execute(
            select(entry.c.id, entry.c.hash_url, entry.c.brought_by)
            .where(entry.c.brought_by.is_not(None), entry.c.id > after)
            .order_by(entry.c.id)
            .limit(limit)
        )
    ).all()
    found = [(HashUrl(row.hash_url), row.brought_by) for row in rows]
    return found, rows[-1].id if rows else after


async def shares_after(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[tuple[int, HashUrl, str, int]], int]:
    """(import, entry, share as JSON, whether it is heir) behind a row; and the last row of it."""
    rows = (
        await conn.execute(
            select(import_share, entry.c.hash_url)
            .join(entry, entry.c.id == import_share.c.entry_id)
            .where(import_share.c.id > after)
            .order_by(import_share.c.id)
            .limit(limit)
        )
    ).all()
    found = [(row.import_id, HashUrl(row.hash_url), row.share, row.is_heir) for row in rows]
    return found, rows[-1].id if rows else after


async def restore(
    conn: AsyncConnection,
    owners: Sequence[tuple[HashUrl, int]],
    shares: Sequence[tuple[int, HashUrl, str, int]],
) -> None:
    """Take over from another index whose entries are, and the shares of imports."""
    keys = {key for key, _ in owners} | {key for _, key, _, _ in shares}
    found = await conn.execute(
        select(entry.c.hash_url, entry.c.id).where(entry.c.hash_url.in_(among_texts(keys)))
    )
    ids: dict[str, int] = dict(found.all())
    known = {*(await conn.execute(select(imports.c.id))).scalars()}
    rows = [
        {"row": ids[key], "by": number} for key, number in owners if key in ids and number in known
    ]
    if rows:
        statement = update(entry).where(entry.c.id == bindparam("row"))
        await conn.execute(statement.values(brought_by=bindparam("by")), rows)
    kept = [(number, ids[key], share, heir) for number, key, share, heir in shares if key in ids]
    await insert_rows(conn, import_share, _COLUMNS, kept)


def _heirs(import_id: int) -> Select[tuple[int]]:
    """The first of the other imports that name an entry."""
    return (
        select(func.min(import_share.c.import_id))
        .where(
            import_share.c.entry_id == entry.c.id,
            import_share.c.is_heir == 1,
            import_share.c.import_id != import_id,
        )
        .having(func.count() > 0)
        .correlate(entry)
    )


async def _known(
    conn: AsyncConnection, entry_ids: Collection[int], import_id: int | None
) -> dict[int, Shares]:
    """Who has a share in these entries."""
    rows = await conn.execute(
        select(import_share)
        .where(import_share.c.entry_id.in_(among(entry_ids)))
        .order_by(import_share.c.id)
    )
    found: dict[int, Shares] = {}
    for row in rows:
        shares = found.setdefault(row.entry_id, Shares())
        if row.import_id == import_id:
            shares.rows.append(row.id)
        (shares.own if row.import_id == import_id else shares.others).append(
            ImportShare.read(row.share)
        )
    return found


async def _lessen(conn: AsyncConnection, now: Mapping[int, Annotation]) -> None:
    """Take from shares what a person says now too."""
    rows = await conn.execute(
        select(import_share).where(
            import_share.c.entry_id.in_(among(now)), import_share.c.share != _EMPTY
        )
    )
    less = [
        {"row": row.id, "rest": ImportShare.read(row.share).without(now[row.entry_id]).write()}
        for row in rows
    ]
    if less:
        statement = update(import_share).where(import_share.c.id == bindparam("row"))
        await conn.execute(statement.values(share=bindparam("rest")), less)
