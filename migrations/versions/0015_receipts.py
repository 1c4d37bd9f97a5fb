"""What became of each row of an import, and what was chosen for it."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

ROWS = """
    CREATE TABLE import_row (
        import_id INTEGER NOT NULL,
        row INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        given TEXT NOT NULL,
        hash_url TEXT,
        reason TEXT DEFAULT '' NOT NULL,
        PRIMARY KEY (import_id, row),
        FOREIGN KEY(import_id) REFERENCES import (id)
    )
     WITHOUT ROWID
"""
BY_REASON = """
    CREATE INDEX import_row_reason ON import_row (import_id, reason) WHERE reason <> ''
"""


def upgrade() -> None:
    """Make room for receipts."""
    op.execute("ALTER TABLE import ADD COLUMN choices TEXT DEFAULT '' NOT NULL")
    op.execute(ROWS)
    op.execute(BY_REASON)


def downgrade() -> None:
    """Forget receipts."""
    op.execute("DROP INDEX import_row_reason")
    op.execute("DROP TABLE import_row")
    op.execute("ALTER TABLE import DROP COLUMN choices")
