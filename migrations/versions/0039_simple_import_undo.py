"""Undo deletes what only one import created: no shares, and a column for the creator of a list."""

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

UP = (
    "DROP TABLE import_share",
    "DROP TABLE brought_list",
    "ALTER TABLE entry_list ADD COLUMN created_by_import INTEGER",
)
DOWN = (
    "ALTER TABLE entry_list DROP COLUMN created_by_import",
    """
    CREATE TABLE import_share (
        id INTEGER NOT NULL PRIMARY KEY,
        import_id INTEGER NOT NULL REFERENCES import (id),
        entry_id INTEGER NOT NULL REFERENCES entry (id),
        share TEXT NOT NULL,
        is_heir INTEGER DEFAULT 0 NOT NULL
    )
    """,
    "CREATE INDEX import_share_of_import ON import_share (import_id, id)",
    "CREATE INDEX import_share_of_entry ON import_share (entry_id)",
    """
    CREATE TABLE brought_list (
        path TEXT NOT NULL,
        import_id INTEGER NOT NULL REFERENCES import (id),
        CONSTRAINT brought_list_key PRIMARY KEY (path, import_id)
    )
    """,
)


def upgrade() -> None:
    """Drop both tables; add the column."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Create both tables, empty."""
    for statement in DOWN:
        op.execute(statement)
