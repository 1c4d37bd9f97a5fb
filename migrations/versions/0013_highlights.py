"""Words that a person marked in an article."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for them, and a list of the entries that have some."""
    op.execute("ALTER TABLE entry ADD COLUMN highlights TEXT DEFAULT '' NOT NULL")
    op.execute("CREATE INDEX entry_highlighted ON entry (sort_at, id) WHERE highlights <> ''")


def downgrade() -> None:
    """Forget them; records in the WARC files keep them."""
    op.execute("DROP INDEX entry_highlighted")
    op.execute("ALTER TABLE entry DROP COLUMN highlights")
