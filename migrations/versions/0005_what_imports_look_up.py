"""Imports look up record ids that are taken, and payloads by the digests that others state.

Both are filled by imports alone: an index over every capture's record id would cost each crawled
URL what only an import asks for. Captures know whether their record's payload is chunked, since
others can't find such a payload from another URL.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

STATEMENTS = (
    "CREATE TABLE record_id_seen (id INTEGER NOT NULL, PRIMARY KEY (id))",
    """
    CREATE TABLE stated_digest (
        digest TEXT NOT NULL,
        payload_digest BLOB NOT NULL,
        PRIMARY KEY (digest)
    )
     WITHOUT ROWID
    """,
    "ALTER TABLE import ADD COLUMN passed_over INTEGER DEFAULT 0 NOT NULL",
    "ALTER TABLE capture ADD COLUMN is_chunked INTEGER DEFAULT 0 NOT NULL",
    "DROP INDEX capture_payload",
    "CREATE INDEX capture_payload ON capture (payload_digest, is_chunked) WHERE is_revisit = 0",
)

BACK = (
    "DROP INDEX capture_payload",
    "ALTER TABLE capture DROP COLUMN is_chunked",
    "CREATE INDEX capture_payload ON capture (payload_digest) WHERE is_revisit = 0",
    "ALTER TABLE import DROP COLUMN passed_over",
    "DROP TABLE stated_digest",
    "DROP TABLE record_id_seen",
    "DELETE FROM counter WHERE name = 'record ids seen'",
)


def upgrade() -> None:
    """Make room for what imports look up."""
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    """Forget it."""
    for statement in BACK:
        op.execute(statement)
