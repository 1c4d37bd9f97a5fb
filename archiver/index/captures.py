"""Captures: where the record of each response lies, and which one a URL and a moment mean."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    FromClause,
    Row,
    ScalarSelect,
    bindparam,
    column,
    func,
    literal_column,
    select,
    update,
    values,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import segments
from archiver.index.bulk import (
    THESE,
    among,
    among_keys,
    among_texts,
    insert_rows,
)
from archiver.index.digests import from_blob, to_blob
from archiver.index.numbering import next_number
from archiver.index.schema import capture, capture_table, segment
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Capture, Location, RecordId, Timestamp
from archiver.urls.surt import surt


def columns_of(captures: FromClause) -> tuple[ColumnElement[Any], ...]:
    """What ``to_capture`` reads, of a table or view of captures."""
    own = captures.c
    return (
        *(own.id, own.url, own.timestamp, own.status, own.media_type, own.payload_digest),
        *(own.payload_length, own.record_id, own.offset, own.length, own.is_revisit),
        *(own.redirect_to, own.ip, own.is_chunked, segment.c.name.label("segment_name")),
    )


COLUMNS = columns_of(capture)
_NEW = (
    "id",
    "surt",
    "url",
    "timestamp",
    "status",
    "media_type",
    "payload_digest",
    "payload_length",
    "record_id",
    "segment_id",
    "offset",
    "length",
    "is_revisit",
    "redirect_to",
    "ip",
    "is_chunked",
)
CAPTURES = select(*COLUMNS).join(segment, segment.c.id == capture.c.segment_id)
ALL_CAPTURES = select(*columns_of(capture_table)).join(
    segment, segment.c.id == capture_table.c.segment_id
)
"""With those that are deleted, whose records are still there."""
_THESE = CAPTURES.where(capture.c.id.in_(THESE))
_STILL_THERE = select(capture.c.id).where(capture.c.id.in_(THESE))
_RECENT = CAPTURES.where(
    capture.c.surt.in_(among_keys(bindparam("keys"))),
    capture.c.url.in_(among_texts(bindparam("urls"))),
    capture.c.timestamp >= bindparam("since"),
).order_by(capture.c.timestamp, capture.c.id)
_MOMENT = (capture.c.surt, capture.c.url, capture.c.timestamp)
_MOST_KEYS = 5_000
"""Keys of one statement: PostgreSQL and SQLite take some 32,700 parameters."""
Lookup = Callable[[CTE], ScalarSelect[int]]
"""Finds the row id of a capture for each row of keys."""


def _exactly(wanted: CTE) -> ColumnElement[bool]:
    return capture.c.url == wanted.c.url


def _spelt_otherwise(_: CTE) -> ColumnElement[bool]:
    return capture.c.redirect_to.is_(None)


def _closest(same: Callable[[CTE], ColumnElement[bool]]) -> tuple[Lookup, Lookup]:
    """The last capture that is not after each moment, and the first that is."""
    own = capture.c

    def before(wanted: CTE) -> ScalarSelect[int]:
        mine = select(own.id).where(own.surt == wanted.c.surt, same(wanted))
        mine = mine.where(own.timestamp <= wanted.c.timestamp)
        return mine.order_by(own.timestamp.desc(), own.id.desc()).limit(1).scalar_subquery()

    def after(wanted: CTE) -> ScalarSelect[int]:
        mine = select(own.id).where(own.surt == wanted.c.surt, same(wanted))
        mine = mine.where(own.timestamp > wanted.c.timestamp)
        return mine.order_by(own.timestamp, own.id.desc()).limit(1).scalar_subquery()

    return before, after


_NEAREST = _closest(_exactly)
_SPELT_OTHERWISE = _closest(_spelt_otherwise)


async def insert_all(conn: AsyncConnection, captures: Sequence[Capture]) -> dict[RecordId, int]:
    """Index captures whose records are on disk; return their row ids by record id.

    Files of others have several records of one id: each has a row of its own, and the id means the
    first of them.
    """
    if not captures:
        return {}
    known = await segments.ids(conn, [*{each.location.segment for each in captures}])
    first = await next_number(conn, capture_table.c.id)
    rows = [_row(first + n, known[each.location.segment], each) for n, each in enumerate(captures)]
    await insert_rows(conn, capture_table, _NEW, rows)
    ids: dict[RecordId, int] = {}
    for n, each in enumerate(captures):
        ids.setdefault(each.record_id, first + n)
    return ids


def _row(number: int, segment_id: int, each: Capture) -> tuple[Any, ...]:
    return (
        number,
        surt(each.url),
        each.url,
        int(each.timestamp),
        each.status,
        each.media_type,
        to_blob(each.payload_digest),
        each.payload_length,
        each.record_id,
        segment_id,
        each.location.offset,
        each.location.length,
        int(each.is_revisit),
        each.redirect_to,
        each.ip,
        int(each.is_chunked),
    )


async def nearest(
    conn: AsyncConnection, url: str, timestamp: Timestamp, *, exact_only: bool = False
) -> Capture | None:
    """The capture of a URL closest in time.

    Args:
        conn: a connection.
        url: the URI-R, serialised.
        timestamp: the moment that is wanted.
        exact_only: take no URL that differs in more than its spelling here; without it, where the
            URL itself was never captured, one with the same SURT is taken (another scheme,
            ``www.``, another order of the query), unless that is a redirect, which could lead
            back here.
    """
    return (await nearest_of(conn, [url], timestamp, exact_only=exact_only)).get(url)


async def nearest_of(
    conn: AsyncConnection, urls: Sequence[str], timestamp: Timestamp, *, exact_only: bool = False
) -> dict[str, Capture]:
    """``nearest`` of each of these URLs that has one."""
    by_url: dict[str, list[Capture]] = {}
    for each in await _around(conn, _NEAREST, urls, timestamp):
        by_url.setdefault(each.url, []).append(each)
    missing = [url for url in urls if url not in by_url]
    if missing and not exact_only:
        by_surt: dict[str, list[Capture]] = {}
        for each in await _around(conn, _SPELT_OTHERWISE, missing, timestamp):
            by_surt.setdefault(surt(each.url), []).append(each)
        by_url |= {url: found for url in missing if (found := by_surt.get(surt(url)))}
    moment = to_datetime(timestamp)
    return {
        url: min(found, key=lambda each: abs(to_datetime(each.timestamp) - moment))
        for url, found in by_url.items()
    }


async def _around(
    conn: AsyncConnection, lookups: Sequence[Lookup], urls: Sequence[str], timestamp: Timestamp
) -> list[Capture]:
    """The captures next to a moment, the earlier before the later."""
    moment = int(timestamp)
    found = await found_by(conn, _MOMENT, lookups, [(surt(url), url, moment) for url in urls])
    return sorted(found, key=lambda each: each.timestamp)


async def of_url(conn: AsyncConnection, url: str, *, limit: int) -> list[Capture]:
    """The newest captures of a URL and of those with its SURT, oldest first."""
    rows = await conn.execute(
        CAPTURES.where(capture.c.surt == surt(url))
        .order_by(capture.c.timestamp.desc(), capture.c.id.desc())
        .limit(limit)
    )
    return [to_capture(row) for row in rows][::-1]


async def recent_of(
    conn: AsyncConnection, urls: Sequence[str], since: Timestamp
) -> dict[str, Capture]:
    """The newest capture of each of exactly these URLs since a moment."""
    if not urls:
        return {}
    wanted = {"keys": {surt(url) for url in urls}, "urls": urls, "since": int(since)}
    newest = {row.url: row for row in await conn.execute(_RECENT, wanted)}
    return {url: to_capture(row) for url, row in newest.items()}


async def found_by(
    conn: AsyncConnection,
    columns: Sequence[ColumnElement[Any]],
    lookups: Sequence[Lookup],
    keys: Sequence[tuple[Any, ...]],
) -> list[Capture]:
    """The captures that lookups find for rows of keys, which are values of these columns."""
    ids: list[int] = []
    for start in range(0, len(keys), _MOST_KEYS):
        keyed = values(*(column(each.name, each.type) for each in columns))
        wanted = keyed.data(keys[start : start + _MOST_KEYS]).cte("wanted")
        found = await conn.execute(select(*(each(wanted) for each in lookups)).select_from(wanted))
        ids += [number for row in found for number in row if number is not None]
    if not ids:
        return []
    rows = await conn.execute(_THESE, {"these": ids})
    return [to_capture(row) for row in rows]


async def find_row(conn: AsyncConnection, url: str, record_id: RecordId) -> int | None:
    """The row id of the capture of a URL that has that record."""
    rows = await conn.execute(
        select(capture.c.id).where(capture.c.surt == surt(url), capture.c.record_id == record_id)
    )
    return rows.scalar()


async def still_there(conn: AsyncConnection, row_ids: Collection[int]) -> set[int]:
    """Those of these rows that were not thrown away."""
    if not row_ids:
        return set()
    return set((await conn.execute(_STILL_THERE, {"these": row_ids})).scalars())


async def at_moments(
    conn: AsyncConnection, urls: Sequence[str], timestamps: Sequence[Timestamp]
) -> list[Capture]:
    """Captures of any of these URLs at any of these moments."""
    rows = await conn.execute(
        CAPTURES.where(
            capture.c.surt.in_(among_keys({surt(url) for url in urls})),
            capture.c.timestamp.in_(among({int(each) for each in timestamps})),
        )
    )
    return [to_capture(row) for row in rows]


async def of_records(
    conn: AsyncConnection, wanted: Collection[tuple[str, RecordId]]
) -> dict[tuple[str, RecordId], list[tuple[int, Capture]]]:
    """Row ids and captures by (URL, record id): one each, but for records that share an id."""
    rows = await conn.execute(
        CAPTURES.where(
            capture.c.surt.in_(among_keys({surt(url) for url, _ in wanted})),
            capture.c.record_id.in_(among_texts(record_id for _, record_id in wanted)),
        ).order_by(capture.c.id)
    )
    found: dict[tuple[str, RecordId], list[tuple[int, Capture]]] = {}
    for row in rows:
        found.setdefault((row.url, RecordId(row.record_id)), []).append((row.id, to_capture(row)))
    return found


async def give_lengths(conn: AsyncConnection, *, after: int) -> None:
    """Give revisits whose rows come after one the payload lengths that only originals know."""
    original = capture_table.alias("original")
    length = (
        select(original.c.payload_length)
        .where(
            original.c.payload_digest == capture_table.c.payload_digest,
            original.c.is_revisit == literal_column("0"),
        )
        .order_by(original.c.deleted_at.is_not(None))
        .limit(1)
        .scalar_subquery()
    )
    await conn.execute(
        update(capture_table)
        .where(
            capture_table.c.id > after,
            capture_table.c.is_revisit == 1,
            capture_table.c.payload_length == 0,
        )
        .values(payload_length=func.coalesce(length, 0))
    )


async def last_row(conn: AsyncConnection) -> int:
    """The row of the capture that was indexed last; 0 if there is none."""
    return (await conn.execute(select(func.max(capture_table.c.id)))).scalar() or 0


async def since(conn: AsyncConnection, row: int, *, limit: int) -> tuple[list[Capture], int]:
    """The first captures whose rows come after one, and the last of those rows."""
    after = CAPTURES.add_columns(capture.c.id.label("row_id")).where(capture.c.id > row)
    rows = (await conn.execute(after.order_by(capture.c.id).limit(limit))).all()
    return [to_capture(each) for each in rows], rows[-1].row_id if rows else row


async def between(conn: AsyncConnection, name: str, first: int, last: int) -> dict[int, Capture]:
    """The captures of a segment, deleted ones too, whose records start between two bytes.

    They are given by that byte.
    """
    own = capture_table.c
    rows = await conn.execute(
        ALL_CAPTURES.where(segment.c.name == name, own.offset >= first, own.offset <= last)
    )
    return {row.offset: to_capture(row) for row in rows}


def to_capture(row: Row[*tuple[Any, ...]]) -> Capture:
    """A capture from a row that has ``COLUMNS``."""
    return Capture(
        url=row.url,
        timestamp=Timestamp(f"{row.timestamp:014d}"),
        status=row.status,
        media_type=row.media_type,
        payload_digest=from_blob(row.payload_digest),
        payload_length=row.payload_length,
        record_id=RecordId(row.record_id),
        location=Location(row.segment_name, row.offset, row.length),
        is_revisit=bool(row.is_revisit),
        redirect_to=row.redirect_to,
        ip=row.ip,
        is_chunked=bool(row.is_chunked),
    )


async def in_segment(
    conn: AsyncConnection, name: str, *, first: int, end: int, limit: int
) -> list[Capture]:
    """Captures whose records start in a segment from a byte on and before another, in order."""
    rows = await conn.execute(
        CAPTURES.where(segment.c.name == name, capture.c.offset >= first, capture.c.offset < end)
        .order_by(capture.c.offset)
        .limit(limit)
    )
    return [to_capture(row) for row in rows]
