"""How many lists of a file were left out."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

UP = ('ALTER TABLE "import" ADD COLUMN lists_left_out INTEGER DEFAULT 0 NOT NULL',)
DOWN = ('ALTER TABLE "import" DROP COLUMN lists_left_out',)


def upgrade() -> None:
    """Make room for it."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget it."""
    for statement in DOWN:
        op.execute(statement)
