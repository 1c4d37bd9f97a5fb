"""Queries for pages and workers neither read a whole table nor sort all matches."""

import re
from datetime import UTC, datetime

import pytest
from sqlalchemy import event

from archiver.db import (
    attempts,
    captures,
    edit_history,
    entries,
    facets,
    host_queue,
    imports,
    jobs,
    list_order,
    new_entries,
    queue,
    ranking,
    search,
    search_documents,
    segment_rows,
    snapshots,
    tags_and_lists,
)
from archiver.db.entries import Filters, Place
from archiver.db.full_text import Phrase
from archiver.db.query_sql import SearchContext, Split
from archiver.db.schema import VIEW, capture_table, entry_table, snapshot_table
from archiver.db.search import SearchRequest
from archiver.model.capture import KeyRange
from archiver.model.job import ChangeCursor, State
from archiver.model.listing import Sort
from archiver.search.query_fields import FIELDS
from archiver.search.query_parser import parse_query
from archiver.search.query_tree import EVERYTHING, positive_terms

pytestmark = pytest.mark.sqlite

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
BELOW = Place(1_700_000_000, 7)
URL = "http://a.example/"
MOMENT = "20260301120000"
DIGESTS = ["sha256:" + "0" * 64, "sha256:" + "1" * 64]
SMALL = r"found|given|json_each|ready|wanted|taken|\(subquery|segment|counter|import|(day|year)_"
"""Pattern of tables that a query may scan: virtual tables, and tables with few rows."""


def filters_of(q):
    return SearchRequest(parse_query(q), Filters(), SearchContext(NOW))


READS = {
    **{
        f"newest {name} {where}": lambda conn, f=filters, b=below: conn.execute(
            entries.newest_query(f, below=b, limit=50)
        )
        for name, filters in {
            "all": Filters(),
            "tag": Filters(tag="t"),
            "host": Filters(host="a.example"),
            "state": Filters(state=State.SAVED),
            "status": Filters(status=200),
            "highlighted": Filters(is_highlighted=True),
            "changed": Filters(is_changed=True),
            "starred": Filters(is_starred=True),
            "read": Filters(is_read=True),
            "list": Filters(list_id=1),
            "tag and host": Filters(tag="t", host="a.example"),
        }.items()
        for where, below in {"first": None, "next": BELOW}.items()
    },
    **{
        f"{order} first, {where}": lambda conn, b=below, o=order: list_order.rows_in_order(
            conn, Filters(list_id=1), after=b, limit=50, order=o
        )
        for order in (Sort.LIST, Sort.CAPTURED)
        for where, below in {"first": None, "next": BELOW}.items()
    },
    "saved on days": lambda conn: entries.added_within(conn, [(1, 2), (3, 4)], each=2),
    "what lies in a list": lambda conn: tags_and_lists.members_in_order(conn, "A"),
    "lists of entries": lambda conn: tags_and_lists.lists_of_entries(conn, [1, 2, 3]),
    "the last places of lists": lambda conn: tags_and_lists._last_places(conn, [1, 2]),
    "entry by hash": lambda conn: entries.by_hash(conn, "0" * 32),
    "entries by id": lambda conn: entries.by_ids(conn, [1, 2, 3]),
    "unrecorded": lambda conn: edit_history.unrecorded(conn, 50),
    **{
        f"search, {where}": lambda conn, m=more: search.matching_documents(
            conn, Split(Phrase(("a",)), EVERYTHING), filters_of("a"), count=50, **m
        )
        for where, more in {
            "newest": {},
            "oldest": {"oldest_first": True},
        }.items()
    },
    "search, narrowed": lambda conn: search.matching_documents(
        conn, Split(Phrase(("a",)), parse_query("is:read")), filters_of("a"), count=50
    ),
    "entries of documents": lambda conn: search.entries_of(conn, [1], EVERYTHING, filters_of("a")),
    "names of documents": lambda conn: ranking.title_matches(
        conn, [1, 2], [*positive_terms(parse_query("a b"))], ["a", "b"]
    ),
    **{
        f"passing {q}": lambda conn, q=q: search.results_among(conn, [1, 2, 3], filters_of(q))
        for q in (field.example for field in FIELDS if field.read)
    },
    **{
        f"walked by {q}": lambda conn, q=q: list_order.iteration_filters(
            conn, parse_query(q), Filters()
        )
        for q in ("site:a.example", "tag:t", "list:a")
    },
    "stale documents": lambda conn: search_documents.stale(conn, limit=50),
    "kept badly": lambda conn: snapshots.scored_below(conn, (3, 7), score=50, limit=50),
    "owed comparisons": lambda conn: snapshots.pending_comparisons(conn, limit=50),
    "articles of snapshots": lambda conn: snapshots.articles_of(conn, [(1, 2), (3, 4)]),
    "left for later": lambda conn: snapshots.pending_articles(conn, 5, limit=50),
    "read by others": lambda conn: snapshots.outdated_articles(conn, 5, than="9", limit=50),
    "read by others of": lambda conn: snapshots.outdated_articles_of(conn, [1, 2], than="9"),
    "other addresses of a page": lambda conn: entries.aliases_of(conn, URL),
    "nearest": lambda conn: captures.nearest(conn, URL, MOMENT),
    "captures of url": lambda conn: captures.of_url(conn, URL, limit=9),
    "original": lambda conn: captures.original_of(conn, DIGESTS[0]),
    "originals of urls": lambda conn: captures.originals_of_urls(
        conn, [(URL, each) for each in DIGESTS]
    ),
    "taken record ids": lambda conn: captures.used_record_ids(conn, ["urn:uuid:1", "urn:uuid:2"]),
    "stated digests": lambda conn: captures.by_stated_digest(conn, ["sha1:0", "sha1:1"]),
    "snapshots of entry": lambda conn: snapshots.of_entry(conn, 1, limit=50),
    "snapshots latest": lambda conn: snapshots.latest_of(conn, [1, 2, 3]),
    "snapshots around": lambda conn: snapshots.nearest_rows(conn, 1, MOMENT),
    "snapshot neighbours": lambda conn: snapshots.neighbours(conn, 1, MOMENT),
    "snapshots after": lambda conn: snapshots.after(conn, 5, limit=50),
    **{
        f"captures {name} {where}": lambda conn, w=wanted, a=after: captures.in_range(
            conn, w, after=a, limit=50
        )
        for name, wanted in {
            "of a url": KeyRange("example,a)/", "example,a)/\0"),
            "of a host": KeyRange("example,a)", "example,a)~"),
            "backwards": KeyRange("example,a)", "example,a)~", newest_first=True),
        }.items()
        for where, after in {"first": None, "next": ("example,a)/", 20200101000000, 3)}.items()
    },
    "page of a host": lambda conn: captures.place_at(conn, KeyRange("com,a)", "com,a)~"), 50),
    "captures of a host": lambda conn: captures.count_in_range(conn, KeyRange("com,a)", "com,a)~")),
    "place of a row": lambda conn: captures.place_of(conn, 3),
    "snapshots until": lambda conn: snapshots.after(conn, 5, last=50, limit=50),
    "page of an entry's": lambda conn: snapshots.of_entry(
        conn, 1, before=MOMENT, last=50, limit=50
    ),
    "last snapshot": snapshots.last_row,
    **{
        f"rows of {name} {order}": lambda conn, f=filters, o=order: list_order.rows_in_order(
            conn, f, after=BELOW, limit=50, order=o
        )
        for name, filters in {"a list": Filters(), "a tag": Filters(tag="t")}.items()
        for order in (Sort.NEWEST, Sort.OLDEST)
    },
    "untold": lambda conn: edit_history.not_in_snapshot_records(
        conn, [1, 2, 3], whole_segments=True
    ),
    "attempts": lambda conn: attempts.of_entries(conn, [1, 2, 3]),
    "jobs by id": lambda conn: jobs.by_ids(conn, [1, 2, 3]),
    "jobs changed": lambda conn: jobs.changes_after(conn, ChangeCursor(5, 1), limit=50),
    "newest change": jobs.newest_change,
    "job of entry": lambda conn: jobs.latest_of_entry(conn, 1),
    "jobs under way": lambda conn: jobs.fetching(conn, 20),
    "queue counts": jobs.queue_counts,
    "held by": lambda conn: queue.requeue_all(conn, "me", now=NOW),
    "due hosts": lambda conn: host_queue.due_hosts(conn, ["a.example"], now=NOW, count=5),
    "attempted": lambda conn: queue.attempted(conn, [1, 2, 3], later=NOW),
    "next due": queue.next_due,
    "open seeds": lambda conn: new_entries.open_seeds(conn, 5, limit=50),
    "unrecorded seeds": lambda conn: new_entries.unrecorded_seeds(conn, 5, limit=50),
    "tags of entries": lambda conn: tags_and_lists.tags_of_entries(conn, [1]),
    "tags most used": lambda conn: tags_and_lists.most_used(conn, 100),
    "facets of all": lambda conn: facets.facets_of_all(conn, most=1000),
    "import": lambda conn: imports.status(conn, 1),
    "imports": lambda conn: imports.recent(conn, 20),
    "bytes": segment_rows.total_bytes,
}


class Plans:
    """Recorder for the SQLite query plans of a connection's statements."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def note(self, conn, _cursor, statement, parameters, _context, executemany) -> None:
        if not statement.lstrip().upper().startswith(("SELECT", "WITH", "UPDATE", "DELETE")):
            return
        first = parameters[0] if executemany else parameters
        rows = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", first)
        self.steps += [row.detail for row in rows]

    def scans(self) -> list[str]:
        indexed = r"USING (COVERING )?INDEX|VIRTUAL TABLE INDEX"
        whole = [each for each in self.steps if re.match(r"SCAN (?!(?:\d+ )?CONSTANT)", each)]
        return [
            each
            for each in whole
            if not re.search(indexed, each) and not re.match(rf"SCAN ({SMALL})", each)
        ]

    def built_views(self) -> list[str]:
        """Return the steps in which SQLite stores a whole view before it reads the view."""
        names = "|".join(each.name for each in (capture_table, entry_table, snapshot_table))
        built = rf"(MATERIALIZE|CO-ROUTINE) ({VIEW.format('')})?({names})\b"
        return [each for each in self.steps if re.match(built, each)]

    def sorts(self) -> list[str]:
        """Return sorts of all rows; "right part" sorts only rows of the same second."""
        sorted_ = [each for each in self.steps if "TEMP B-TREE" in each]
        return [each for each in sorted_ if "RIGHT PART OF ORDER BY" not in each]


@pytest.fixture
async def watched(db):
    """Record the plan of every statement; the archive must have rows for realistic plans."""
    plans = Plans()
    for connections in (db._readers, db._writer):
        event.listen(connections.sync_engine, "before_cursor_execute", plans.note)
    return plans


async def test_reads_use_an_index(db, watched):
    wrong = {}
    for name, read in READS.items():
        watched.steps.clear()
        async with db.read() as conn:
            await read(conn)
        assert watched.steps, name
        if result := [*watched.scans(), *watched.sorts(), *watched.built_views()]:
            wrong[name] = result

    assert wrong == {}


async def test_rare_values_use_an_index_each_and_sort_only_their_rows(db, watched):
    for few in (
        [Filters(host="a.example"), Filters(host="b.example")],
        [Filters(tag="t"), Filters(tag="T")],
        [Filters(list_id=1), Filters(list_id=2)],
    ):
        watched.steps.clear()
        async with db.read() as conn:
            await list_order.rows_in_order(conn, Filters(any_of=tuple(few)), after=BELOW, limit=50)

        assert watched.scans() == []
        assert len(watched.sorts()) <= len(few)


async def test_leasing_uses_indexes(db, watched, seed):
    async with db.write() as conn:
        await new_entries.receive(conn, [seed(URL)], now=NOW, recapture=False)
        watched.steps.clear()
        hosts = await host_queue.due_hosts(conn, (), now=NOW, count=99)
        leases = await queue.lease(conn, owner="me", count=32, per_host=4, hosts=hosts, now=NOW)
        ids = [each.job_id for each in leases]
        await queue.requeue(conn, ids, owner="me", interrupted=True, now=NOW)
        await queue.paused_imports(conn)
        await queue.pause_import(conn, 1, is_paused=True, now=NOW, limit=50)

    assert watched.steps
    assert watched.scans() == []
    assert watched.sorts() == []


async def test_saving_uses_indexes(db, watched, seed):
    wished = [seed(f"http://a.example/{n}", tags=("t",)) for n in range(3)]
    async with db.write() as conn:
        for _ in range(2):
            await new_entries.receive(conn, wished, now=NOW, recapture=True)

    assert watched.steps
    assert watched.scans() == []


async def test_deferred_articles_are_found_by_their_index(db, watched):
    async with db.write() as conn:
        await conn.exec_driver_sql("ANALYZE")
        for counted in (
            "('snapshot', 'snapshot_of_capture', '1000000 1')",
            "('segment', 'sqlite_autoindex_segment_1', '2 1')",
        ):
            await conn.exec_driver_sql(f"INSERT INTO sqlite_stat1 VALUES {counted}")
        await conn.exec_driver_sql("ANALYZE sqlite_schema")
        await snapshots.pending_articles(conn, 5, limit=50)

    assert "SEARCH snapshot USING INDEX snapshot_unread (id>?)" in watched.steps
