"""Create all tables.

No earlier revision was released; an index with one is rebuilt from the WARC files. Until the first
release, this revision creates the current tables of ``archiver.db.schema``. Before the first schema
change after that, list its operations here.

Revision: 0106.
"""

from alembic import op

from archiver.db.schema import metadata

revision = "0106"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    metadata.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    metadata.drop_all(op.get_bind(), checkfirst=False)
