"""The tables, as SQLAlchemy Core knows them; migrations/ makes them so on disk.

Times are Unix seconds unless a name says otherwise; ``timestamp`` columns hold the 14 digits of a
memento's timestamp as an integer, which sorts as it reads. ``job.changed_at_ms`` is no mere time:
it rises with every transaction (``changes``). ``entry.sort_at`` is when an entry was captured last
(``model.entry``); ``added_at`` of a label is its entry's.
"""

from sqlalchemy import Column, ForeignKey, Index, Table, text

from archiver.index.answer_table import answer
from archiver.index.capture_tables import capture, capture_table, record_id_seen, stated_digest
from archiver.index.deletion_tables import gone_capture, gone_entry, gone_snapshot, restored
from archiver.index.feed_tables import feed, feed_item
from archiver.index.import_tables import import_row, imports
from archiver.index.list_tables import entry_list, in_list
from archiver.index.machine_tables import segment, shared_file
from archiver.index.queue_tables import attempt, job, queue_host
from archiver.index.snapshot_tables import (
    likeness,
    need,
    own_article,
    snapshot,
    snapshot_table,
)
from archiver.index.table_registry import Number, Words, metadata, not_deleted, partial_index

__all__ = [
    "answer",
    "attempt",
    "capture",
    "capture_table",
    "entry_list",
    "feed",
    "feed_item",
    "gone_capture",
    "gone_entry",
    "gone_snapshot",
    "import_row",
    "imports",
    "in_list",
    "job",
    "likeness",
    "metadata",
    "need",
    "own_article",
    "queue_host",
    "record_id_seen",
    "restored",
    "segment",
    "shared_file",
    "snapshot",
    "snapshot_table",
    "stated_digest",
]
"""What is defined elsewhere and belongs here; the rest needs no list."""

FIRST = "0100"
"""The initial revision in migrations/. Indexes of earlier ones are rebuilt from the WARC files."""
HEAD = "0100"
"""The revision in migrations/ that these tables are."""


def _live_index(name: str, *columns: str, where: str = "", unique: bool = False) -> Index:
    """An index of entries that are not deleted; it covers queries that select its columns alone."""
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
"""All entries, with those that are deleted: ``deleted_at`` is the number of the deletion, by which
it is undone, a time in milliseconds; ``deleted_labels`` their tags and lists, as JSON."""

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
    Column("added_at", Number, nullable=False),
    Index("entry_tag_newest", "tag_id", "added_at", "entry_id"),
    sqlite_with_rowid=False,
)

owed_record = Table(
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

counter = Table(
    "counter",
    metadata,
    Column("name", Words, primary_key=True),
    Column("value", Number, nullable=False),
    sqlite_with_rowid=False,
)
