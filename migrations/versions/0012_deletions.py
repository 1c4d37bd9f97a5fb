"""What was thrown away, what each snapshot needs, and how a deletion is undone."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE entry ADD COLUMN generation INTEGER DEFAULT 0 NOT NULL",
    "CREATE INDEX capture_leads_to ON capture (redirect_to) WHERE redirect_to IS NOT NULL",
    "CREATE INDEX snapshot_of_capture ON snapshot (capture_id)",
    "CREATE INDEX document_of_entry ON document (entry_id)",
    """
    CREATE INDEX document_of_snapshot ON document (snapshot_id) WHERE snapshot_id IS NOT NULL
    """,
    "CREATE INDEX edited_entry ON edited (entry_id)",
    """
    CREATE TABLE withheld (
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
        is_chunked INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (segment_id, "offset"),
        FOREIGN KEY(segment_id) REFERENCES segment (id)
    )
    """,
    "CREATE INDEX withheld_payload ON withheld (payload_digest) WHERE is_revisit = 0",
    """
    CREATE TABLE need (
        snapshot_id INTEGER NOT NULL,
        urls BLOB NOT NULL,
        PRIMARY KEY (snapshot_id),
        FOREIGN KEY(snapshot_id) REFERENCES snapshot (id)
    )
    """,
    """
    CREATE TABLE gone_entry (
        hash_url TEXT NOT NULL,
        deletion INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        PRIMARY KEY (hash_url, deletion)
    )
     WITHOUT ROWID
    """,
    """
    CREATE TABLE gone_snapshot (
        hash_url TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        record_id TEXT NOT NULL,
        deletion INTEGER NOT NULL,
        PRIMARY KEY (hash_url, timestamp, record_id, deletion)
    )
     WITHOUT ROWID
    """,
    """
    CREATE TABLE gone_capture (
        record_id TEXT NOT NULL,
        deletion INTEGER NOT NULL,
        PRIMARY KEY (record_id, deletion)
    )
     WITHOUT ROWID
    """,
    """
    CREATE TABLE own_article (
        hash_url TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        record_id TEXT NOT NULL,
        PRIMARY KEY (hash_url, timestamp)
    )
     WITHOUT ROWID
    """,
    "CREATE TABLE restored (deletion INTEGER NOT NULL, PRIMARY KEY (deletion))",
    """
    CREATE TABLE owed_record (
        id INTEGER NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE deletion (
        id INTEGER NOT NULL,
        entries INTEGER DEFAULT 0 NOT NULL,
        snapshots INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE trash (
        deletion_id INTEGER NOT NULL,
        number INTEGER NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (deletion_id, number),
        FOREIGN KEY(deletion_id) REFERENCES deletion (id)
    )
     WITHOUT ROWID
    """,
)
DOWN = (
    "DROP TABLE trash",
    "DROP TABLE deletion",
    "DROP TABLE owed_record",
    "DROP TABLE restored",
    "DROP TABLE own_article",
    "DROP TABLE gone_capture",
    "DROP TABLE gone_snapshot",
    "DROP TABLE gone_entry",
    "DROP TABLE need",
    "DROP TABLE withheld",
    "DROP INDEX edited_entry",
    "DROP INDEX document_of_snapshot",
    "DROP INDEX document_of_entry",
    "DROP INDEX snapshot_of_capture",
    "DROP INDEX capture_leads_to",
    "ALTER TABLE entry DROP COLUMN generation",
)


def upgrade() -> None:
    """Make the tables."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget what was thrown away: `archiver reindex` knows it."""
    for statement in DOWN:
        op.execute(statement)
