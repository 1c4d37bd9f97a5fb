"""Why a feed could not be read, as a kind that every language has words for."""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for it; the next look at a feed says it."""
    op.execute("ALTER TABLE feed ADD COLUMN reason TEXT DEFAULT '' NOT NULL")


def downgrade() -> None:
    """Forget it."""
    op.execute("ALTER TABLE feed DROP COLUMN reason")
