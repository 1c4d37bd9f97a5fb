"""Small files beside an archive, as machines share them."""

from alembic import op
from sqlalchemy import Column, LargeBinary

from archiver.index.table_registry import Number, Words

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for them."""
    op.create_table(
        "shared_file",
        Column("name", Words, primary_key=True),
        Column("content", LargeBinary, nullable=False),
        Column("revision", Number, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Forget them."""
    op.drop_table("shared_file")
