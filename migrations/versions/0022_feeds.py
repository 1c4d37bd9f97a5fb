"""How looking at feeds goes, and which of their items were seen."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE feed (
        id INTEGER NOT NULL,
        url TEXT NOT NULL,
        checked_at INTEGER NOT NULL,
        due_at INTEGER NOT NULL,
        failures INTEGER DEFAULT 0 NOT NULL,
        problem TEXT DEFAULT '' NOT NULL,
        is_gone INTEGER DEFAULT 0 NOT NULL,
        etag TEXT DEFAULT '' NOT NULL,
        modified TEXT DEFAULT '' NOT NULL,
        brought INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (url)
    )
    """,
    """
    CREATE TABLE feed_item (
        feed_id INTEGER NOT NULL,
        hash_url TEXT NOT NULL,
        seen_at INTEGER NOT NULL,
        PRIMARY KEY (feed_id, hash_url),
        FOREIGN KEY(feed_id) REFERENCES feed (id)
    )
     WITHOUT ROWID
    """,
)
DOWN = ("DROP TABLE feed_item", "DROP TABLE feed")


def upgrade() -> None:
    """Make room for them."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget them."""
    for statement in DOWN:
        op.execute(statement)
