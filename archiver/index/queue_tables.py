"""The tables of jobs, and of the hosts they wait for, as ``schema`` has all others."""

from sqlalchemy import Column, ForeignKey, Index, Table, text

from archiver.index.table_registry import Number, Words, metadata, partial_index

job = Table(
    "job",
    metadata,
    Column("id", Number, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("import_id", ForeignKey("import.id")),
    Column("host", Words, nullable=False),
    Column("priority", Number, nullable=False),
    Column("state", Words, nullable=False),
    Column("created_at", Number, nullable=False),
    Column("not_before_ms", Number, nullable=False),
    Column("changed_at_ms", Number, nullable=False),
    Column("attempts", Number, nullable=False, server_default=text("0")),
    Column("interrupted", Number, nullable=False, server_default=text("0")),
    Column("owner", Words),
    Column("failure", Words),
    Column("timestamp", Number),
    Column("render", Number, nullable=False, server_default=text("0")),
    Column("rescue", Number, nullable=False, server_default=text("0")),
    partial_index(
        "job_open_once",
        "entry_id",
        unique=True,
        where="state IN ('queued', 'fetching')",
    ),
    Index("job_of_entry", "entry_id", "id"),
    partial_index(
        "job_queue",
        "priority",
        "host",
        "not_before_ms",
        "id",
        where="state = 'queued'",
    ),
    partial_index("job_leased", "owner", where="state = 'fetching'"),
    Index("job_changed", "changed_at_ms"),
)

queue_host = Table(
    "queue_host",
    metadata,
    Column("priority", Number, primary_key=True),
    Column("host", Words, primary_key=True),
    Column("ready_at_ms", Number, nullable=False),
    Index("queue_host_ready", "priority", "ready_at_ms"),
    sqlite_with_rowid=False,
)

attempt = Table(
    "attempt",
    metadata,
    Column("id", Number, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("at", Number, nullable=False),
    Column("failure", Words, nullable=False),
    Index("attempt_of_entry", "entry_id", "at"),
)
