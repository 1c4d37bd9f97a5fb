"""By how much the article of an entry differs from the one before."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for it; entries with several snapshots are compared while they are served."""
    op.execute("ALTER TABLE entry ADD COLUMN changed INTEGER DEFAULT 0 NOT NULL")
    op.execute("ALTER TABLE entry ADD COLUMN comparison_owed INTEGER DEFAULT 0 NOT NULL")
    op.execute("CREATE INDEX entry_changed ON entry (sort_at, id) WHERE changed > 0")
    op.execute("CREATE INDEX entry_comparison_owed ON entry (id) WHERE comparison_owed = 1")
    op.execute("UPDATE entry SET comparison_owed = 1 WHERE snapshot_count > 1")


def downgrade() -> None:
    """Forget it."""
    op.execute("DROP INDEX entry_comparison_owed")
    op.execute("DROP INDEX entry_changed")
    op.execute("ALTER TABLE entry DROP COLUMN comparison_owed")
    op.execute("ALTER TABLE entry DROP COLUMN changed")
