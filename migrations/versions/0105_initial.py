"""Create all tables.

No earlier revision was ever released: the program rebuilds an index that has one from the WARC
files. Until the first release this revision creates the tables of ``archiver.db.schema`` as they
are; with the first schema change after it, spell its operations out.

Revision: 0105.
"""

from alembic import op

from archiver.db.schema import metadata

revision = "0105"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    metadata.create_all(op.get_bind(), checkfirst=False)


def downgrade() -> None:
    """Drop the tables."""
    metadata.drop_all(op.get_bind(), checkfirst=False)
