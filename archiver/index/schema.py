"""The tables, as SQLAlchemy Core knows them; migrations/ makes them so on disk.

Times are Unix seconds unless a name says otherwise; ``timestamp`` columns hold the 14 digits of a
memento's timestamp as an integer, which sorts as it reads. ``job.changed_at_ms`` is no mere time:
it rises with every transaction (``changes``).
"""

from sqlalchemy import (
    BLOB,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.schema import SchemaItem

from archiver.index.answer_table import answer
from archiver.index.feed_tables import feed, feed_item
from archiver.index.import_tables import import_row, import_share, imports
from archiver.index.list_tables import entry_list, in_list
from archiver.index.table_registry import metadata

__all__ = [
    "answer",
    "entry_list",
    "feed",
    "feed_item",
    "import_row",
    "import_share",
    "imports",
    "in_list",
    "metadata",
]
"""What is defined elsewhere and belongs here; the rest needs no list."""

HEAD = "0024"
"""The revision in migrations/ that these tables are."""

entry = Table(
    "entry",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("hash_url", Text, nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("url_given", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("given_title", Text, nullable=False, server_default=""),
    Column("page_title", Text, nullable=False, server_default=""),
    Column("note", Text, nullable=False, server_default=""),
    Column("source", Text, nullable=False, server_default=""),
    Column("added_at", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("failure", Text),
    Column("latest", Integer),
    Column("snapshot_count", Integer, nullable=False, server_default=text("0")),
    Column("status", Integer),
    Column("media_type", Text, nullable=False, server_default=""),
    Column("sort_at", Integer, nullable=False),
    Column("document_id", Integer),
    Column("unrecorded", Integer, nullable=False, server_default=text("0")),
    Column("revision", Integer, nullable=False, server_default=text("0")),
    Column("is_read", Integer, nullable=False, server_default=text("0")),
    Column("is_starred", Integer, nullable=False, server_default=text("0")),
    Column("document_stale", Integer, nullable=False, server_default=text("0")),
    Column("rendering", Text, nullable=False, server_default=""),
    Column("source_record", Text, nullable=False, server_default=""),
    Column("generation", Integer, nullable=False, server_default=text("0")),
    Column("highlights", Text, nullable=False, server_default=""),
    Column("changed", Integer, nullable=False, server_default=text("0")),
    Column("comparison_owed", Integer, nullable=False, server_default=text("0")),
    Column("score", Integer),
    Column("brought_by", Integer),
    Index("entry_newest", "sort_at", "id"),
    Index("entry_added", "added_at", "id"),
    Index("entry_by_host", "host", "sort_at", "id"),
    Index("entry_by_state", "state", "sort_at", "id"),
    Index("entry_by_status", "status", "sort_at", "id", sqlite_where=text("status IS NOT NULL")),
    Index("entry_changed", "sort_at", "id", sqlite_where=text("changed > 0")),
    Index("entry_comparison_owed", "id", sqlite_where=text("comparison_owed = 1")),
    Index("entry_highlighted", "sort_at", "id", sqlite_where=text("highlights <> ''")),
    Index("entry_unrecorded", "id", sqlite_where=text("unrecorded = 1")),
    Index("entry_document_stale", "id", sqlite_where=text("document_stale = 1")),
    Index("entry_imperfect", "score", "id", sqlite_where=text("score < 100")),
    Index("entry_unrendered", "id", sqlite_where=text("rendering = 'needed'")),
    Index("entry_brought_by", "brought_by", "id", sqlite_where=text("brought_by IS NOT NULL")),
)

host = Table(
    "host",
    metadata,
    Column("name", Text, primary_key=True),
    Column("reversed", Text, nullable=False),
    Index("host_reversed", "reversed"),
    sqlite_with_rowid=False,
)

tag = Table(
    "tag",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("entry_count", Integer, nullable=False, server_default=text("0")),
    Column("folded", Text, nullable=False, server_default=""),
    Index("tag_by_count", "entry_count"),
    Index("tag_folded", "folded"),
)

entry_tag = Table(
    "entry_tag",
    metadata,
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("tag_id", ForeignKey("tag.id"), primary_key=True),
    Column("sort_at", Integer, nullable=False),
    Index("entry_tag_newest", "tag_id", "sort_at", "entry_id"),
    sqlite_with_rowid=False,
)

job = Table(
    "job",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("import_id", ForeignKey("import.id")),
    Column("host", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Integer, nullable=False),
    Column("not_before_ms", Integer, nullable=False),
    Column("changed_at_ms", Integer, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("interrupted", Integer, nullable=False, server_default=text("0")),
    Column("owner", Text),
    Column("failure", Text),
    Column("timestamp", Integer),
    Column("render", Integer, nullable=False, server_default=text("0")),
    Column("rescue", Integer, nullable=False, server_default=text("0")),
    Index(
        "job_open_once",
        "entry_id",
        unique=True,
        sqlite_where=text("state IN ('queued', 'fetching')"),
    ),
    Index("job_of_entry", "entry_id", "id"),
    Index(
        "job_queue",
        "priority",
        "host",
        "not_before_ms",
        "id",
        sqlite_where=text("state = 'queued'"),
    ),
    Index("job_leased", "owner", sqlite_where=text("state = 'fetching'")),
    Index("job_changed", "changed_at_ms"),
)

queue_host = Table(
    "queue_host",
    metadata,
    Column("priority", Integer, primary_key=True),
    Column("host", Text, primary_key=True),
    Column("ready_at_ms", Integer, nullable=False),
    Index("queue_host_ready", "priority", "ready_at_ms"),
    sqlite_with_rowid=False,
)

attempt = Table(
    "attempt",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("at", Integer, nullable=False),
    Column("failure", Text, nullable=False),
    Index("attempt_of_entry", "entry_id", "at"),
)

segment = Table(
    "segment",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("indexed_bytes", Integer, nullable=False),
)


def _capture_columns() -> tuple[SchemaItem, ...]:
    """What is known of the record of a response."""
    return (
        Column("id", Integer, primary_key=True),
        Column("surt", Text, nullable=False),
        Column("url", Text, nullable=False),
        Column("timestamp", Integer, nullable=False),
        Column("status", Integer, nullable=False),
        Column("media_type", Text, nullable=False),
        Column("payload_digest", BLOB, nullable=False),
        Column("payload_length", Integer, nullable=False),
        Column("record_id", Text, nullable=False),
        Column("segment_id", ForeignKey("segment.id"), nullable=False),
        Column("offset", Integer, nullable=False),
        Column("length", Integer, nullable=False),
        Column("is_revisit", Integer, nullable=False),
        Column("redirect_to", Text),
        Column("ip", Text, nullable=False, server_default=""),
        Column("is_chunked", Integer, nullable=False, server_default=text("0")),
        UniqueConstraint("segment_id", "offset"),
    )


capture = Table(
    "capture",
    metadata,
    *_capture_columns(),
    Index("capture_by_url", "surt", "timestamp"),
    Index("capture_payload", "payload_digest", "is_chunked", sqlite_where=text("is_revisit = 0")),
    Index(
        "capture_leads_to",
        "redirect_to",
        sqlite_where=text("redirect_to IS NOT NULL"),
    ),
)

withheld = Table(
    "withheld",
    metadata,
    *_capture_columns(),
    Index("withheld_payload", "payload_digest", sqlite_where=text("is_revisit = 0")),
)

need = Table(
    "need",
    metadata,
    Column("snapshot_id", ForeignKey("snapshot.id"), primary_key=True),
    Column("urls", BLOB, nullable=False),
)

gone_entry = Table(
    "gone_entry",
    metadata,
    Column("hash_url", Text, primary_key=True),
    Column("deletion", Integer, primary_key=True),
    Column("generation", Integer, nullable=False),
    sqlite_with_rowid=False,
)

gone_snapshot = Table(
    "gone_snapshot",
    metadata,
    Column("hash_url", Text, primary_key=True),
    Column("timestamp", Integer, primary_key=True),
    Column("record_id", Text, primary_key=True),
    Column("deletion", Integer, primary_key=True),
    sqlite_with_rowid=False,
)

gone_capture = Table(
    "gone_capture",
    metadata,
    Column("record_id", Text, primary_key=True),
    Column("deletion", Integer, primary_key=True),
    sqlite_with_rowid=False,
)

own_article = Table(
    "own_article",
    metadata,
    Column("hash_url", Text, primary_key=True),
    Column("timestamp", Integer, primary_key=True),
    Column("record_id", Text, nullable=False),
    sqlite_with_rowid=False,
)

restored = Table("restored", metadata, Column("deletion", Integer, primary_key=True))

owed_record = Table(
    "owed_record",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("document", Text, nullable=False),
)

deletion = Table(
    "deletion",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entries", Integer, nullable=False, server_default=text("0")),
    Column("snapshots", Integer, nullable=False, server_default=text("0")),
)

trash = Table(
    "trash",
    metadata,
    Column("deletion_id", ForeignKey("deletion.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)

snapshot = Table(
    "snapshot",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("timestamp", Integer, nullable=False),
    Column("capture_id", ForeignKey("capture.id"), nullable=False),
    Column("final_url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("byline", Text, nullable=False),
    Column("site", Text, nullable=False),
    Column("excerpt", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("published", Text, nullable=False),
    Column("requisite_count", Integer, nullable=False),
    Column("missing_count", Integer, nullable=False),
    Column("extractor", Text, nullable=False),
    Column("article_segment_id", ForeignKey("segment.id")),
    Column("article_offset", Integer),
    Column("article_length", Integer),
    Column("metadata_segment_id", ForeignKey("segment.id"), nullable=False),
    Column("metadata_offset", Integer, nullable=False),
    Column("metadata_length", Integer, nullable=False),
    Column("rendering", Text, nullable=False, server_default=""),
    Column("look", Text, nullable=False, server_default=""),
    Column("score", Integer),
    UniqueConstraint("entry_id", "timestamp"),
    Index("snapshot_look", "id", sqlite_where=text("look <> ''")),
    Index("snapshot_unscored", "id", sqlite_where=text("score IS NULL")),
    Index("snapshot_with_gaps", "id", sqlite_where=text("missing_count > 0")),
    Index("snapshot_unread", "id", sqlite_where=text("extractor = ''")),
    Index("snapshot_of_capture", "capture_id"),
)

likeness = Table(
    "likeness",
    metadata,
    Column("snapshot_id", ForeignKey("snapshot.id"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("media_type", Text, nullable=False),
    Column("segment_id", ForeignKey("segment.id"), nullable=False),
    Column("offset", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("digest", Text, nullable=False, server_default=""),
    Index("likeness_digest", "digest", sqlite_where=text("digest <> ''")),
    sqlite_with_rowid=False,
)

document = Table(
    "document",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("snapshot_id", ForeignKey("snapshot.id")),
    Column("word_count", Integer, nullable=False, server_default=text("0")),
    Column("language", Text, nullable=False, server_default=""),
    Column("published", Integer),
    Column("kind", Text, nullable=False, server_default=""),
    Index("document_of_entry", "entry_id"),
    Index("document_of_snapshot", "snapshot_id", sqlite_where=text("snapshot_id IS NOT NULL")),
)

search_part = Table("search_part", metadata, Column("number", Integer, primary_key=True))

edit = Table(
    "edit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Integer, nullable=False),
)

edited = Table(
    "edited",
    metadata,
    Column("edit_id", ForeignKey("edit.id"), primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("before", Text, nullable=False),
    Index("edited_entry", "entry_id"),
    sqlite_with_rowid=False,
)

record_id_seen = Table("record_id_seen", metadata, Column("id", Integer, primary_key=True))

stated_digest = Table(
    "stated_digest",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("payload_digest", BLOB, nullable=False),
    sqlite_with_rowid=False,
)

counter = Table(
    "counter",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Integer, nullable=False),
    sqlite_with_rowid=False,
)
