"""Which process has a host to itself, whose turn it is there, and which hosts asked for rest."""

from alembic import op
from sqlalchemy import Column, text

from archiver.index.table_registry import Number, Words

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_IS_FREE = text("owner IS NULL")


def upgrade() -> None:
    """Make room for it."""
    host = {"sqlite_with_rowid": False}
    op.create_table(
        "host_hold",
        Column("host", Words, primary_key=True),
        Column("owner", Words),
        Column("free_at_ms", Number, nullable=False),
        Column("delay_ms", Number, nullable=False),
        **host,
    )
    op.create_index("host_hold_owner", "host_hold", ["owner"])
    op.create_index(
        "host_hold_free",
        "host_hold",
        ["free_at_ms"],
        sqlite_where=_IS_FREE,
        postgresql_where=_IS_FREE,
    )
    op.create_table(
        "host_turn",
        Column("host", Words, primary_key=True),
        Column("owner", Words),
        Column("free_at_ms", Number, nullable=False),
        **host,
    )
    op.create_index("host_turn_owner", "host_turn", ["owner"])
    op.create_table(
        "host_rest",
        Column("host", Words, primary_key=True),
        Column("until_ms", Number, nullable=False),
        **host,
    )
    op.create_index("host_rest_until", "host_rest", ["until_ms"])


def downgrade() -> None:
    """Forget it."""
    for table in ("host_rest", "host_turn", "host_hold"):
        op.execute(f"DROP TABLE {table}")
