"""Whether a browser showed a page before it was kept, or should have."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE entry ADD COLUMN rendering TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE snapshot ADD COLUMN rendering TEXT DEFAULT '' NOT NULL",
    "CREATE INDEX entry_unrendered ON entry (id) WHERE rendering = 'needed'",
)
DOWN = (
    "DROP INDEX entry_unrendered",
    "ALTER TABLE snapshot DROP COLUMN rendering",
    "ALTER TABLE entry DROP COLUMN rendering",
)


def upgrade() -> None:
    """Make room for it."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget it."""
    for statement in DOWN:
        op.execute(statement)
