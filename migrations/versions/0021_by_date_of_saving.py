"""Entries by when they were saved: what is new, and what was saved on this day."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    op.execute("CREATE INDEX entry_added ON entry (added_at, id)")


def downgrade() -> None:
    """Drop it."""
    op.execute("DROP INDEX entry_added")
