"""The table of responses that are not what their URLs show."""

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text

from archiver.index.table_registry import metadata

answer = Table(
    "answer",
    metadata,
    Column("segment_id", ForeignKey("segment.id"), primary_key=True),
    Column("offset", Integer, primary_key=True),
    Column("length", Integer, nullable=False),
    Column("record_id", Text, nullable=False),
    Index("answer_record", "record_id"),
    sqlite_with_rowid=False,
)
