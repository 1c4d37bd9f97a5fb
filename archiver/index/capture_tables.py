"""The tables of captures, and of the ids and digests of others, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Table, UniqueConstraint, text
from sqlalchemy.schema import SchemaItem

from archiver.index.dialect.keys import Key
from archiver.index.table_registry import Number, Words, metadata, partial_index


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

record_id_seen = Table("record_id_seen", metadata, Column("id", Number, primary_key=True))

stated_digest = Table(
    "stated_digest",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("payload_digest", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
