"""Which address a page names as its own."""

from alembic import op
from sqlalchemy import Column, text

from archiver.index.table_registry import Words

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for it; pages that were read before tell it when they are read again."""
    op.add_column("snapshot", Column("canonical", Words, nullable=False, server_default=""))
    is_named = text("canonical <> ''")
    op.create_index(
        "snapshot_canonical",
        "snapshot",
        ["canonical"],
        sqlite_where=is_named,
        postgresql_where=is_named,
        postgresql_using="hash",
    )


def downgrade() -> None:
    """Forget it."""
    op.execute("DROP INDEX snapshot_canonical")
    op.execute("ALTER TABLE snapshot DROP COLUMN canonical")
