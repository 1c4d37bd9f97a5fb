"""The tables of what was thrown away, and of what brings it back."""

from sqlalchemy import Column, Table

from archiver.index.table_registry import Number, Words, metadata

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
