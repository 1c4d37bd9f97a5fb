"""What lies in a segment is found by it: whoever moves its records looks at no other's."""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_INDICES = (
    ("snapshot_article_in", "snapshot", "article_segment_id"),
    ("snapshot_metadata_in", "snapshot", "metadata_segment_id"),
    ("likeness_in", "likeness", "segment_id"),
)


def upgrade() -> None:
    """Make the indices."""
    for name, table, column in _INDICES:
        op.create_index(name, table, [column])


def downgrade() -> None:
    """Drop them."""
    for name, table, _ in _INDICES:
        op.drop_index(name, table)
