"""SURT keys are the field's, so that other programs find what they are given.

The keys of captures are written anew, so many rows at a time. The way down keeps them: an older
program finds again what it looks for after ``archiver reindex``.
"""

from alembic import op
from sqlalchemy import text

from archiver.urls.surt import surt

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ROWS = 5000
READ = text("SELECT id, url, surt FROM capture WHERE id > :after ORDER BY id LIMIT :rows")
WRITE = text("UPDATE capture SET surt = :surt WHERE id = :id")


def upgrade() -> None:
    """Make every key anew; rows whose key stays are not touched."""
    connection, after = op.get_bind(), 0
    while rows := connection.execute(READ, {"after": after, "rows": ROWS}).all():
        changed = [
            {"id": row.id, "surt": key} for row in rows if (key := surt(row.url)) != row.surt
        ]
        if changed:
            connection.execute(WRITE, changed)
        after = rows[-1].id


def downgrade() -> None:
    """Leave the keys: what made the older ones is gone."""
