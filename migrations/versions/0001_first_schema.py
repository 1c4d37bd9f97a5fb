"""The first schema: entries, the queue, and the index over the WARC files."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE counter (
        name TEXT NOT NULL,
        value INTEGER NOT NULL,
        PRIMARY KEY (name)
    )
     WITHOUT ROWID
    """,
    """
    CREATE TABLE entry (
        id INTEGER NOT NULL,
        hash_url TEXT NOT NULL,
        url TEXT NOT NULL,
        url_given TEXT NOT NULL,
        host TEXT NOT NULL,
        given_title TEXT DEFAULT '' NOT NULL,
        page_title TEXT DEFAULT '' NOT NULL,
        note TEXT DEFAULT '' NOT NULL,
        source TEXT DEFAULT '' NOT NULL,
        added_at INTEGER NOT NULL,
        state TEXT NOT NULL,
        failure TEXT,
        latest INTEGER,
        snapshot_count INTEGER DEFAULT 0 NOT NULL,
        status INTEGER,
        media_type TEXT DEFAULT '' NOT NULL,
        sort_at INTEGER NOT NULL,
        document_id INTEGER,
        unrecorded INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (hash_url)
    )
    """,
    """
    CREATE INDEX entry_by_host ON entry (host, sort_at, hash_url)
    """,
    """
    CREATE INDEX entry_by_state ON entry (state, sort_at, hash_url)
    """,
    """
    CREATE INDEX entry_by_status ON entry (status, sort_at, hash_url)
    """,
    """
    CREATE INDEX entry_newest ON entry (sort_at, hash_url)
    """,
    """
    CREATE INDEX entry_unrecorded ON entry (id) WHERE unrecorded = 1
    """,
    """
    CREATE TABLE import (
        id INTEGER NOT NULL,
        name TEXT NOT NULL,
        format TEXT DEFAULT '' NOT NULL,
        path TEXT,
        started_at INTEGER NOT NULL,
        reading INTEGER NOT NULL,
        read INTEGER DEFAULT 0 NOT NULL,
        added INTEGER DEFAULT 0 NOT NULL,
        known INTEGER DEFAULT 0 NOT NULL,
        merged INTEGER DEFAULT 0 NOT NULL,
        rejected INTEGER DEFAULT 0 NOT NULL,
        rejected_samples TEXT DEFAULT '[]' NOT NULL,
        error TEXT DEFAULT '' NOT NULL,
        saved INTEGER DEFAULT 0 NOT NULL,
        failed INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE queue_host (
        priority INTEGER NOT NULL,
        host TEXT NOT NULL,
        ready_at_ms INTEGER NOT NULL,
        PRIMARY KEY (priority, host)
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX queue_host_ready ON queue_host (priority, ready_at_ms)
    """,
    """
    CREATE TABLE segment (
        id INTEGER NOT NULL,
        name TEXT NOT NULL,
        indexed_bytes INTEGER NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (name)
    )
    """,
    """
    CREATE TABLE tag (
        id INTEGER NOT NULL,
        name TEXT NOT NULL,
        entry_count INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (name)
    )
    """,
    """
    CREATE INDEX tag_by_count ON tag (entry_count)
    """,
    """
    CREATE TABLE attempt (
        id INTEGER NOT NULL,
        entry_id INTEGER NOT NULL,
        at INTEGER NOT NULL,
        failure TEXT NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(entry_id) REFERENCES entry (id)
    )
    """,
    """
    CREATE INDEX attempt_of_entry ON attempt (entry_id, at)
    """,
    """
    CREATE TABLE capture (
        id INTEGER NOT NULL,
        surt TEXT NOT NULL,
        url TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        status INTEGER NOT NULL,
        media_type TEXT NOT NULL,
        payload_digest BLOB NOT NULL,
        payload_length INTEGER NOT NULL,
        record_id TEXT NOT NULL,
        segment_id INTEGER NOT NULL,
        "offset" INTEGER NOT NULL,
        length INTEGER NOT NULL,
        is_revisit INTEGER NOT NULL,
        redirect_to TEXT,
        ip TEXT DEFAULT '' NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (segment_id, "offset"),
        FOREIGN KEY(segment_id) REFERENCES segment (id)
    )
    """,
    """
    CREATE INDEX capture_by_url ON capture (surt, timestamp)
    """,
    """
    CREATE INDEX capture_payload ON capture (payload_digest) WHERE is_revisit = 0
    """,
    """
    CREATE TABLE entry_tag (
        entry_id INTEGER NOT NULL,
        tag_id INTEGER NOT NULL,
        sort_at INTEGER NOT NULL,
        hash_url TEXT NOT NULL,
        PRIMARY KEY (entry_id, tag_id),
        FOREIGN KEY(entry_id) REFERENCES entry (id),
        FOREIGN KEY(tag_id) REFERENCES tag (id)
    )
     WITHOUT ROWID
    """,
    """
    CREATE INDEX entry_tag_newest ON entry_tag (tag_id, sort_at, hash_url)
    """,
    """
    CREATE TABLE job (
        id INTEGER NOT NULL,
        entry_id INTEGER NOT NULL,
        import_id INTEGER,
        host TEXT NOT NULL,
        priority INTEGER NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        not_before_ms INTEGER NOT NULL,
        changed_at_ms INTEGER NOT NULL,
        attempts INTEGER DEFAULT 0 NOT NULL,
        interrupted INTEGER DEFAULT 0 NOT NULL,
        owner TEXT,
        failure TEXT,
        timestamp INTEGER,
        PRIMARY KEY (id),
        FOREIGN KEY(entry_id) REFERENCES entry (id),
        FOREIGN KEY(import_id) REFERENCES import (id)
    )
    """,
    """
    CREATE INDEX job_changed ON job (changed_at_ms)
    """,
    """
    CREATE INDEX job_leased ON job (owner) WHERE state = 'fetching'
    """,
    """
    CREATE INDEX job_of_entry ON job (entry_id, id)
    """,
    """
    CREATE UNIQUE INDEX job_open_once ON job (entry_id) WHERE state IN ('queued', 'fetching')
    """,
    """
    CREATE INDEX job_queue ON job (priority, host, not_before_ms, id) WHERE state = 'queued'
    """,
    """
    CREATE TABLE snapshot (
        id INTEGER NOT NULL,
        entry_id INTEGER NOT NULL,
        timestamp INTEGER NOT NULL,
        capture_id INTEGER NOT NULL,
        final_url TEXT NOT NULL,
        title TEXT NOT NULL,
        byline TEXT NOT NULL,
        site TEXT NOT NULL,
        excerpt TEXT NOT NULL,
        language TEXT NOT NULL,
        published TEXT NOT NULL,
        requisite_count INTEGER NOT NULL,
        missing_count INTEGER NOT NULL,
        extractor TEXT NOT NULL,
        article_segment_id INTEGER,
        article_offset INTEGER,
        article_length INTEGER,
        metadata_segment_id INTEGER NOT NULL,
        metadata_offset INTEGER NOT NULL,
        metadata_length INTEGER NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (entry_id, timestamp),
        FOREIGN KEY(entry_id) REFERENCES entry (id),
        FOREIGN KEY(capture_id) REFERENCES capture (id),
        FOREIGN KEY(article_segment_id) REFERENCES segment (id),
        FOREIGN KEY(metadata_segment_id) REFERENCES segment (id)
    )
    """,
    """
    CREATE TABLE document (
        id INTEGER NOT NULL,
        entry_id INTEGER NOT NULL,
        snapshot_id INTEGER,
        PRIMARY KEY (id),
        FOREIGN KEY(entry_id) REFERENCES entry (id),
        FOREIGN KEY(snapshot_id) REFERENCES snapshot (id)
    )
    """,
    """
    CREATE VIRTUAL TABLE search USING fts5(
        title, text, content='', tokenize='unicode61 remove_diacritics 2')
    """,
)

TABLES = (
    "search",
    "document",
    "snapshot",
    "job",
    "entry_tag",
    "capture",
    "attempt",
    "tag",
    "segment",
    "queue_host",
    "import",
    "entry",
    "counter",
)


def upgrade() -> None:
    """Make the tables."""
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    """Drop the tables."""
    for table in TABLES:
        op.execute(f'DROP TABLE "{table}"')
