"""Tables of the files that machines share, and of segments."""

from sqlalchemy import Column, LargeBinary, Table

from archiver.index.table_registry import Number, Words, metadata, partial_index

shared_file = Table(
    "shared_file",
    metadata,
    Column("name", Words, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("revision", Number, nullable=False),
    sqlite_with_rowid=False,
)

segment = Table(
    "segment",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Words, nullable=False, unique=True),
    Column("indexed_bytes", Number, nullable=False),
    Column("machine", Words),
    partial_index("segment_of_machine", "machine", where="machine IS NOT NULL"),
)
