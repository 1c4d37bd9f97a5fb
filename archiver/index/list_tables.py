"""The tables of lists, and of what lies in them."""

from sqlalchemy import Column, ForeignKey, Index, Table, text

from archiver.index.table_registry import (
    Number,
    Words,
    long_index,
    metadata,
    unique_text,
)

entry_list = Table(
    "entry_list",
    metadata,
    Column("id", Number, primary_key=True),
    Column("path", Words, nullable=False),
    Column("folded", Words, nullable=False),
    Column("position", Number, nullable=False),
    Column("query", Words, nullable=False, server_default=""),
    Column("entry_count", Number, nullable=False, server_default=text("0")),
    Column("created_by_import", Number),
    *unique_text("entry_list_path_key", "path"),
    long_index("entry_list_folded", "folded"),
)

in_list = Table(
    "in_list",
    metadata,
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("list_id", ForeignKey("entry_list.id"), primary_key=True),
    Column("place", Number, nullable=False),
    Column("added_at", Number, nullable=False),
    Index("in_list_order", "list_id", "place", "entry_id"),
    Index("in_list_newest", "list_id", "added_at", "entry_id"),
    sqlite_with_rowid=False,
)
