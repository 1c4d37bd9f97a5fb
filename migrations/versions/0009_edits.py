"""Edits of annotations, as long as they can be undone."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

UP = (
    "CREATE TABLE edit (id INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (id))",
    """
    CREATE TABLE edited (
        edit_id INTEGER NOT NULL,
        entry_id INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        before TEXT NOT NULL,
        PRIMARY KEY (edit_id, entry_id),
        FOREIGN KEY(edit_id) REFERENCES edit (id),
        FOREIGN KEY(entry_id) REFERENCES entry (id)
    )
     WITHOUT ROWID
    """,
)
DOWN = ("DROP TABLE edited", "DROP TABLE edit")


def upgrade() -> None:
    """Make the tables."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget how edits are undone."""
    for statement in DOWN:
        op.execute(statement)
