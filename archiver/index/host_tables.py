"""The tables by which machines that share an index spare hosts, as ``schema`` has all others."""

from sqlalchemy import Column, Index, Table

from archiver.index.table_registry import Number, Words, metadata, partial_index

host_hold = Table(
    "host_hold",
    metadata,
    Column("host", Words, primary_key=True),
    Column("owner", Words),
    Column("free_at_ms", Number, nullable=False),
    Column("delay_ms", Number, nullable=False),
    Index("host_hold_owner", "owner"),
    partial_index("host_hold_free", "free_at_ms", where="owner IS NULL"),
    sqlite_with_rowid=False,
)

host_turn = Table(
    "host_turn",
    metadata,
    Column("host", Words, primary_key=True),
    Column("owner", Words),
    Column("free_at_ms", Number, nullable=False),
    Index("host_turn_owner", "owner"),
    sqlite_with_rowid=False,
)

host_rest = Table(
    "host_rest",
    metadata,
    Column("host", Words, primary_key=True),
    Column("until_ms", Number, nullable=False),
    Index("host_rest_until", "until_ms"),
    sqlite_with_rowid=False,
)
