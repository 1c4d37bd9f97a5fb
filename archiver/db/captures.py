"""Capture rows: records by URL and time, and payloads by digest.

The table ``answer`` contains other responses, such as partial responses and responses to scripts.
Only snapshot records refer to these responses; replay and lists ignore them.

Imports use the tables ``record_id_seen`` and ``stated_digest`` to recognise records. Only an import
or a rebuild fills these tables, since maintaining them would slow down every crawl.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import md5
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    FromClause,
    Row,
    ScalarSelect,
    Select,
    bindparam,
    case,
    column,
    func,
    literal_column,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import counters, segment_rows, tombstones
from archiver.db.counters import next_id
from archiver.db.dialects import THESE, among, text_values
from archiver.db.schema import (
    capture,
    capture_table,
    excluded_response,
    record_id_seen,
    segment,
    stated_digest,
)
from archiver.db.statements import OnConflict, insert_rows
from archiver.http.media_types import GENERIC_TYPES
from archiver.http.surt import surt_key
from archiver.http.timestamps import to_datetime
from archiver.model.capture import Capture, KeyRange, Location, PayloadDigest, RecordId, Timestamp

_LABEL = "sha256:"


def to_blob(digest: PayloadDigest) -> bytes:
    """Convert a digest to its column value."""
    return bytes.fromhex(digest.removeprefix(_LABEL))


def from_blob(blob: bytes) -> PayloadDigest:
    """Convert a column value to a digest."""
    return PayloadDigest(_LABEL + blob.hex())


def columns_of(captures: FromClause) -> tuple[ColumnElement[Any], ...]:
    """Return the columns that ``to_capture`` reads, of a table or view of captures."""
    c = captures.c
    return (
        *(c.id, c.url, c.timestamp, c.status, c.media_type, c.payload_digest),
        *(c.payload_length, c.record_id, c.offset, c.length, c.is_revisit),
        *(c.redirect_to, c.ip, c.is_chunked, segment.c.name.label("segment_name")),
    )


COLUMNS = columns_of(capture)
CAPTURES = select(*COLUMNS).join(segment, segment.c.id == capture.c.segment_id)
ALL_CAPTURES = select(*columns_of(capture_table)).join(
    segment, segment.c.id == capture_table.c.segment_id
)
"""Query for all captures, including deleted captures whose records still exist."""
_THESE = CAPTURES.where(capture.c.id.in_(THESE))
_RECENT = CAPTURES.where(
    capture.c.surt.in_(text_values(bindparam("keys"))),
    capture.c.url.in_(text_values(bindparam("urls"))),
    capture.c.timestamp >= bindparam("since"),
).order_by(capture.c.timestamp, capture.c.id)
_MOMENT = (capture.c.surt, capture.c.url, capture.c.timestamp)
_MAX_KEYS = 1_024
"""Maximum number of keys per statement; a power of two."""
Lookup = Callable[[CTE], ScalarSelect[int]]
"""Function from a table of keys to a subquery for the id of the capture that each key finds."""


def _exactly(requested: CTE) -> ColumnElement[bool]:
    return capture.c.url == requested.c.url


def _is_no_redirect(_: CTE) -> ColumnElement[bool]:
    return capture.c.redirect_to.is_(None)


def _closest(same: Callable[[CTE], ColumnElement[bool]]) -> tuple[Lookup, Lookup]:
    """Return two lookups: the last capture up to a time, and the first capture after the time.

    Only captures that have the SURT of the key and meet the condition ``same`` are found.
    """
    c = capture.c

    def before(requested: CTE) -> ScalarSelect[int]:
        mine = select(c.id).where(c.surt == requested.c.surt, same(requested))
        mine = mine.where(c.timestamp <= requested.c.timestamp)
        return mine.order_by(c.timestamp.desc(), c.id.desc()).limit(1).scalar_subquery()

    def after(requested: CTE) -> ScalarSelect[int]:
        mine = select(c.id).where(c.surt == requested.c.surt, same(requested))
        mine = mine.where(c.timestamp > requested.c.timestamp)
        return mine.order_by(c.timestamp, c.id.desc()).limit(1).scalar_subquery()

    return before, after


_NEAREST = _closest(_exactly)
_NEAREST_EQUIVALENT = _closest(_is_no_redirect)


async def insert_all(conn: AsyncConnection, captures: Sequence[Capture]) -> dict[RecordId, int]:
    """Insert captures whose records are on disk; return row ids by record id.

    An imported file may contain several records with the same id. Each record gets a row, and the
    result contains the first of these rows.
    """
    if not captures:
        return {}
    segment_ids = await segment_rows.ids(conn, [*{each.location.segment for each in captures}])
    first = await next_id(conn, capture_table.c.id)
    rows = [
        _row(number, segment_ids[each.location.segment], each)
        for number, each in enumerate(captures, first)
    ]
    await insert_rows(conn, capture_table, rows)
    ids: dict[RecordId, int] = {}
    for number, each in enumerate(captures, first):
        ids.setdefault(each.record_id, number)
    return ids


def _row(number: int, segment_id: int, each: Capture) -> dict[str, Any]:
    return {
        "id": number,
        "surt": surt_key(each.url),
        "url": each.url,
        "timestamp": int(each.timestamp),
        "status": each.status,
        "media_type": each.media_type,
        "payload_digest": to_blob(each.payload_digest),
        "payload_length": each.payload_length,
        "record_id": each.record_id,
        "segment_id": segment_id,
        "offset": each.location.offset,
        "length": each.location.length,
        "is_revisit": int(each.is_revisit),
        "redirect_to": each.redirect_to,
        "ip": each.ip,
        "is_chunked": int(each.is_chunked),
    }


async def nearest(
    conn: AsyncConnection, url: str, timestamp: Timestamp, *, exact_only: bool = False
) -> Capture | None:
    """Return the capture of a URL closest in time.

    Args:
        conn: a connection.
        url: the URI-R, serialised.
        timestamp: the preferred time.
        exact_only: whether to find captures of exactly this URL only. Otherwise, if there are none,
            captures of URLs with the same SURT are found, which differ in the scheme, ``www.`` or
            parameter order. Redirects are then ignored, since they could lead to this URL.
    """
    return (await nearest_of(conn, [url], timestamp, exact_only=exact_only)).get(url)


async def nearest_of(
    conn: AsyncConnection, urls: Sequence[str], timestamp: Timestamp, *, exact_only: bool = False
) -> dict[str, Capture]:
    """Return by URL the capture that ``nearest`` finds; URLs without one are left out."""
    by_url: dict[str, list[Capture]] = {}
    for each in await _around(conn, _NEAREST, urls, timestamp):
        by_url.setdefault(each.url, []).append(each)
    missing = [url for url in urls if url not in by_url]
    if missing and not exact_only:
        by_surt: dict[str, list[Capture]] = {}
        for each in await _around(conn, _NEAREST_EQUIVALENT, missing, timestamp):
            by_surt.setdefault(surt_key(each.url), []).append(each)
        by_url |= {url: closest for url in missing if (closest := by_surt.get(surt_key(url)))}
    moment = to_datetime(timestamp)
    return {
        url: min(closest, key=lambda each: abs(to_datetime(each.timestamp) - moment))
        for url, closest in by_url.items()
    }


async def _around(
    conn: AsyncConnection, lookups: tuple[Lookup, ...], urls: Sequence[str], timestamp: Timestamp
) -> list[Capture]:
    """Return captures of URLs that the lookups find around a time, in order of time."""
    moment = int(timestamp)
    rows = await _by_lookups(conn, _MOMENT, lookups, [(surt_key(url), url, moment) for url in urls])
    return sorted(rows, key=lambda each: each.timestamp)


async def of_url(conn: AsyncConnection, url: str, *, limit: int) -> list[Capture]:
    """Return up to ``limit`` of the newest captures of URLs with the URL's SURT, oldest first."""
    newest = capture.c.timestamp.desc(), capture.c.id.desc()
    query = CAPTURES.where(capture.c.surt == surt_key(url)).order_by(*newest).limit(limit)
    return (await read(conn, query))[::-1]


async def recent_of(
    conn: AsyncConnection, urls: Sequence[str], since: Timestamp
) -> dict[str, Capture]:
    """Return the newest capture of each URL since a time; other URLs with its SURT are ignored."""
    if not urls:
        return {}
    parameters = {"keys": {surt_key(url) for url in urls}, "urls": urls, "since": int(since)}
    newest = {row.url: row for row in await conn.execute(_RECENT, parameters)}
    return {url: to_capture(row) for url, row in newest.items()}


async def _by_lookups(
    conn: AsyncConnection,
    columns: tuple[ColumnElement[Any], ...],
    lookups: tuple[Lookup, ...],
    keys: Sequence[tuple[Any, ...]],
) -> list[Capture]:
    """Return the captures that the lookups find; each key is a tuple of values of ``columns``."""
    ids: list[int] = []
    names = [each.name for each in columns]
    for start in range(0, len(keys), _MAX_KEYS):
        batch = keys[start : start + _MAX_KEYS]
        count = 1 << (len(batch) - 1).bit_length()
        padded = [*batch, *[batch[-1]] * (count - len(batch))]
        named = {
            f"{name}_{n}": value
            for n, key in enumerate(padded)
            for name, value in zip(names, key, strict=True)
        }
        result = await conn.execute(_lookup_query(columns, lookups, count), named)
        ids += [number for row in result for number in row if number is not None]
    if not ids:
        return []
    return await read(conn, _THESE, {"these": ids})


@lru_cache
def _lookup_query(
    columns: tuple[ColumnElement[Any], ...], lookups: tuple[Lookup, ...], count: int
) -> Select[*tuple[Any, ...]]:
    """Return a query that runs the lookups for ``count`` keys; its parameters are ``NAME_N``.

    The text has a fixed number of keys, so that SQLAlchemy compiles it once.
    """
    names = [each.name for each in columns]
    rows = ", ".join(f"({', '.join(f':{name}_{n}' for name in names)})" for n in range(count))
    column_list = ", ".join(f"column{n} AS {name}" for n, name in enumerate(names, 1))
    typed = [
        bindparam(f"{each.name}_{n}", type_=each.type) for n in range(count) for each in columns
    ]
    keys_query = (
        text(f"SELECT {column_list} FROM (VALUES {rows}) AS given")  # noqa: S608
        .bindparams(*typed)
        .columns(*(column(each.name, each.type) for each in columns))
        .cte("wanted")
    )
    return select(*(each(keys_query) for each in lookups)).select_from(keys_query)


async def at_moments(
    conn: AsyncConnection, urls: Sequence[str], timestamps: Sequence[Timestamp]
) -> list[Capture]:
    """Return the captures that have one of the timestamps, and the SURT of one of the URLs."""
    query = CAPTURES.where(
        capture.c.surt.in_(text_values({surt_key(url) for url in urls})),
        capture.c.timestamp.in_(among({int(each) for each in timestamps})),
    )
    return await read(conn, query)


async def archived_among(conn: AsyncConnection, urls: Collection[str]) -> set[str]:
    """Return those of the URLs that have a capture."""
    keys = text_values({surt_key(url) for url in urls})
    rows = await conn.execute(
        select(capture.c.url)
        .where(capture.c.surt.in_(keys), capture.c.url.in_(text_values(urls)))
        .distinct()
    )
    return {*rows.scalars()}


async def of_records(
    conn: AsyncConnection, records: Collection[tuple[str, RecordId]]
) -> dict[tuple[str, RecordId], list[tuple[int, Capture]]]:
    """Return lists of (row id, capture) by (URL, record id), since records can share an id."""
    rows = await conn.execute(
        CAPTURES.where(
            capture.c.surt.in_(text_values({surt_key(url) for url, _ in records})),
            capture.c.record_id.in_(text_values(record_id for _, record_id in records)),
        ).order_by(capture.c.id)
    )
    captures_by_record: dict[tuple[str, RecordId], list[tuple[int, Capture]]] = {}
    for row in rows:
        captures_by_record.setdefault((row.url, RecordId(row.record_id)), []).append(
            (row.id, to_capture(row))
        )
    return captures_by_record


async def fill_lengths_of_revisits(conn: AsyncConnection, *, after: int) -> None:
    """Copy payload lengths and media types of response records to revisits after a row id.

    Only an empty or generic media type is replaced. A text type never replaces a generic type.
    """
    original = capture_table.alias("original")

    def of_original(column: ColumnElement[Any]) -> ScalarSelect[Any]:
        return (
            select(column)
            .where(
                original.c.payload_digest == capture_table.c.payload_digest,
                original.c.is_revisit == literal_column("0"),
            )
            .order_by(original.c.deleted_at.is_not(None))
            .limit(1)
            .scalar_subquery()
        )

    media_type = capture_table.c.media_type
    sniffed = of_original(original.c.media_type)
    kind = case(
        (media_type == "", func.coalesce(sniffed, media_type)),
        (media_type.in_(GENERIC_TYPES) & sniffed.not_like("text/%"), sniffed),
        else_=media_type,
    )
    await conn.execute(
        update(capture_table)
        .where(
            capture_table.c.id > after,
            capture_table.c.is_revisit == 1,
            capture_table.c.payload_length == 0,
        )
        .values(
            payload_length=func.coalesce(of_original(original.c.payload_length), 0), media_type=kind
        )
    )


async def last_row(conn: AsyncConnection) -> int:
    """Return the row id of the newest capture; 0 if there is none."""
    return (await conn.execute(select(func.max(capture_table.c.id)))).scalar() or 0


async def between(conn: AsyncConnection, name: str, first: int, last: int) -> dict[int, Capture]:
    """Return the captures in a segment with offsets from ``first`` to ``last``, by offset.

    Deleted captures are included.
    """
    c = capture_table.c
    rows = await conn.execute(
        ALL_CAPTURES.where(segment.c.name == name, c.offset >= first, c.offset <= last)
    )
    return {row.offset: to_capture(row) for row in rows}


async def read(
    conn: AsyncConnection,
    query: Select[*tuple[Any, ...]],
    parameters: Mapping[str, Any] | None = None,
) -> list[Capture]:
    """Return the captures that a query of ``COLUMNS`` finds."""
    return [to_capture(row) for row in await conn.execute(query, parameters)]


def to_capture(row: Row[*tuple[Any, ...]]) -> Capture:
    """Build a capture from a row with ``COLUMNS``."""
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
    """Return captures in a segment from offset ``first`` to ``end`` (exclusive), by offset."""
    offset = capture.c.offset
    query = CAPTURES.where(segment.c.name == name, offset >= first, offset < end)
    return await read(conn, query.order_by(offset).limit(limit))


_KEYS = (capture.c.surt, capture.c.timestamp, capture.c.id)


Place = tuple[str, int, int]
"""Position of a capture in the order of SURT and time: (SURT, timestamp, row id)."""
Placed = tuple[Place, Capture]


async def in_range(
    conn: AsyncConnection, key_range: KeyRange, *, after: Place | None, limit: int
) -> list[Placed]:
    """Return the captures of a range that follow a position, each with its position."""
    query = _in_range(CAPTURES.add_columns(capture.c.surt), key_range, after).limit(limit)
    rows = await conn.execute(query)
    return [((row.surt, row.timestamp, row.id), to_capture(row)) for row in rows]


async def place_of(conn: AsyncConnection, row_id: int) -> Place | None:
    """Return the position of a row; None if it does not exist."""
    row = (await conn.execute(select(*_KEYS).where(capture.c.id == row_id))).one_or_none()
    return (row.surt, row.timestamp, row.id) if row else None


async def place_at(conn: AsyncConnection, key_range: KeyRange, number: int) -> Place | None:
    """Return the position of a capture by its number in a range, from 0; None if there is none.

    The query reads the database index only, so it is fast.
    """
    query = _in_range(select(*_KEYS), key_range, None).limit(1).offset(number)
    row = (await conn.execute(query)).one_or_none()
    return (row.surt, row.timestamp, row.id) if row else None


async def count_in_range(conn: AsyncConnection, key_range: KeyRange) -> int:
    """Return the number of captures in a range."""
    rows = _in_range(select(capture.c.id), key_range, None).order_by(None).subquery("rows")
    return (await conn.execute(select(func.count()).select_from(rows))).scalar_one()


def _in_range(query: Select[Any], key_range: KeyRange, after: Place | None) -> Select[Any]:
    """Restrict and sort a query to the captures of a range that follow a position."""
    keys: tuple[Any, ...] = _KEYS
    last: tuple[Any, ...] | None = after
    query = query.where(capture.c.timestamp.between(key_range.first, key_range.last))
    if key_range.last_key == key_range.first_key + "\0":
        keys, last = keys[1:], last and last[1:]
        query = query.where(capture.c.surt == key_range.first_key)
    elif last is None:
        # BETWEEN is not used, because PostgreSQL rejects the collation of its text parameters.
        query = query.where(
            capture.c.surt >= key_range.first_key, capture.c.surt <= key_range.last_key
        )
    elif key_range.newest_first:
        query = query.where(capture.c.surt >= key_range.first_key)
    else:
        query = query.where(capture.c.surt < key_range.last_key)
    if last is not None:
        # The query has only one bound per direction, since SQLite might use the looser of two.
        place = tuple_(*keys)
        query = query.where(place < last if key_range.newest_first else place > last)
    return query.order_by(*([key.desc() for key in keys] if key_range.newest_first else keys))


_PAYLOAD = (capture.c.payload_digest,)
_PAIR = (capture.c.surt, capture.c.url, capture.c.payload_digest)


def _original(requested: CTE) -> ScalarSelect[int]:
    """Return a subquery for the first response record of each payload, preferably unchunked."""
    return (
        select(capture.c.id)
        .where(capture.c.payload_digest == requested.c.payload_digest, capture.c.is_revisit == 0)
        .order_by(capture.c.is_chunked, capture.c.id)
        .limit(1)
        .scalar_subquery()
    )


def _original_of_url(requested: CTE) -> ScalarSelect[int]:
    """Return a subquery for a response record of each (URL, payload)."""
    # "< 1" instead of "= 0" keeps SQLite from using the index of payloads, which is slow if many
    # URLs share a payload.
    return (
        select(capture.c.id)
        .where(*(capture.c[each.name] == each for each in requested.c), capture.c.is_revisit < 1)
        .limit(1)
        .scalar_subquery()
    )


async def original_of(conn: AsyncConnection, digest: PayloadDigest) -> Capture | None:
    """Return the first response record that contains a payload, if any."""
    return (await originals(conn, [digest])).get(digest)


async def original_or_deleted(conn: AsyncConnection, digest: PayloadDigest) -> Capture | None:
    """Return the first response record with a payload; a deleted record if there is no other."""
    if original := await original_of(conn, digest):
        return original
    c = capture_table.c
    query = ALL_CAPTURES.where(c.payload_digest == to_blob(digest), c.is_revisit == 0)
    return next(iter(await read(conn, query.order_by(c.id).limit(1))), None)


async def all_originals(
    conn: AsyncConnection, digest: PayloadDigest, *, limit: int
) -> list[Capture]:
    """Return up to ``limit`` response records with a payload.

    Records without chunk framing are first, then older records.
    """
    c = capture.c
    query = CAPTURES.where(c.payload_digest == to_blob(digest), c.is_revisit == 0)
    return await read(conn, query.order_by(c.is_chunked, c.id).limit(limit))


async def originals(
    conn: AsyncConnection, digests: Sequence[PayloadDigest]
) -> dict[PayloadDigest, Capture]:
    """Return the first response record of each payload, by digest.

    Records without chunk framing are preferred. Payloads without a response record are left out.
    """
    rows = await _by_lookups(conn, _PAYLOAD, (_original,), [(to_blob(each),) for each in digests])
    return {each.payload_digest: each for each in rows}


async def originals_of_urls(
    conn: AsyncConnection, pairs: Sequence[tuple[str, PayloadDigest]]
) -> dict[tuple[str, PayloadDigest], Capture]:
    """Return one response record by (URL, digest); pairs without a record are left out."""
    keys = [(surt_key(url), url, to_blob(digest)) for url, digest in pairs]
    rows = await _by_lookups(conn, _PAIR, (_original_of_url,), keys)
    return {(each.url, each.payload_digest): each for each in rows}


async def insert_excluded_responses(
    conn: AsyncConnection, responses: Sequence[tuple[RecordId, Location]]
) -> None:
    """Insert the record ids and locations of responses into ``answer``."""
    if not responses:
        return
    segment_ids = await segment_rows.ids(conn, [*{place.segment for _, place in responses}])
    rows = [
        {
            "segment_id": segment_ids[place.segment],
            "offset": place.offset,
            "length": place.length,
            "record_id": record_id,
        }
        for record_id, place in responses
    ]
    await insert_rows(conn, excluded_response, rows)


async def excluded_response_locations(
    conn: AsyncConnection, ids: Iterable[RecordId]
) -> dict[RecordId, Location]:
    """Return the locations of responses in ``answer`` by record id."""
    c = excluded_response.c
    rows = await conn.execute(
        select(c.record_id, segment.c.name, c.offset, c.length)
        .join(segment, segment.c.id == c.segment_id)
        .where(c.record_id.in_(text_values(ids)))
    )
    return {RecordId(row[0]): Location(*row[1:]) for row in rows}


async def excluded_responses_between(
    conn: AsyncConnection, name: str, first: int, last: int
) -> Mapping[int, RecordId]:
    """Return record ids in ``answer`` by offset, for offsets ``first`` to ``last`` of a segment."""
    rows = await conn.execute(
        select(excluded_response.c.offset, excluded_response.c.record_id)
        .join(segment, segment.c.id == excluded_response.c.segment_id)
        .where(
            segment.c.name == name,
            excluded_response.c.offset >= first,
            excluded_response.c.offset <= last,
        )
    )
    return {row.offset: RecordId(row.record_id) for row in rows}


BATCH = 20_000
_LAST_SEEN = "record ids seen"


async def register_record_ids(conn: AsyncConnection) -> bool:
    """Register the record ids of the next captures; return whether there may be more."""
    last = await counters.get(conn, _LAST_SEEN) or 0
    result = await conn.execute(
        select(capture.c.id, capture.c.record_id)
        .where(capture.c.id > last)
        .order_by(capture.c.id)
        .limit(BATCH)
    )
    rows = result.all()
    if rows:
        keys = [{"id": key} for key in sorted({_key(row.record_id) for row in rows})]
        await insert_rows(conn, record_id_seen, keys, OnConflict.KEEP)
        await counters.put(conn, {_LAST_SEEN: rows[-1].id})
    return len(rows) == BATCH


async def used_record_ids(conn: AsyncConnection, record_ids: Sequence[RecordId]) -> set[RecordId]:
    """Return those of the record ids that registered or deleted captures use."""
    keys = {_key(each): each for each in record_ids}
    rows = await conn.execute(
        select(record_id_seen.c.id).where(record_id_seen.c.id.in_(among(keys)))
    )
    return {keys[key] for key in rows.scalars()} | await tombstones.captures(conn, record_ids)


async def urls_of_records(conn: AsyncConnection, record_ids: Sequence[RecordId]) -> dict[str, str]:
    """Return the URLs of captures by record id.

    Record ids have no database index, so all captures are read if a registered one has an id.
    """
    used = await used_record_ids(conn, record_ids)
    if not used:
        return {}
    rows = await conn.execute(
        select(capture.c.record_id, capture.c.url).where(capture.c.record_id.in_(text_values(used)))
    )
    return dict(rows.all())


async def register_stated_digests(
    conn: AsyncConnection, digests: Mapping[str, PayloadDigest]
) -> None:
    """Store SHA-256 digests by the digests that imported records state, such as SHA-1."""
    rows = [
        {"digest": digest, "payload_digest": to_blob(ours)}
        for digest, ours in sorted(digests.items())
    ]
    await insert_rows(conn, stated_digest, rows, OnConflict.REPLACE)


async def by_stated_digest(
    conn: AsyncConnection, digests: Sequence[str]
) -> dict[str, PayloadDigest]:
    """Return the SHA-256 digest of payloads by stated digest; unknown digests are left out."""
    rows = await conn.execute(
        select(stated_digest.c.digest, stated_digest.c.payload_digest).where(
            stated_digest.c.digest.in_(text_values(digests))
        )
    )
    return {row.digest: from_blob(row.payload_digest) for row in rows}


def _key(record_id: str) -> int:
    """Return 63 bits of the hash of a record id.

    On a collision, the imported record gets a new id.
    """
    return int.from_bytes(md5(record_id.encode(), usedforsecurity=False).digest()[:8]) >> 1
