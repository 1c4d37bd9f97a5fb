"""The tables of the feeds that are followed, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, Table, text

from archiver.index.table_registry import Number, Words, metadata, unique_text

feed = Table(
    "feed",
    metadata,
    Column("id", Number, primary_key=True),
    Column("url", Words, nullable=False),
    Column("checked_at", Number, nullable=False),
    Column("due_at", Number, nullable=False),
    Column("failures", Number, nullable=False, server_default=text("0")),
    Column("problem", Words, nullable=False, server_default=""),
    Column("reason", Words, nullable=False, server_default=""),
    Column("is_gone", Number, nullable=False, server_default=text("0")),
    Column("etag", Words, nullable=False, server_default=""),
    Column("modified", Words, nullable=False, server_default=""),
    Column("brought", Number, nullable=False, server_default=text("0")),
    *unique_text("feed_url_key", "url"),
)

feed_item = Table(
    "feed_item",
    metadata,
    Column("feed_id", ForeignKey("feed.id"), primary_key=True),
    Column("hash_url", Words, primary_key=True),
    Column("seen_at", Number, nullable=False),
    sqlite_with_rowid=False,
)
