"""Which jobs ask public archives for their page."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for that."""
    op.execute("ALTER TABLE job ADD COLUMN rescue INTEGER DEFAULT 0 NOT NULL")


def downgrade() -> None:
    """Forget them."""
    op.execute("ALTER TABLE job DROP COLUMN rescue")
