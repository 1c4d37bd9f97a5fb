"""Snapshots whose article was left for later are found without looking at all of them."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Index what is unread."""
    op.execute("CREATE INDEX snapshot_unread ON snapshot (id) WHERE extractor = ''")


def downgrade() -> None:
    """Forget which are unread."""
    op.execute("DROP INDEX snapshot_unread")
