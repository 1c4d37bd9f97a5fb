"""The tables of lists, and of what lies in them."""

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, text

from archiver.index.table_registry import metadata

entry_list = Table(
    "entry_list",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("path", Text, nullable=False, unique=True),
    Column("folded", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("query", Text, nullable=False, server_default=""),
    Column("entry_count", Integer, nullable=False, server_default=text("0")),
    Index("entry_list_folded", "folded"),
)

in_list = Table(
    "in_list",
    metadata,
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("list_id", ForeignKey("entry_list.id"), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("sort_at", Integer, nullable=False),
    Index("in_list_order", "list_id", "place", "entry_id"),
    Index("in_list_newest", "list_id", "sort_at", "entry_id"),
    sqlite_with_rowid=False,
)
