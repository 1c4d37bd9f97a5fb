"""The search index in parts, with notes, tags, addresses and authors, and words as we split them.

Words of the old table can't be moved: it holds no texts, and split them otherwise. They are made
anew from the conversion records after this, newest first, while the archive is in use
(``ledger.documents``).
"""

from alembic import op
from sqlalchemy import text

from archiver.query.keys import reversed_host
from archiver.query.words import fold

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE entry ADD COLUMN is_read INTEGER DEFAULT 0 NOT NULL",
    "ALTER TABLE entry ADD COLUMN is_starred INTEGER DEFAULT 0 NOT NULL",
    "ALTER TABLE entry ADD COLUMN document_stale INTEGER DEFAULT 0 NOT NULL",
    "CREATE INDEX entry_document_stale ON entry (id) WHERE document_stale = 1",
    "ALTER TABLE document ADD COLUMN word_count INTEGER DEFAULT 0 NOT NULL",
    "ALTER TABLE document ADD COLUMN language TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE document ADD COLUMN published INTEGER",
    "ALTER TABLE document ADD COLUMN kind TEXT DEFAULT '' NOT NULL",
    "ALTER TABLE tag ADD COLUMN folded TEXT DEFAULT '' NOT NULL",
    "CREATE INDEX tag_folded ON tag (folded)",
    """
    CREATE TABLE host (
        name TEXT NOT NULL,
        reversed TEXT NOT NULL,
        PRIMARY KEY (name)
    )
     WITHOUT ROWID
    """,
    "CREATE INDEX host_reversed ON host (reversed)",
    "CREATE TABLE search_part (number INTEGER NOT NULL, PRIMARY KEY (number))",
    "DROP TABLE search",
    """
    INSERT INTO counter (name, value)
    SELECT 'documents owed below', max(id) + 1 FROM document HAVING count(*) > 0
    """,
)
OLD_SEARCH = """
CREATE VIRTUAL TABLE search USING fts5(
    title, text, content='', tokenize='unicode61 remove_diacritics 2')
"""
DOWN = (
    "DELETE FROM counter WHERE name = 'documents owed below'",
    "DROP TABLE search_part",
    "DROP TABLE host",
    "DROP INDEX tag_folded",
    "ALTER TABLE tag DROP COLUMN folded",
    "ALTER TABLE document DROP COLUMN kind",
    "ALTER TABLE document DROP COLUMN published",
    "ALTER TABLE document DROP COLUMN language",
    "ALTER TABLE document DROP COLUMN word_count",
    "DROP INDEX entry_document_stale",
    "ALTER TABLE entry DROP COLUMN document_stale",
    "ALTER TABLE entry DROP COLUMN is_starred",
    "ALTER TABLE entry DROP COLUMN is_read",
    OLD_SEARCH,
)
HOSTS = text("SELECT DISTINCT host FROM entry")
NEW_HOST = text("INSERT INTO host (name, reversed) VALUES (:name, :reversed)")
TAGS = text("SELECT id, name FROM tag")
FOLD_TAG = text("UPDATE tag SET folded = :folded WHERE id = :id")
PARTS = text("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE search_%'")


def upgrade() -> None:
    """Make the new tables; the words themselves come later."""
    for statement in UP:
        op.execute(statement)
    connection = op.get_bind()
    hosts = [
        {"name": name, "reversed": reversed_host(name)} for (name,) in connection.execute(HOSTS)
    ]
    if hosts:
        connection.execute(NEW_HOST, hosts)
    tags = [{"id": row.id, "folded": fold(row.name)} for row in connection.execute(TAGS)]
    if tags:
        connection.execute(FOLD_TAG, tags)


def downgrade() -> None:
    """Go back to one table, empty: an older program fills it by ``archiver reindex``."""
    connection = op.get_bind()
    for name in sorted(connection.execute(PARTS).scalars(), reverse=True):
        connection.execute(text(f'DROP TABLE "{name}"'))
    for statement in DOWN:
        op.execute(statement)
