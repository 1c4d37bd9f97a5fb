"""Where responses lie that are not what their URLs show."""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE answer (
    segment_id INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    length INTEGER NOT NULL,
    record_id TEXT NOT NULL,
    PRIMARY KEY (segment_id, "offset"),
    FOREIGN KEY(segment_id) REFERENCES segment (id)
) WITHOUT ROWID
"""


def upgrade() -> None:
    """Make room for them."""
    op.execute(TABLE)
    op.execute("CREATE INDEX answer_record ON answer (record_id)")


def downgrade() -> None:
    """Forget them."""
    op.execute("DROP TABLE answer")
