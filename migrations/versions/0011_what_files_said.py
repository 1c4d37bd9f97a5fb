"""Where a link lay in the file that brought it, and what else that said of it."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for both."""
    op.execute("ALTER TABLE entry ADD COLUMN folders TEXT DEFAULT '' NOT NULL")
    op.execute("ALTER TABLE entry ADD COLUMN source_record TEXT DEFAULT '' NOT NULL")


def downgrade() -> None:
    """Forget both; records in the WARC files keep them."""
    op.execute("ALTER TABLE entry DROP COLUMN source_record")
    op.execute("ALTER TABLE entry DROP COLUMN folders")
