"""Which lists imports alone have brought."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE brought_list (
    path TEXT NOT NULL,
    import_id INTEGER NOT NULL,
    PRIMARY KEY (path, import_id),
    FOREIGN KEY(import_id) REFERENCES import (id)
) WITHOUT ROWID
"""


def upgrade() -> None:
    """Make room for it."""
    op.execute(TABLE)


def downgrade() -> None:
    """Forget it."""
    op.execute("DROP TABLE brought_list")
