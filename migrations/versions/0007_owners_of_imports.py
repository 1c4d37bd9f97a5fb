"""An import says which process reads it, so that none claims to be read whose reader died."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for the writer's name of the process that reads; nobody has the empty one."""
    op.execute("ALTER TABLE import ADD COLUMN owner TEXT")
    op.execute("UPDATE import SET owner = '' WHERE reading = 1")


def downgrade() -> None:
    """Forget who reads."""
    op.execute("ALTER TABLE import DROP COLUMN owner")
