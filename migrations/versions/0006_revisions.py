"""What a person says of an entry has a revision, so that a record can tell which one it holds.

With a mark alone, what was said between the reading of an entry and its mark as recorded was in no
record.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count changes of annotations."""
    op.execute("ALTER TABLE entry ADD COLUMN revision INTEGER DEFAULT 0 NOT NULL")


def downgrade() -> None:
    """Forget how many there were."""
    op.execute("ALTER TABLE entry DROP COLUMN revision")
