"""Which segments lie on one machine alone, looked for by that."""

from alembic import op
from sqlalchemy import text

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_IS_ALONE = text("machine IS NOT NULL")


def upgrade() -> None:
    """Look there at once."""
    op.create_index(
        "segment_of_machine",
        "segment",
        ["machine"],
        sqlite_where=_IS_ALONE,
        postgresql_where=_IS_ALONE,
    )


def downgrade() -> None:
    """Look everywhere again."""
    op.drop_index("segment_of_machine", "segment")
