"""The tables of snapshots, and of what belongs to one, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Table

from archiver.index.table_registry import Number, Words, metadata, not_deleted, partial_index

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
    Column("look", Words, nullable=False, server_default=""),
    Column("score", Number),
    Column("canonical", Words, nullable=False, server_default=""),
    Column("limits", Words, nullable=False, server_default=""),
    Column("deleted_at", Number),
    partial_index(
        "snapshot_of_entry", "entry_id", "timestamp", where="deleted_at IS NULL", unique=True
    ),
    partial_index("snapshot_deleted", "deleted_at", where="deleted_at IS NOT NULL"),
    partial_index("snapshot_canonical", "canonical", where="canonical <> ''", is_long=True),
    partial_index("snapshot_look", "id", where="look <> ''"),
    partial_index("snapshot_unscored", "id", where="score IS NULL"),
    partial_index("snapshot_with_gaps", "id", where="missing_count > 0"),
    partial_index("snapshot_unread", "id", where="extractor = ''"),
    Index("snapshot_of_capture", "capture_id"),
    Index("snapshot_article_in", "article_segment_id"),
    Index("snapshot_metadata_in", "metadata_segment_id"),
)
"""All snapshots, with those that are deleted and whose records were not erased yet."""

snapshot = not_deleted(snapshot_table)

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
