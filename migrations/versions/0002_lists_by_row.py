"""Lists are ordered by moment and row: rows that come later go to the end of each index.

A hash_url as the second key put every new entry at a random place of every list's index, which was
half the time of a long import.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

STATEMENTS = (
    "DROP INDEX entry_newest",
    "DROP INDEX entry_by_host",
    "DROP INDEX entry_by_state",
    "DROP INDEX entry_by_status",
    "DROP INDEX entry_tag_newest",
    "ALTER TABLE entry_tag DROP COLUMN hash_url",
    "CREATE INDEX entry_newest ON entry (sort_at, id)",
    "CREATE INDEX entry_by_host ON entry (host, sort_at, id)",
    "CREATE INDEX entry_by_state ON entry (state, sort_at, id)",
    "CREATE INDEX entry_by_status ON entry (status, sort_at, id) WHERE status IS NOT NULL",
    "CREATE INDEX entry_tag_newest ON entry_tag (tag_id, sort_at, entry_id)",
    "CREATE INDEX snapshot_with_gaps ON snapshot (id) WHERE missing_count > 0",
)

BACK = (
    "DROP INDEX snapshot_with_gaps",
    "DROP INDEX entry_newest",
    "DROP INDEX entry_by_host",
    "DROP INDEX entry_by_state",
    "DROP INDEX entry_by_status",
    "DROP INDEX entry_tag_newest",
    "ALTER TABLE entry_tag ADD COLUMN hash_url TEXT NOT NULL DEFAULT ''",
    "UPDATE entry_tag SET hash_url = (SELECT hash_url FROM entry WHERE id = entry_tag.entry_id)",
    "CREATE INDEX entry_newest ON entry (sort_at, hash_url)",
    "CREATE INDEX entry_by_host ON entry (host, sort_at, hash_url)",
    "CREATE INDEX entry_by_state ON entry (state, sort_at, hash_url)",
    "CREATE INDEX entry_by_status ON entry (status, sort_at, hash_url)",
    "CREATE INDEX entry_tag_newest ON entry_tag (tag_id, sort_at, hash_url)",
)


def upgrade() -> None:
    """Order the lists by row."""
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    """Order the lists by hash_url again."""
    for statement in BACK:
        op.execute(statement)
