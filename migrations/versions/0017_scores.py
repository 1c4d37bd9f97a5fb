"""How well pages were kept, and what plain looks at them told of their hosts."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE entry ADD COLUMN score INTEGER",
    "ALTER TABLE snapshot ADD COLUMN look TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE snapshot ADD COLUMN score INTEGER",
    "CREATE INDEX entry_imperfect ON entry (score, id) WHERE score < 100",
    "CREATE INDEX snapshot_look ON snapshot (id) WHERE look <> ''",
    "CREATE INDEX snapshot_unscored ON snapshot (id) WHERE score IS NULL",
)
DOWN = (
    "DROP INDEX snapshot_unscored",
    "DROP INDEX snapshot_look",
    "DROP INDEX entry_imperfect",
    "ALTER TABLE snapshot DROP COLUMN score",
    "ALTER TABLE snapshot DROP COLUMN look",
    "ALTER TABLE entry DROP COLUMN score",
)


def upgrade() -> None:
    """Make room for them; snapshots that are there are scored while they are served."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget them."""
    for statement in DOWN:
        op.execute(statement)
