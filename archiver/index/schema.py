"""The tables, as SQLAlchemy Core knows them; migrations/ makes them so on disk.

Times are Unix seconds unless a name says otherwise; ``timestamp`` columns hold the 14 digits of a
memento's timestamp as an integer, which sorts as it reads. ``job.changed_at_ms`` is no mere time:
it rises with every transaction (``changes``).
"""

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy.schema import SchemaItem

from archiver.index.answer_table import answer
from archiver.index.deletion_tables import (
    deletion,
    gone_capture,
    gone_entry,
    gone_snapshot,
    restored,
    trash,
)
from archiver.index.dialect.keys import Key
from archiver.index.feed_tables import feed, feed_item
from archiver.index.host_tables import host_hold, host_rest, host_turn
from archiver.index.import_tables import import_row, import_share, imports
from archiver.index.list_tables import brought_list, entry_list, in_list
from archiver.index.machine_tables import segment, shared_file, writer
from archiver.index.table_registry import Number, Words, metadata, partial_index

__all__ = [
    "answer",
    "brought_list",
    "deletion",
    "entry_list",
    "feed",
    "feed_item",
    "gone_capture",
    "gone_entry",
    "gone_snapshot",
    "host_hold",
    "host_rest",
    "host_turn",
    "import_row",
    "import_share",
    "imports",
    "in_list",
    "metadata",
    "restored",
    "segment",
    "shared_file",
    "trash",
    "writer",
]
"""What is defined elsewhere and belongs here; the rest needs no list."""

HEAD = "0035"
"""The revision in migrations/ that these tables are."""

entry = Table(
    "entry",
    metadata,
    Column("id", Number, primary_key=True),
    Column("hash_url", Words, nullable=False, unique=True),
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
    Index("entry_newest", "sort_at", "id"),
    Index("entry_added", "added_at", "id"),
    Index("entry_by_host", "host", "sort_at", "id"),
    Index("entry_by_state", "state", "sort_at", "id"),
    partial_index("entry_by_status", "status", "sort_at", "id", where="status IS NOT NULL"),
    partial_index("entry_changed", "sort_at", "id", where="changed > 0"),
    partial_index("entry_comparison_owed", "id", where="comparison_owed = 1"),
    partial_index("entry_highlighted", "sort_at", "id", where="highlights <> ''"),
    partial_index("entry_unrecorded", "id", where="unrecorded = 1"),
    partial_index("entry_document_stale", "id", where="document_stale = 1"),
    partial_index("entry_imperfect", "score", "id", where="score < 100"),
    partial_index("entry_unrendered", "id", where="rendering = 'needed'"),
    partial_index("entry_brought_by", "brought_by", "id", where="brought_by IS NOT NULL"),
)

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
    Column("name", Words, nullable=False, unique=True),
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
    Column("sort_at", Number, nullable=False),
    Index("entry_tag_newest", "tag_id", "sort_at", "entry_id"),
    sqlite_with_rowid=False,
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


def _capture_columns() -> tuple[SchemaItem, ...]:
    """What is known of the record of a response."""
    return (
        Column("id", Number, primary_key=True),
        Column("surt", Key, nullable=False),
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
        UniqueConstraint("segment_id", "offset"),
    )


capture = Table(
    "capture",
    metadata,
    *_capture_columns(),
    Index("capture_by_url", "surt", "timestamp"),
    partial_index("capture_payload", "payload_digest", "is_chunked", where="is_revisit = 0"),
    partial_index(
        "capture_leads_to",
        "redirect_to",
        where="redirect_to IS NOT NULL",
        is_long=True,
    ),
)

withheld = Table(
    "withheld",
    metadata,
    *_capture_columns(),
    partial_index("withheld_payload", "payload_digest", where="is_revisit = 0"),
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

owed_record = Table(
    "owed_record",
    metadata,
    Column("id", Number, primary_key=True),
    Column("document", Words, nullable=False),
)

snapshot = Table(
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
    Column("look", Words, nullable=False, server_default=""),
    Column("score", Number),
    Column("canonical", Words, nullable=False, server_default=""),
    Column("limits", Words, nullable=False, server_default=""),
    UniqueConstraint("entry_id", "timestamp"),
    partial_index("snapshot_canonical", "canonical", where="canonical <> ''", is_long=True),
    partial_index("snapshot_look", "id", where="look <> ''"),
    partial_index("snapshot_unscored", "id", where="score IS NULL"),
    partial_index("snapshot_with_gaps", "id", where="missing_count > 0"),
    partial_index("snapshot_unread", "id", where="extractor = ''"),
    Index("snapshot_of_capture", "capture_id"),
    Index("snapshot_article_in", "article_segment_id"),
    Index("snapshot_metadata_in", "metadata_segment_id"),
)

likeness = Table(
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

search_part = Table("search_part", metadata, Column("number", Number, primary_key=True))

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

record_id_seen = Table("record_id_seen", metadata, Column("id", Number, primary_key=True))

stated_digest = Table(
    "stated_digest",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("payload_digest", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

counter = Table(
    "counter",
    metadata,
    Column("name", Words, primary_key=True),
    Column("value", Number, nullable=False),
    sqlite_with_rowid=False,
)
