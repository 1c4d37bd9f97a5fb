"""What an icon or a picture of a page is asked for by."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE likeness ADD COLUMN digest TEXT DEFAULT '' NOT NULL",
    "CREATE INDEX likeness_digest ON likeness (digest) WHERE digest <> ''",
)
DOWN = ("DROP INDEX likeness_digest", "ALTER TABLE likeness DROP COLUMN digest")


def upgrade() -> None:
    """Make room for it."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget it."""
    for statement in DOWN:
        op.execute(statement)
