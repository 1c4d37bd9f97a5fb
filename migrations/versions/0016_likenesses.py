"""How pages looked in a browser, and which jobs ask for one."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE likeness (
        snapshot_id INTEGER NOT NULL,
        kind TEXT NOT NULL,
        media_type TEXT NOT NULL,
        segment_id INTEGER NOT NULL,
        "offset" INTEGER NOT NULL,
        length INTEGER NOT NULL,
        PRIMARY KEY (snapshot_id, kind),
        FOREIGN KEY(snapshot_id) REFERENCES snapshot (id),
        FOREIGN KEY(segment_id) REFERENCES segment (id)
    )
     WITHOUT ROWID
    """,
    "ALTER TABLE job ADD COLUMN render INTEGER DEFAULT 0 NOT NULL",
)
DOWN = (
    "ALTER TABLE job DROP COLUMN render",
    "DROP TABLE likeness",
)


def upgrade() -> None:
    """Make room for them."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget them."""
    for statement in DOWN:
        op.execute(statement)
