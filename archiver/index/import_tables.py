"""The tables of imports and their receipts, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, text

from archiver.index.table_registry import metadata

imports = Table(
    "import",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("format", Text, nullable=False, server_default=""),
    Column("path", Text),
    Column("started_at", Integer, nullable=False),
    Column("reading", Integer, nullable=False),
    Column("read", Integer, nullable=False, server_default=text("0")),
    Column("added", Integer, nullable=False, server_default=text("0")),
    Column("known", Integer, nullable=False, server_default=text("0")),
    Column("merged", Integer, nullable=False, server_default=text("0")),
    Column("rejected", Integer, nullable=False, server_default=text("0")),
    Column("rejected_samples", Text, nullable=False, server_default="[]"),
    Column("error", Text, nullable=False, server_default=""),
    Column("saved", Integer, nullable=False, server_default=text("0")),
    Column("failed", Integer, nullable=False, server_default=text("0")),
    Column("passed_over", Integer, nullable=False, server_default=text("0")),
    Column("owner", Text),
    Column("choices", Text, nullable=False, server_default=""),
    Column("without_capture", Integer, nullable=False, server_default=text("0")),
    Column("undone", Text, nullable=False, server_default=""),
    Column("receipt_owed", Integer, nullable=False, server_default=text("0")),
)

import_row = Table(
    "import_row",
    metadata,
    Column("import_id", ForeignKey("import.id"), primary_key=True),
    Column("row", Integer, primary_key=True),
    Column("outcome", Text, nullable=False),
    Column("given", Text, nullable=False),
    Column("hash_url", Text),
    Column("reason", Text, nullable=False, server_default=""),
    Index("import_row_reason", "import_id", "reason", sqlite_where=text("reason <> ''")),
    sqlite_with_rowid=False,
)

import_share = Table(
    "import_share",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("import_id", ForeignKey("import.id"), nullable=False),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("share", Text, nullable=False),
    Column("is_heir", Integer, nullable=False, server_default=text("0")),
    Index("import_share_of_import", "import_id", "id"),
    Index("import_share_of_entry", "entry_id"),
)
