"""Queries for entries with their user metadata, and for entries of alias URLs."""

import json
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import attempts, counters, tags_and_lists
from archiver.db.dialects import is_among_parameter, text_values
from archiver.db.schema import (
    capture,
    counter,
    entry,
    entry_table,
    entry_tag,
    in_list,
    snapshot,
    tag,
)
from archiver.db.tags_and_lists import Labels
from archiver.http.surt import surt_key
from archiver.http.urls import hash_url
from archiver.model.annotation import Annotation, Highlight, tag_key
from archiver.model.capture import HashUrl, Timestamp
from archiver.model.entry import Entry
from archiver.model.job import State
from archiver.model.rendering import Rendering
from archiver.warc.metadata_records import read_web_annotation, write_web_annotation

_IN_OTHER_TABLES = frozenset({"tags", "folders", "places"})
"""Fields of annotations that are stored in the tables of tags and lists."""
_COLUMN_NAMES = {"title": "given_title"}
"""Columns whose name differs from that of the annotation field.

The title from the page is not an annotation; it has its own column, ``page_title``.
"""
COLUMNS = {
    each.name: entry.c[_COLUMN_NAMES.get(each.name, each.name)]
    for each in fields(Annotation)
    if each.name not in _IN_OTHER_TABLES
}
"""Columns of ``entry`` by annotation field.

A new field needs a column with the same name, or an item in ``_COLUMN_NAMES``.
"""
_NAMES = [each.name for each in COLUMNS.values()]
_FIELDS, _VALUES = attrgetter(*COLUMNS), attrgetter(*_NAMES)
UPDATE = update(entry_table).where(entry_table.c.id == bindparam("entry_id"))
"""Update of the entry ``entry_id``; the other parameters are the columns to set."""


def by_column(annotation: Annotation) -> dict[str, Any]:
    """Return the column values of an annotation by column name.

    Raises:
        ValueError: the annotation has no date.
    """
    columns = dict(zip(_NAMES, _FIELDS(annotation), strict=True))
    for name, write in _WRITE.items():
        columns[name] = write(columns[name])
    return columns


def changes(before: Annotation, after: Annotation) -> Mapping[str, Any]:
    """Return the column values of ``after`` by name; empty if ``before`` has the same values."""
    new = by_column(after)
    return new if new != by_column(before) else {}


def of_row(row: Row[*tuple[Any, ...]], labels: Labels) -> Annotation:
    """Build an annotation from a row with ``COLUMNS``, and from tags and lists."""
    columns = dict(zip(COLUMNS, _VALUES(row), strict=True))
    for field, read in _READ.items():
        columns[field] = read(columns[field])
    annotation = Annotation(tags=labels.tags, **columns)
    return annotation.in_lists(labels.lists) if labels.lists else annotation


def _read_highlights(highlights: str) -> tuple[Highlight, ...]:
    return tuple(map(read_web_annotation, json.loads(highlights))) if highlights else ()


def _seconds(added_at: datetime | None) -> int:
    if added_at is None:
        raise ValueError("the saved date is unknown")
    return int(added_at.timestamp())


def _write_highlights(highlights: Sequence[Highlight]) -> str:
    if not highlights:
        return ""
    marked = [*map(write_web_annotation, highlights)]
    return json.dumps(marked, ensure_ascii=False, separators=(",", ":"))


_WRITE: Mapping[str, Callable[[Any], Any]] = {
    COLUMNS["added_at"].name: _seconds,
    COLUMNS["highlights"].name: _write_highlights,
}
"""Functions that convert a value for its column, by column name."""
_READ: Mapping[str, Callable[[Any], Any]] = {
    "added_at": lambda seconds: datetime.fromtimestamp(seconds, UTC),
    "highlights": _read_highlights,
    **{each.name: bool for each in fields(Annotation) if each.type is bool},
}


class Place(NamedTuple):
    """Position in a list; the next page starts after it.

    Attributes:
        first: first sort key of the entry: a time in Unix seconds, or its position in a list.
        row: second sort key, the row id of the entry.
    """

    first: int
    row: int


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of a list; an entry passes if all of them match.

    Attributes:
        tag: name of a tag that the entry has.
        host: host of the entry, with the port if it is not the default.
        state: state of the entry.
        status: HTTP status of the newest snapshot of the entry.
        any_of: other filters, at least one of which the entry must pass. If the tuple is empty, no
            entry passes.
        list_id: row id of a list that contains the entry.
        is_highlighted: whether the entry must have highlights.
        is_changed: whether the article must differ from that of the previous snapshot.
        is_starred: whether the entry must be starred.
        is_read: whether the entry must be marked as read.
    """

    tag: str | None = None
    host: str | None = None
    state: State | None = None
    status: int | None = None
    any_of: "tuple[Filters, ...] | None" = None
    list_id: int | None = None
    is_highlighted: bool = False
    is_changed: bool = False
    is_starred: bool = False
    is_read: bool = False


async def by_hash(conn: AsyncConnection, hash_url: HashUrl) -> tuple[int, Entry] | None:
    """Return the row id and the entry with a hash_url; None if there is no such entry."""
    row = (await conn.execute(select(entry).where(entry.c.hash_url == hash_url))).one_or_none()
    if row is None:
        return None
    labels = await tags_and_lists.labels_of_entries(conn, [row.id])
    return row.id, _entry(row, labels[row.id])


async def by_ids(conn: AsyncConnection, ids: Sequence[int]) -> dict[int, Entry]:
    """Return entries by row id."""
    return {
        row_id: revision.entry for row_id, revision in (await with_revisions(conn, ids)).items()
    }


@dataclass(frozen=True, slots=True)
class Revised:
    """Entry with the state of its annotation.

    Attributes:
        entry: the entry.
        revision: number of changes of its annotation.
        is_unrecorded: whether no WARC record has this revision yet.
        generation: how often an entry with this URL was deleted before.
    """

    entry: Entry
    revision: int
    is_unrecorded: bool
    generation: int = 0


async def last_row(conn: AsyncConnection) -> int:
    """Return the row id of the newest entry; 0 if there is none."""
    return (await conn.execute(select(func.max(entry.c.id)))).scalar() or 0


_BY_IDS = select(entry).where(is_among_parameter(entry.c.id))
_STILL_THERE = select(entry.c.id).where(is_among_parameter(entry.c.id))


async def count_unread(conn: AsyncConnection) -> int:
    """Return the number of entries that are not marked as read."""
    counted = select(counter.c.value).where(counter.c.name == counters.ENTRIES).scalar_subquery()
    read = select(func.count()).where(entry.c.is_read == literal_column("1")).scalar_subquery()
    counted_all, marked = (await conn.execute(select(counted, read))).one()
    unread: int = max((counted_all or 0) - marked, 0)
    return unread


async def with_revisions(conn: AsyncConnection, ids: Sequence[int]) -> dict[int, Revised]:
    """Return entries with their revisions, by row id."""
    if not ids:
        return {}
    rows = await conn.execute(_BY_IDS, {"these": ids})
    labels = await tags_and_lists.labels_of_entries(conn, ids)
    return {
        row.id: Revised(
            _entry(row, labels[row.id]), row.revision, bool(row.unrecorded), row.generation
        )
        for row in rows
    }


def newest_query(
    filters: Filters, *, below: Place | None, limit: int, oldest_first: bool = False
) -> Select[*tuple[Any, ...]]:
    """Return the query for a page of entries, newest or oldest first.

    With a single filter, the query uses an index.
    """
    query: Select[*tuple[Any, ...]] = select(entry)
    added_at, row = entry.c.added_at, entry.c.id
    if filters.list_id is not None:
        query = query.join(in_list, in_list.c.entry_id == entry.c.id)
        query = query.where(in_list.c.list_id == filters.list_id)
        added_at, row = in_list.c.added_at, in_list.c.entry_id
    elif filters.tag is not None:
        tag_id = select(tag.c.id).where(tag.c.key == tag_key(filters.tag)).scalar_subquery()
        query = query.join(entry_tag, entry_tag.c.entry_id == entry.c.id)
        query = query.where(entry_tag.c.tag_id == tag_id)
        added_at, row = entry_tag.c.added_at, entry_tag.c.entry_id
    query = narrowed(query, filters)
    if below is not None:
        place, edge = tuple_(added_at, row), (below.first, below.row)
        query = query.where(place > edge if oldest_first else place < edge)
    if oldest_first:
        return query.order_by(added_at, row).limit(limit)
    return query.order_by(added_at.desc(), row.desc()).limit(limit)


def narrowed(query: Select[*tuple[Any, ...]], filters: Filters) -> Select[*tuple[Any, ...]]:
    """Add the conditions of all filters except tag, list and ``any_of`` to a query of ``entry``."""
    if filters.host is not None:
        query = query.where(entry.c.host == filters.host)
    if filters.state is not None:
        query = query.where(entry.c.state == filters.state)
    if filters.status is not None:
        query = query.where(entry.c.status == filters.status)
    if filters.is_highlighted:
        query = query.where(entry.c.highlights != literal_column("''"))
    if filters.is_changed:
        query = query.where(entry.c.changed > literal_column("0"))
    if filters.is_starred:
        query = query.where(entry.c.is_starred == literal_column("1"))
    if filters.is_read:
        query = query.where(entry.c.is_read == literal_column("1"))
    return query


async def with_gaps(
    conn: AsyncConnection, row_id: int, *, limit: int
) -> tuple[dict[int, str], int]:
    """Return the URLs of entries whose newest snapshot has missing requisites, by row id.

    Only snapshots with row ids above ``row_id`` are read. The second result is the row id of the
    last snapshot that was read.
    """
    rows = await conn.execute(
        select(snapshot.c.id, snapshot.c.entry_id, entry.c.url)
        .join(entry, (entry.c.id == snapshot.c.entry_id) & (entry.c.latest == snapshot.c.timestamp))
        .where(snapshot.c.missing_count > 0, snapshot.c.id > row_id)
        .order_by(snapshot.c.id)
        .limit(limit)
    )
    gaps = rows.all()
    return {row.entry_id: row.url for row in gaps}, gaps[-1].id if gaps else row_id


async def unrendered(
    conn: AsyncConnection, row_id: int, *, limit: int
) -> tuple[dict[int, str], int]:
    """Return the URLs of entries whose newest snapshot needs a browser, by row id of the entry.

    Only entries with row ids above ``row_id`` are returned. The second result is the last row id.
    """
    rows = await conn.execute(
        select(entry.c.id, entry.c.url)
        .where(entry.c.rendering == literal_column("'needed'"), entry.c.id > row_id)
        .order_by(entry.c.id)
        .limit(limit)
    )
    urls = dict(rows.all())
    return urls, max(urls, default=row_id)


async def with_prefix(conn: AsyncConnection, prefix: str, *, limit: int) -> list[HashUrl]:
    """Return up to ``limit`` hash_urls that start with a prefix of hex digits."""
    name = entry.c.hash_url
    query = select(name).where(name >= prefix, name < f"{prefix}g").order_by(name)
    return [HashUrl(each) for each in (await conn.execute(query.limit(limit))).scalars()]


async def existing_rows(conn: AsyncConnection, ids: Collection[int]) -> set[int]:
    """Return the row ids in ``ids`` that exist."""
    if not ids:
        return set()
    return set((await conn.execute(_STILL_THERE, {"these": ids})).scalars())


async def latest_of(conn: AsyncConnection, keys: Sequence[HashUrl]) -> dict[HashUrl, Timestamp]:
    """Return the timestamp of the newest snapshot by hash_url, for entries with snapshots."""
    latest = await _by_hash(conn, entry.c.latest, keys)
    return {key: Timestamp(f"{each:014d}") for key, each in latest.items() if each}


async def states_of(conn: AsyncConnection, keys: Sequence[HashUrl]) -> dict[HashUrl, State]:
    """Return the states of existing entries by hash_url."""
    return {key: State(state) for key, state in (await _by_hash(conn, entry.c.state, keys)).items()}


async def rows_of(conn: AsyncConnection, keys: Sequence[str]) -> dict[HashUrl, int]:
    """Return the row ids of existing entries by hash_url."""
    return await _by_hash(conn, entry.c.id, keys)


async def _by_hash(
    conn: AsyncConnection, column: ColumnElement[Any], keys: Sequence[str]
) -> dict[HashUrl, Any]:
    """Return the values of a column of existing entries by hash_url."""
    rows = await conn.execute(
        select(entry.c.hash_url, column).where(entry.c.hash_url.in_(text_values(keys)))
    )
    return {HashUrl(key): value for key, value in rows}


def _entry(row: Row[*tuple[Any, ...]], labels: tags_and_lists.Labels) -> Entry:
    return Entry(
        hash_url=HashUrl(row.hash_url),
        url=row.url,
        host=row.host,
        annotation=of_row(row, labels),
        title=row.given_title or row.page_title,
        state=State(row.state),
        failure=attempts.load_failure(row.failure),
        latest=Timestamp(f"{row.latest:014d}") if row.latest else None,
        snapshot_count=row.snapshot_count,
        status=row.status,
        media_type=row.media_type,
        rendering=Rendering(row.rendering),
        score=row.score,
        sorted_at=datetime.fromtimestamp(row.sort_at, UTC),
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """Columns by which entries of two indexes are compared.

    Attributes:
        row_id: row id of the entry.
        hash_url: identifier of the entry.
        revision: number of changes of its annotation.
        generation: how often an entry with this URL was deleted before.
        snapshot_count: number of its snapshots.
    """

    row_id: int
    hash_url: HashUrl
    revision: int
    generation: int
    snapshot_count: int


_SUMMARIES = select(
    entry.c.id, entry.c.hash_url, entry.c.revision, entry.c.generation, entry.c.snapshot_count
)


async def summaries(conn: AsyncConnection, keys: Sequence[str]) -> dict[str, Summary]:
    """Return summaries of entries by hash_url; unknown entries are left out."""
    rows = await conn.execute(_SUMMARIES.where(entry.c.hash_url.in_(text_values(keys))))
    return {row.hash_url: Summary(*row) for row in rows}


async def summaries_after(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[Summary], int]:
    """Return summaries of the next entries after a row id, and the last row id read."""
    rows = await conn.execute(
        _SUMMARIES.where(entry.c.id > after).order_by(entry.c.id).limit(limit)
    )
    page = [Summary(*row) for row in rows]
    return page, page[-1].row_id if page else after


_ENTRY_STATES = select(entry.c.id, entry.c.latest, entry.c.snapshot_count).where(
    is_among_parameter(entry.c.id)
)


@dataclass(frozen=True, slots=True)
class EntryState:
    """Timestamp of an entry's newest snapshot, or 0, and the number of its snapshots."""

    latest: int
    snapshots: int


async def entry_states(conn: AsyncConnection, entry_ids: Collection[int]) -> dict[int, EntryState]:
    """Return the states of entries by row id."""
    rows = await conn.execute(_ENTRY_STATES, {"these": entry_ids})
    return {row.id: EntryState(row.latest or 0, row.snapshot_count) for row in rows}


MAX_ROWS = 500
"""Maximum number of captures and snapshots that a query for aliases reads."""
MAX_ALIASES = 50
_NAMES_ANOTHER = snapshot.c.canonical != literal_column("''")


async def aliases_of(conn: AsyncConnection, url: str) -> list[str]:
    """Return up to ``MAX_ALIASES`` other URLs of the same page; URLs of the same host are first.

    Two URLs are aliases in each of these cases:

    - One redirects to the other.
    - They have the same SURT, so that they differ only in scheme, ``www.`` or the last slash.
    - One redirects to a URL with the same SURT as the other.
    - One is the canonical URL of the other.
    - Both have the same canonical URL.
    """
    aliases = {
        each
        for query in (*_by_captures(url), *_by_canonical_url(url))
        for each in (await conn.execute(query.limit(MAX_ROWS))).scalars()
        if each is not None
    }
    alike = sorted(each for each in aliases if surt_key(each) == surt_key(url))
    aliases |= await _redirecting_to(conn, [url, *alike])
    host = _host(url)
    return sorted(aliases - {url}, key=lambda each: (_host(each) != host, each))[:MAX_ALIASES]


async def saved_aliases(conn: AsyncConnection, url: str) -> dict[int, Entry]:
    """Return the entries of the aliases of a URL by row id, in the order of ``aliases_of``.

    Entries without snapshots are left out.
    """
    keys = [hash_url(each) for each in await aliases_of(conn, url)]
    rows = await rows_of(conn, keys) if keys else {}
    by_row = await by_ids(conn, sorted(rows.values())) if rows else {}
    numbers = [rows[key] for key in keys if key in rows]
    return {each: by_row[each] for each in numbers if each in by_row and by_row[each].latest}


def _host(url: str) -> str:
    """Return the SURT host, without scheme and ``www.``."""
    return surt_key(url).partition(")")[0]


async def _redirecting_to(conn: AsyncConnection, urls: Sequence[str]) -> set[str]:
    """Return URLs, and those that redirect to one of them, directly or through other URLs."""
    aliases, targets = {*urls}, deque(urls)
    for _ in range(MAX_ALIASES):
        if not targets or len(aliases) > MAX_ROWS:
            break
        query = select(capture.c.url).where(capture.c.redirect_to == targets.popleft())
        rows = await conn.execute(query.order_by(capture.c.id).limit(MAX_ROWS))
        leading = dict.fromkeys(each for each in rows.scalars() if each not in aliases)
        aliases |= leading.keys()
        targets += leading
    return aliases


def _by_captures(url: str) -> tuple[Select[str | None], ...]:
    c, key = capture.c, surt_key(url)
    same_url = c.surt == key
    final = (
        select(entry.c.url)
        .join(snapshot, snapshot.c.entry_id == entry.c.id)
        .join(capture, capture.c.id == snapshot.c.capture_id)
        .where(same_url)
    )
    led_to = select(c.redirect_to).where(same_url, c.redirect_to.is_not(None))
    alike = select(c.url).where(same_url, c.url != url)
    return tuple(each.order_by(c.timestamp) for each in (final, led_to, alike))


def _by_canonical_url(url: str) -> tuple[Select[str], ...]:
    canonical = snapshot.c.canonical
    mine = (
        select(canonical)
        .join(entry, entry.c.id == snapshot.c.entry_id)
        .where(entry.c.hash_url == hash_url(url), _NAMES_ANOTHER)
    )
    naming = select(entry.c.url).join(snapshot, snapshot.c.entry_id == entry.c.id)
    to_this = naming.where(canonical == url, _NAMES_ANOTHER).order_by(snapshot.c.id)
    same_canonical = naming.where(canonical.in_(mine), _NAMES_ANOTHER).order_by(
        canonical, snapshot.c.id
    )
    return mine.order_by(snapshot.c.timestamp), to_this, same_canonical


async def added_within(
    conn: AsyncConnection, spans: Sequence[tuple[int, int]], *, each: int
) -> list[int]:
    """Return row ids of the newest entries that were saved in each time span.

    Args:
        conn: a connection.
        spans: a few dozen (start, end) in Unix seconds; the end is not included.
        each: maximum number of entries per span.
    """
    queries = [
        select(
            select(entry.c.id)
            .where(entry.c.added_at >= first, entry.c.added_at < end)
            .order_by(entry.c.added_at.desc(), entry.c.id.desc())
            .limit(each)
            .subquery(f"day_{n}")
        )
        for n, (first, end) in enumerate(spans)
    ]
    return list((await conn.execute(union_all(*queries))).scalars())
