"""Database tables.

Times are Unix seconds unless a name says otherwise; ``timestamp`` columns hold the 14 digits of a
memento's timestamp as an integer, which sorts correctly. ``job.changed_at_ms`` is the change stamp
of ``db.jobs``: the time, increased if necessary so that every later transaction has a greater one.
``entry.sort_at`` is the time of the last capture of an entry (``model.entry``). ``added_at`` of a
row in ``entry_tag`` or ``in_list`` is a copy of ``entry.added_at``.
"""

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    ForeignKey,
    FromClause,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)
from sqlalchemy.dialects.postgresql import ExcludeConstraint
from sqlalchemy.schema import SchemaItem

POSTGRESQL = "postgresql"
"""SQLAlchemy's name of the dialect."""
metadata = MetaData()

VIEW = "live_{}"
"""Name of the view of the rows that are not deleted."""

Number = BigInteger().with_variant(Integer(), "sqlite")
"""64-bit integer, for timestamps, milliseconds and offsets."""

Words = Text().with_variant(Text(collation="C"), POSTGRESQL)
"""Text sorted by code point, as SQLite sorts all text."""


def unique_text(name: str, column: str) -> tuple[SchemaItem, SchemaItem]:
    """Return constraints that make a text column of any length unique.

    A B-tree of PostgreSQL accepts rows of at most 2,704 bytes, so PostgreSQL gets an exclusion
    constraint with a hash index. With this constraint, an insert can't update the existing row:
    ``OnConflict.KEEP`` skips the new row, any other insert fails.
    """
    return (
        UniqueConstraint(column).ddl_if(dialect="sqlite"),
        ExcludeConstraint((column, "="), using="hash", name=name).ddl_if(dialect=POSTGRESQL),
    )


def partial_index(
    name: str, *columns: str, where: str, unique: bool = False, is_long: bool = False
) -> Index:
    """Return an index of the rows that meet a condition.

    Args:
        name: index name.
        columns: indexed columns.
        where: the condition, as SQL for both databases.
        unique: whether values must be unique among these rows.
        is_long: whether values of the only column may be too long for a B-tree of PostgreSQL, which
            then gets a hash index. A hash index finds equal values only.
    """
    return Index(
        name,
        *columns,
        unique=unique,
        sqlite_where=text(where),
        postgresql_where=text(where),
        postgresql_using="hash" if is_long else None,
    )


def not_deleted(rows: Table) -> FromClause:
    """Define a read-only view of the rows of a table that are not deleted; return it as a table.

    Queries read the view, so that none of them can forget the condition ``deleted_at IS NULL``. The
    returned table has the alias ``rows.name``. SQLite and PostgreSQL plan queries of the view like
    queries of the table.
    """
    name = VIEW.format(rows.name)
    # There is no SQL injection, because the names come from this module.
    view = f"CREATE VIEW {name} AS SELECT * FROM {rows.name} WHERE deleted_at IS NULL"  # noqa: S608
    # SQLAlchemy has no type annotations for DDL.
    event.listen(rows, "after_create", DDL(view))  # type: ignore[no-untyped-call]
    event.listen(rows, "before_drop", DDL(f"DROP VIEW {name}"))  # type: ignore[no-untyped-call]
    columns = [Column(each.name, each.type) for each in rows.columns]
    return Table(name, MetaData(), *columns).alias(rows.name)


SEARCH_COLUMNS = ("title", "tags", "note", "by", "url", "keys", "text")


FULL_TEXT = "full_text"
"""Name of the full-text table, whose rowids are values of ``document.id``."""


excluded_response = Table(
    "answer",
    metadata,
    Column("segment_id", ForeignKey("segment.id"), primary_key=True),
    Column("offset", Number, primary_key=True),
    Column("length", Number, nullable=False),
    Column("record_id", Words, nullable=False),
    Index("answer_record", "record_id"),
    sqlite_with_rowid=False,
)

capture_table = Table(
    "capture",
    metadata,
    Column("id", Number, primary_key=True),
    Column("surt", Words, nullable=False),
    Column("url", Words, nullable=False),
    Column("timestamp", Number, nullable=False),
    Column("status", Number, nullable=False),
    Column("media_type", Words, nullable=False),
    Column("payload_digest", LargeBinary, nullable=False),
    Column("payload_length", Number, nullable=False),
    Column("record_id", Words, nullable=False),
    Column("segment_id", ForeignKey("segment.id"), nullable=False),
    Column("offset", Number, nullable=False),
    Column("length", Number, nullable=False),
    Column("is_revisit", Number, nullable=False),
    Column("redirect_to", Words),
    Column("ip", Words, nullable=False, server_default=""),
    Column("is_chunked", Number, nullable=False, server_default=text("0")),
    Column("deleted_at", Number),
    UniqueConstraint("segment_id", "offset"),
    partial_index("capture_by_url", "surt", "timestamp", where="deleted_at IS NULL"),
    partial_index("capture_payload", "payload_digest", "is_chunked", where="is_revisit = 0"),
    partial_index(
        "capture_leads_to",
        "redirect_to",
        where="redirect_to IS NOT NULL",
        is_long=True,
    ),
    partial_index("capture_deleted", "deleted_at", where="deleted_at IS NOT NULL"),
)
"""All captures, including deleted ones whose records are not erased yet."""

capture = not_deleted(capture_table)

record_id_seen = Table("record_id_seen", metadata, Column("id", Number, primary_key=True))

stated_digest = Table(
    "stated_digest",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("payload_digest", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

gone_entry = Table(
    "gone_entry",
    metadata,
    Column("hash_url", Words, primary_key=True),
    Column("deletion", Number, primary_key=True),
    Column("generation", Number, nullable=False),
    sqlite_with_rowid=False,
)

gone_snapshot = Table(
    "gone_snapshot",
    metadata,
    Column("hash_url", Words, primary_key=True),
    Column("timestamp", Number, primary_key=True),
    Column("record_id", Words, primary_key=True),
    Column("deletion", Number, primary_key=True),
    sqlite_with_rowid=False,
)

gone_capture = Table(
    "gone_capture",
    metadata,
    Column("record_id", Words, primary_key=True),
    Column("deletion", Number, primary_key=True),
    sqlite_with_rowid=False,
)

restored = Table("restored", metadata, Column("deletion", Number, primary_key=True))

feed = Table(
    "feed",
    metadata,
    Column("id", Number, primary_key=True),
    Column("url", Words, nullable=False),
    Column("checked_at", Number, nullable=False),
    Column("due_at", Number, nullable=False),
    Column("failures", Number, nullable=False, server_default=text("0")),
    Column("problem", Words, nullable=False, server_default=""),
    Column("reason", Words, nullable=False, server_default=""),
    Column("is_gone", Number, nullable=False, server_default=text("0")),
    Column("etag", Words, nullable=False, server_default=""),
    Column("modified", Words, nullable=False, server_default=""),
    Column("brought", Number, nullable=False, server_default=text("0")),
    *unique_text("feed_url_key", "url"),
)

feed_item = Table(
    "feed_item",
    metadata,
    Column("feed_id", ForeignKey("feed.id"), primary_key=True),
    Column("hash_url", Words, primary_key=True),
    Column("seen_at", Number, nullable=False),
    sqlite_with_rowid=False,
)

imports = Table(
    "import",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Words, nullable=False),
    Column("format", Words, nullable=False, server_default=""),
    Column("path", Words),
    Column("started_at", Number, nullable=False),
    Column("reading", Number, nullable=False),
    Column("read", Number, nullable=False, server_default=text("0")),
    Column("added", Number, nullable=False, server_default=text("0")),
    Column("known", Number, nullable=False, server_default=text("0")),
    Column("merged", Number, nullable=False, server_default=text("0")),
    Column("rejected", Number, nullable=False, server_default=text("0")),
    Column("rejected_samples", Words, nullable=False, server_default="[]"),
    Column("error", Words, nullable=False, server_default=""),
    Column("saved", Number, nullable=False, server_default=text("0")),
    Column("failed", Number, nullable=False, server_default=text("0")),
    Column("passed_over", Number, nullable=False, server_default=text("0")),
    Column("owner", Words),
    Column("choices", Words, nullable=False, server_default=""),
    Column("without_capture", Number, nullable=False, server_default=text("0")),
    Column("undone", Words, nullable=False, server_default=""),
    Column("receipt_owed", Number, nullable=False, server_default=text("0")),
    Column("lists_left_out", Number, nullable=False, server_default=text("0")),
    Column("is_paused", Number, nullable=False, server_default=text("0")),
    partial_index("import_paused", "id", where="is_paused = 1"),
)

import_row = Table(
    "import_row",
    metadata,
    Column("import_id", ForeignKey("import.id"), primary_key=True),
    Column("row", Number, primary_key=True),
    Column("outcome", Words, nullable=False),
    Column("given", Words, nullable=False),
    Column("hash_url", Words),
    Column("reason", Words, nullable=False, server_default=""),
    partial_index("import_row_reason", "import_id", "reason", where="reason <> ''"),
    sqlite_with_rowid=False,
)

entry_list = Table(
    "entry_list",
    metadata,
    Column("id", Number, primary_key=True),
    Column("path", Words, nullable=False),
    Column("folded", Words, nullable=False),
    Column("position", Number, nullable=False),
    Column("query", Words, nullable=False, server_default=""),
    Column("colour", Words, nullable=False, server_default=""),
    Column("entry_count", Number, nullable=False, server_default=text("0")),
    Column("created_by_import", Number),
    *unique_text("entry_list_path_key", "path"),
    Index("entry_list_folded", "folded", postgresql_using="hash"),
)

in_list = Table(
    "in_list",
    metadata,
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("list_id", ForeignKey("entry_list.id"), primary_key=True),
    Column("place", Number, nullable=False),
    Column("added_at", Number, nullable=False),
    Index("in_list_order", "list_id", "place", "entry_id"),
    Index("in_list_newest", "list_id", "added_at", "entry_id"),
    sqlite_with_rowid=False,
)

segment = Table(
    "segment",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    Column("indexed_bytes", Number, nullable=False),
)

job = Table(
    "job",
    metadata,
    Column("id", Number, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("import_id", ForeignKey("import.id")),
    Column("host", Words, nullable=False),
    Column("priority", Number, nullable=False),
    Column("state", Words, nullable=False),
    Column("created_at", Number, nullable=False),
    Column("not_before_ms", Number, nullable=False),
    Column("changed_at_ms", Number, nullable=False),
    Column("attempts", Number, nullable=False, server_default=text("0")),
    Column("interrupted", Number, nullable=False, server_default=text("0")),
    Column("owner", Words),
    Column("failure", Words),
    Column("timestamp", Number),
    Column("render", Number, nullable=False, server_default=text("0")),
    Column("rescue", Number, nullable=False, server_default=text("0")),
    partial_index(
        "job_open_once",
        "entry_id",
        unique=True,
        where="state IN ('queued', 'fetching')",
    ),
    Index("job_of_entry", "entry_id", "id"),
    partial_index(
        "job_queue",
        "priority",
        "host",
        "not_before_ms",
        "id",
        where="state = 'queued'",
    ),
    partial_index("job_leased", "owner", where="state = 'fetching'"),
    Index("job_changed", "changed_at_ms"),
)

queue_host = Table(
    "queue_host",
    metadata,
    Column("priority", Number, primary_key=True),
    Column("host", Words, primary_key=True),
    Column("ready_at_ms", Number, nullable=False),
    Index("queue_host_ready", "priority", "ready_at_ms"),
    sqlite_with_rowid=False,
)

attempt = Table(
    "attempt",
    metadata,
    Column("id", Number, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("at", Number, nullable=False),
    Column("failure", Words, nullable=False),
    Index("attempt_of_entry", "entry_id", "at"),
)

need = Table(
    "need",
    metadata,
    Column("snapshot_id", ForeignKey("snapshot.id"), primary_key=True),
    Column("urls", LargeBinary, nullable=False),
)

own_article = Table(
    "own_article",
    metadata,
    Column("hash_url", Words, primary_key=True),
    Column("timestamp", Number, primary_key=True),
    Column("record_id", Words, nullable=False),
    sqlite_with_rowid=False,
)

snapshot_table = Table(
    "snapshot",
    metadata,
    Column("id", Number, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("timestamp", Number, nullable=False),
    Column("capture_id", ForeignKey("capture.id"), nullable=False),
    Column("final_url", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("byline", Words, nullable=False),
    Column("site", Words, nullable=False),
    Column("excerpt", Words, nullable=False),
    Column("language", Words, nullable=False),
    Column("published", Words, nullable=False),
    Column("requisite_count", Number, nullable=False),
    Column("missing_count", Number, nullable=False),
    Column("extractor", Words, nullable=False),
    Column("article_segment_id", ForeignKey("segment.id")),
    Column("article_offset", Number),
    Column("article_length", Number),
    Column("metadata_segment_id", ForeignKey("segment.id"), nullable=False),
    Column("metadata_offset", Number, nullable=False),
    Column("metadata_length", Number, nullable=False),
    Column("rendering", Words, nullable=False, server_default=""),
    Column("score", Number),
    Column("canonical", Words, nullable=False, server_default=""),
    Column("limits", Words, nullable=False, server_default=""),
    Column("deleted_at", Number),
    partial_index(
        "snapshot_of_entry", "entry_id", "timestamp", where="deleted_at IS NULL", unique=True
    ),
    partial_index("snapshot_deleted", "deleted_at", where="deleted_at IS NOT NULL"),
    partial_index("snapshot_canonical", "canonical", where="canonical <> ''", is_long=True),
    partial_index("snapshot_unscored", "id", where="score IS NULL"),
    partial_index("snapshot_with_gaps", "id", where="missing_count > 0"),
    partial_index("snapshot_unread", "id", where="extractor = ''"),
    Index("snapshot_of_capture", "capture_id"),
    Index("snapshot_article_in", "article_segment_id"),
    Index("snapshot_metadata_in", "metadata_segment_id"),
)
"""All snapshots, including deleted ones whose records are not erased yet."""

snapshot = not_deleted(snapshot_table)

rendition = Table(
    "likeness",
    metadata,
    Column("snapshot_id", ForeignKey("snapshot.id"), primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("media_type", Words, nullable=False),
    Column("segment_id", ForeignKey("segment.id"), nullable=False),
    Column("offset", Number, nullable=False),
    Column("length", Number, nullable=False),
    Column("digest", Words, nullable=False, server_default=""),
    partial_index("likeness_digest", "digest", where="digest <> ''"),
    Index("likeness_in", "segment_id"),
    sqlite_with_rowid=False,
)


FIRST = "0106"
"""Initial revision in migrations/. Older indexes are rebuilt from the WARC files."""
HEAD = "0106"
"""Current revision in migrations/."""


def _live_index(name: str, *columns: str, where: str = "", unique: bool = False) -> Index:
    """Return an index of entries that are not deleted.

    Unless it is unique, the index contains ``deleted_at``, so that queries of its columns need not
    read the table.
    """
    condition = " AND ".join(filter(None, (where, "deleted_at IS NULL")))
    covered = () if unique else ("deleted_at",)
    return partial_index(name, *columns, *covered, where=condition, unique=unique)


entry_table = Table(
    "entry",
    metadata,
    Column("id", Number, primary_key=True),
    Column("hash_url", Words, nullable=False),
    Column("url", Words, nullable=False),
    Column("url_given", Words, nullable=False),
    Column("host", Words, nullable=False),
    Column("given_title", Words, nullable=False, server_default=""),
    Column("page_title", Words, nullable=False, server_default=""),
    Column("note", Words, nullable=False, server_default=""),
    Column("source", Words, nullable=False, server_default=""),
    Column("added_at", Number, nullable=False),
    Column("state", Words, nullable=False),
    Column("failure", Words),
    Column("latest", Number),
    Column("snapshot_count", Number, nullable=False, server_default=text("0")),
    Column("status", Number),
    Column("media_type", Words, nullable=False, server_default=""),
    Column("sort_at", Number, nullable=False),
    Column("document_id", Number),
    Column("unrecorded", Number, nullable=False, server_default=text("0")),
    Column("revision", Number, nullable=False, server_default=text("0")),
    Column("is_read", Number, nullable=False, server_default=text("0")),
    Column("is_starred", Number, nullable=False, server_default=text("0")),
    Column("document_stale", Number, nullable=False, server_default=text("0")),
    Column("rendering", Words, nullable=False, server_default=""),
    Column("source_record", Words, nullable=False, server_default=""),
    Column("generation", Number, nullable=False, server_default=text("0")),
    Column("highlights", Words, nullable=False, server_default=""),
    Column("changed", Number, nullable=False, server_default=text("0")),
    Column("comparison_owed", Number, nullable=False, server_default=text("0")),
    Column("score", Number),
    Column("brought_by", Number),
    Column("deleted_at", Number),
    Column("deleted_labels", Words),
    _live_index("entry_by_hash", "hash_url", unique=True),
    _live_index("entry_captured", "sort_at", "id"),
    _live_index("entry_added", "added_at", "id"),
    _live_index("entry_by_host", "host", "added_at", "id"),
    _live_index("entry_by_state", "state", "added_at", "id"),
    _live_index("entry_by_status", "status", "added_at", "id", where="status IS NOT NULL"),
    _live_index("entry_changed", "added_at", "id", where="changed > 0"),
    _live_index("entry_comparison_owed", "id", where="comparison_owed = 1"),
    _live_index("entry_highlighted", "added_at", "id", where="highlights <> ''"),
    _live_index("entry_read", "added_at", "id", where="is_read = 1"),
    _live_index("entry_starred", "added_at", "id", where="is_starred = 1"),
    _live_index("entry_unrecorded", "id", where="unrecorded = 1"),
    _live_index("entry_document_stale", "id", where="document_stale = 1"),
    _live_index("entry_imperfect", "score", "id", where="score < 100"),
    _live_index("entry_unrendered", "id", where="rendering = 'needed'"),
    _live_index("entry_brought_by", "brought_by", "id", where="brought_by IS NOT NULL"),
    partial_index("entry_deleted", "deleted_at", where="deleted_at IS NOT NULL"),
)
"""All entries, including deleted ones.

``deleted_at`` is the number of the deletion, a time in milliseconds, which is used for undo.
``deleted_labels`` contains the tags and lists of a deleted entry as JSON.
"""

entry = not_deleted(entry_table)

host = Table(
    "host",
    metadata,
    Column("name", Words, primary_key=True),
    Column("reversed", Words, nullable=False),
    Index("host_reversed", "reversed"),
    sqlite_with_rowid=False,
)

tag = Table(
    "tag",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Words, nullable=False),
    Column("key", Words, nullable=False, unique=True, info={"filler": "name"}),
    Column("entry_count", Number, nullable=False, server_default=text("0")),
    Column("folded", Words, nullable=False, server_default=""),
    Index("tag_by_count", "entry_count"),
    Index("tag_folded", "folded"),
)

entry_tag = Table(
    "entry_tag",
    metadata,
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("tag_id", ForeignKey("tag.id"), primary_key=True),
    Column("added_at", Number, nullable=False),
    Index("entry_tag_newest", "tag_id", "added_at", "entry_id"),
    sqlite_with_rowid=False,
)

pending_record = Table(
    "owed_record",
    metadata,
    Column("id", Number, primary_key=True),
    Column("document", Words, nullable=False),
)

document = Table(
    "document",
    metadata,
    Column("id", Number, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("snapshot_id", ForeignKey("snapshot.id")),
    Column("word_count", Number, nullable=False, server_default=text("0")),
    Column("language", Words, nullable=False, server_default=""),
    Column("published", Number),
    Column("kind", Words, nullable=False, server_default=""),
    Index("document_of_entry", "entry_id"),
    partial_index("document_of_snapshot", "snapshot_id", where="snapshot_id IS NOT NULL"),
)

_OPTIONS = "content='', tokenize='ascii', prefix='1 2 3'"
_FULL_TEXT_DDL = {
    "sqlite": (
        f"CREATE VIRTUAL TABLE {FULL_TEXT} USING fts5({', '.join(SEARCH_COLUMNS)}, {_OPTIONS})",
        f"CREATE VIRTUAL TABLE {FULL_TEXT}_words USING fts5vocab({FULL_TEXT}, row)",
    ),
    POSTGRESQL: (
        f"CREATE TABLE {FULL_TEXT} (rowid BIGINT PRIMARY KEY, words TSVECTOR)",
        f"CREATE INDEX {FULL_TEXT}_words ON {FULL_TEXT} USING gin (words)",
    ),
}
"""Statements that create the full-text table, by dialect. SQLite also has a table of all words."""


def _create_full_text() -> None:
    # SQLAlchemy has no type annotations for DDL.
    for dialect, statements in _FULL_TEXT_DDL.items():
        for each in statements:
            ddl = DDL(each)  # type: ignore[no-untyped-call]
            event.listen(document, "after_create", ddl.execute_if(dialect=dialect))
    dropped = DDL(f"DROP TABLE {FULL_TEXT}")  # type: ignore[no-untyped-call]
    event.listen(document, "before_drop", dropped)


_create_full_text()

edit = Table(
    "edit",
    metadata,
    Column("id", Number, primary_key=True),
    Column("at", Number, nullable=False),
)

edited = Table(
    "edited",
    metadata,
    Column("edit_id", ForeignKey("edit.id"), primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("revision", Number, nullable=False),
    Column("before", Words, nullable=False),
    Index("edited_entry", "entry_id"),
    sqlite_with_rowid=False,
)

counter = Table(
    "counter",
    metadata,
    Column("name", Words, primary_key=True),
    Column("value", Number, nullable=False),
    sqlite_with_rowid=False,
)
