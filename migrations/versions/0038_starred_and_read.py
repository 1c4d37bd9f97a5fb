"""What is starred, and what is read, by when it was saved: few of many, as a rule."""

from alembic import op
from sqlalchemy import text

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_INDICES = (("entry_starred", "is_starred = 1"), ("entry_read", "is_read = 1"))


def upgrade() -> None:
    """Let lists walk them."""
    for name, which in _INDICES:
        where = text(which)
        op.create_index(
            name, "entry", ["added_at", "id"], sqlite_where=where, postgresql_where=where
        )


def downgrade() -> None:
    """Look for them among all entries again."""
    for name, _ in _INDICES:
        op.drop_index(name, "entry")
