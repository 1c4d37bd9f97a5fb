"""Who writes, from which machine, and which segments lie on one machine alone."""

from alembic import op
from sqlalchemy import Column

from archiver.index.table_registry import Number, Words

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make room for it."""
    op.create_table(
        "writer",
        Column("name", Words, primary_key=True),
        Column("machine", Words, nullable=False),
        Column("beat_ms", Number, nullable=False),
        Column("lease_ms", Number, nullable=False),
        sqlite_with_rowid=False,
    )
    op.add_column("segment", Column("machine", Words))


def downgrade() -> None:
    """Forget it."""
    op.execute("ALTER TABLE segment DROP COLUMN machine")
    op.execute("DROP TABLE writer")
