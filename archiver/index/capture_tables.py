"""The tables of captures, and of the ids and digests of others, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, LargeBinary, Table, UniqueConstraint, text

from archiver.index.dialect.keys import Key
from archiver.index.table_registry import Number, Words, metadata, not_deleted, partial_index

capture_table = Table(
    "capture",
    metadata,
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
"""All captures, with those that are deleted and whose records were not erased yet."""

capture = not_deleted(capture_table)

record_id_seen = Table("record_id_seen", metadata, Column("id", Number, primary_key=True))

stated_digest = Table(
    "stated_digest",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("payload_digest", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
