"""Which limits a page met while a browser showed it."""

from alembic import op
from sqlalchemy import Column

from archiver.index.table_registry import Words

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for them; of pages that were shown before nobody knows."""
    op.add_column("snapshot", Column("limits", Words, nullable=False, server_default=""))


def downgrade() -> None:
    """Forget them."""
    op.execute("ALTER TABLE snapshot DROP COLUMN limits")
