"""The table of responses that are not what their URLs show."""

from sqlalchemy import Column, ForeignKey, Index, Table

from archiver.index.table_registry import Number, Words, metadata

answer = Table(
    "answer",
    metadata,
    Column("segment_id", ForeignKey("segment.id"), primary_key=True),
    Column("offset", Number, primary_key=True),
    Column("length", Number, nullable=False),
    Column("record_id", Words, nullable=False),
    Index("answer_record", "record_id"),
    sqlite_with_rowid=False,
)
