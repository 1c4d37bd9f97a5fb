"""The tables of the feeds that are followed, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, Integer, Table, Text, text

from archiver.index.table_registry import metadata

feed = Table(
    "feed",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("checked_at", Integer, nullable=False),
    Column("due_at", Integer, nullable=False),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("problem", Text, nullable=False, server_default=""),
    Column("is_gone", Integer, nullable=False, server_default=text("0")),
    Column("etag", Text, nullable=False, server_default=""),
    Column("modified", Text, nullable=False, server_default=""),
    Column("brought", Integer, nullable=False, server_default=text("0")),
)

feed_item = Table(
    "feed_item",
    metadata,
    Column("feed_id", ForeignKey("feed.id"), primary_key=True),
    Column("hash_url", Text, primary_key=True),
    Column("seen_at", Integer, nullable=False),
    sqlite_with_rowid=False,
)
