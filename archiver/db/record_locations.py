"""Record locations: queries for records in use, and updates for rewritten segments."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    MetaData,
    Select,
    Table,
    Update,
    bindparam,
    case,
    delete,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateTable, DropTable

from archiver.db import deletions, segment_rows
from archiver.db.captures import ALL_CAPTURES, read, to_blob
from archiver.db.dialects import text_values
from archiver.db.schema import (
    Number,
    capture_table,
    entry_table,
    excluded_response,
    gone_capture,
    rendition,
    segment,
    snapshot_table,
)
from archiver.db.statements import insert_rows
from archiver.model.capture import Capture, PayloadDigest

_MOVED = Table(
    "moved",
    MetaData(),
    Column("old", Number, primary_key=True, autoincrement=False),
    Column("new", Number),
    Column("length", Number),
    Column("whole", Number),
    Column("chunked", Number),
    prefixes=["TEMPORARY"],
)
_WAS, _TO = bindparam("was", type_=Number), bindparam("became", type_=Number)


def _to_new_places(table: Table, prefix: str = "") -> Update:
    c = {name: table.c[prefix + name] for name in ("segment_id", "offset", "length")}
    new = {c["segment_id"]: _TO, c["offset"]: _MOVED.c.new, c["length"]: _MOVED.c.length}
    is_moved = (c["segment_id"] == _WAS, c["offset"] == _MOVED.c.old)
    return update(table).values(new).where(*is_moved)


def _made_whole(table: Table) -> Update:
    """Return the statement that moves captures.

    A revisit that was rewritten with its payload is no longer a revisit.
    """
    whole, c = _MOVED.c.whole == 1, table.c
    return _to_new_places(table).values(
        is_revisit=case((whole, 0), else_=c.is_revisit),
        is_chunked=case((whole, _MOVED.c.chunked), else_=c.is_chunked),
    )


_SWITCHED = (
    _made_whole(capture_table),
    _to_new_places(rendition),
    _to_new_places(excluded_response),
    _to_new_places(snapshot_table, "article_"),
    _to_new_places(snapshot_table, "metadata_"),
)


@dataclass(frozen=True, slots=True)
class MovedRecord:
    """Record that was copied to the next version of its segment.

    Attributes:
        old: its offset before.
        new: its offset in the next version.
        length: its compressed size there.
        is_whole: whether it was a revisit that was rewritten with its payload.
        is_chunked: whether that payload has chunk framing.
    """

    old: int
    new: int
    length: int
    is_whole: bool = False
    is_chunked: bool = False


def _is_in_use(table: Table, before: int | None) -> ColumnElement[bool]:
    """Return the condition that a row is not deleted, or was deleted after ``before``."""
    deleted_at = table.c.deleted_at
    return (
        deleted_at.is_(None) if before is None else or_(deleted_at.is_(None), deleted_at > before)
    )


async def referenced_offsets(
    conn: AsyncConnection, name: str, *, before: int | None = None
) -> set[int]:
    """Return the offsets of the records in a segment that must be kept.

    These are the records that rows refer to. Records of deleted rows are left out.

    Args:
        conn: a connection.
        name: name of the segment.
        before: number of a deletion (``deleted_at``). Rows that a later deletion deleted count as
            not deleted. None if all deleted rows count as deleted.
    """
    number = select(segment.c.id).where(segment.c.name == name).scalar_subquery()
    of_captures, of_snapshots = capture_table.c, snapshot_table.c
    offsets: set[int] = set()
    for table, owner, offset in (
        (capture_table, of_captures.segment_id, of_captures.offset),
        (snapshot_table, of_snapshots.article_segment_id, of_snapshots.article_offset),
        (snapshot_table, of_snapshots.metadata_segment_id, of_snapshots.metadata_offset),
    ):
        query = select(offset).where(owner == number, _is_in_use(table, before))
        offsets.update((await conn.execute(query)).scalars())
    in_use = select(of_snapshots.id).where(_is_in_use(snapshot_table, before))
    pictures = select(rendition.c.offset).where(
        rendition.c.segment_id == number, rendition.c.snapshot_id.in_(in_use)
    )
    offsets.update((await conn.execute(pictures)).scalars())
    deleted = excluded_response.c.record_id.in_(_expired_records(before))
    excluded = select(excluded_response.c.offset).where(
        excluded_response.c.segment_id == number, ~deleted
    )
    offsets.update((await conn.execute(excluded)).scalars())
    return offsets


def _expired_records(before: int | None) -> Select[Any]:
    """Return the query for record ids of deleted captures.

    If ``before`` is not None, captures that were deleted after it are left out.
    """
    deleted, c = gone_capture.c.record_id, capture_table.c
    if before is None:
        return select(deleted)
    return select(deleted).where(deleted.not_in(select(c.record_id).where(c.deleted_at > before)))


async def articles_in(conn: AsyncConnection, name: str, *, before: int | None = None) -> set[int]:
    """Return the offsets of articles and screenshots in a segment that must be kept.

    ``before`` has the same meaning as in ``referenced_offsets``.
    """
    number = select(segment.c.id).where(segment.c.name == name).scalar_subquery()
    c, is_kept = snapshot_table.c, _is_in_use(snapshot_table, before)
    articles = select(c.article_offset).where(c.article_segment_id == number, is_kept)
    pictures = select(rendition.c.offset).where(
        rendition.c.segment_id == number, rendition.c.snapshot_id.in_(select(c.id).where(is_kept))
    )
    offsets = {*(await conn.execute(articles)).scalars()}
    offsets.update((await conn.execute(pictures)).scalars())
    return offsets


async def deleted_after(
    conn: AsyncConnection, keys: Collection[str], record_ids: Collection[str], before: int
) -> tuple[set[str], set[str]]:
    """Return the entries in ``keys`` and the captures in ``record_ids`` deleted after ``before``.

    ``keys`` are hash_urls, and ``before`` is the number of a deletion. Entries are included if one
    of their snapshots was deleted after it.
    """
    c = capture_table.c
    of_entries = select(entry_table.c.hash_url).where(
        entry_table.c.hash_url.in_(text_values(keys)), entry_table.c.deleted_at > before
    )
    of_snapshots = (
        select(entry_table.c.hash_url)
        .join(snapshot_table, snapshot_table.c.entry_id == entry_table.c.id)
        .where(entry_table.c.hash_url.in_(text_values(keys)), snapshot_table.c.deleted_at > before)
    )
    entries = {*(await conn.execute(of_entries)).scalars()}
    entries |= {*(await conn.execute(of_snapshots)).scalars()}
    records = await conn.execute(
        select(c.record_id).where(c.record_id.in_(text_values(record_ids)), c.deleted_at > before)
    )
    return entries, {*records.scalars()}


async def switch_segment_version(
    conn: AsyncConnection,
    was: str,
    to: str,
    moved: Sequence[MovedRecord],
    *,
    size: int,
    before: int | None = None,
) -> None:
    """Switch the index to the next version of a segment, and delete rows of erased records.

    Args:
        conn: a writing connection.
        was: name of the current version.
        to: name of the next version.
        moved: records of the next version; at least those of ``referenced_offsets``.
        size: bytes of the next version.
        before: as for ``referenced_offsets``.
    """
    numbers = await segment_rows.set_indexed_with_ids(conn, {to: size, was: 0})
    between = {"was": numbers[was], "became": numbers[to]}
    await conn.execute(DropTable(_MOVED, if_exists=True))
    await conn.execute(CreateTable(_MOVED))
    rows = [
        {
            "old": each.old,
            "new": each.new,
            "length": each.length,
            "whole": int(each.is_whole),
            "chunked": int(each.is_chunked),
        }
        for each in moved
    ]
    await insert_rows(conn, _MOVED, rows)
    for statement in _SWITCHED:
        await conn.execute(statement, between)
    # Rows of deleted snapshots may refer to erased records.
    await deletions.erase_deleted(conn, before=before)
    c = capture_table.c
    await conn.execute(
        delete(capture_table).where(c.segment_id == numbers[was], c.deleted_at.is_not(None))
    )
    await conn.execute(
        delete(excluded_response).where(excluded_response.c.segment_id == numbers[was])
    )
    await conn.execute(delete(segment).where(segment.c.id == numbers[was]))
    await conn.execute(DropTable(_MOVED))


async def revisits_of_deleted(
    conn: AsyncConnection, *, after: int = 0, before: int | None = None
) -> list[Capture]:
    """Return revisits that refer to the payload of a deleted capture, after a row id.

    Captures that were deleted after ``before`` count as not deleted.
    """
    c = capture_table.c
    query = ALL_CAPTURES.where(
        _is_in_use(capture_table, before),
        c.id > after,
        c.is_revisit == 1,
        c.payload_digest.in_(_deleted("payload_digest", before)),
    )
    return await read(conn, query.order_by(c.id))


async def deleted_originals(
    conn: AsyncConnection, digests: Sequence[PayloadDigest], *, before: int | None = None
) -> list[str]:
    """Return the record ids of deleted responses that contain one of these payloads."""
    if not digests:
        return []
    rows = await conn.execute(_deleted("record_id", before, [to_blob(each) for each in digests]))
    return list(rows.scalars())


def _deleted(column: str, before: int | None, digests: Sequence[bytes] = ()) -> Select[Any]:
    """Return the query for a column of deleted responses.

    If there are ``digests``, only responses with these payload digests are selected. If ``before``
    is not None, responses that were deleted after it are left out.
    """
    c = capture_table.alias("held").c
    expired = c.deleted_at.is_not(None) if before is None else c.deleted_at <= before
    query = select(c[column]).where(expired, c.is_revisit == 0)
    return query.where(c.payload_digest.in_(digests)) if digests else query
