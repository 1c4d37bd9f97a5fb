"""What imports alone brought, what they added to other entries, and receipts that are owed."""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE entry ADD COLUMN brought_by INTEGER",
    "CREATE INDEX entry_brought_by ON entry (brought_by, id) WHERE brought_by IS NOT NULL",
    "ALTER TABLE import ADD COLUMN without_capture INTEGER DEFAULT 0 NOT NULL",
    "ALTER TABLE import ADD COLUMN undone TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE import ADD COLUMN receipt_owed INTEGER DEFAULT 0 NOT NULL",
    """
    CREATE TABLE import_share (
        id INTEGER NOT NULL,
        import_id INTEGER NOT NULL,
        entry_id INTEGER NOT NULL,
        share TEXT NOT NULL,
        is_heir INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(import_id) REFERENCES import (id),
        FOREIGN KEY(entry_id) REFERENCES entry (id)
    )
    """,
    "CREATE INDEX import_share_of_import ON import_share (import_id, id)",
    "CREATE INDEX import_share_of_entry ON import_share (entry_id)",
)
DOWN = (
    "DROP TABLE import_share",
    "ALTER TABLE import DROP COLUMN receipt_owed",
    "ALTER TABLE import DROP COLUMN undone",
    "ALTER TABLE import DROP COLUMN without_capture",
    "DROP INDEX entry_brought_by",
    "ALTER TABLE entry DROP COLUMN brought_by",
)


def upgrade() -> None:
    """Make room for them."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget them."""
    for statement in DOWN:
        op.execute(statement)
