"""The tables of imports and their receipts, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, Table, text

from archiver.index.table_registry import Number, Words, metadata, partial_index

imports = Table(
    "import",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Words, nullable=False),
    Column("format", Words, nullable=False, server_default=""),
    Column("path", Words),
    Column("started_at", Number, nullable=False),
    Column("reading", Number, nullable=False),
    Column("read", Number, nullable=False, server_default=text("0")),
    Column("added", Number, nullable=False, server_default=text("0")),
    Column("known", Number, nullable=False, server_default=text("0")),
    Column("merged", Number, nullable=False, server_default=text("0")),
    Column("rejected", Number, nullable=False, server_default=text("0")),
    Column("rejected_samples", Words, nullable=False, server_default="[]"),
    Column("error", Words, nullable=False, server_default=""),
    Column("saved", Number, nullable=False, server_default=text("0")),
    Column("failed", Number, nullable=False, server_default=text("0")),
    Column("passed_over", Number, nullable=False, server_default=text("0")),
    Column("owner", Words),
    Column("choices", Words, nullable=False, server_default=""),
    Column("without_capture", Number, nullable=False, server_default=text("0")),
    Column("undone", Words, nullable=False, server_default=""),
    Column("receipt_owed", Number, nullable=False, server_default=text("0")),
    Column("lists_left_out", Number, nullable=False, server_default=text("0")),
)

import_row = Table(
    "import_row",
    metadata,
    Column("import_id", ForeignKey("import.id"), primary_key=True),
    Column("row", Number, primary_key=True),
    Column("outcome", Words, nullable=False),
    Column("given", Words, nullable=False),
    Column("hash_url", Words),
    Column("reason", Words, nullable=False, server_default=""),
    partial_index("import_row_reason", "import_id", "reason", where="reason <> ''"),
    sqlite_with_rowid=False,
)
