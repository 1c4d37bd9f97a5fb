"""Names of lists and addresses of feeds of any length, where trees take only short rows."""

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

BOTH = "(path || '/' || CAST(import_id AS TEXT))"
LONG = (
    "ALTER TABLE entry_list DROP CONSTRAINT entry_list_path_key",
    "ALTER TABLE entry_list ADD CONSTRAINT entry_list_path_key EXCLUDE USING hash (path WITH =)",
    "DROP INDEX entry_list_folded",
    "CREATE INDEX entry_list_folded ON entry_list USING hash (folded)",
    "ALTER TABLE brought_list DROP CONSTRAINT brought_list_pkey",
    f"ALTER TABLE brought_list ADD CONSTRAINT brought_list_key EXCLUDE USING hash ({BOTH} WITH =)",
    "ALTER TABLE feed DROP CONSTRAINT feed_url_key",
    "ALTER TABLE feed ADD CONSTRAINT feed_url_key EXCLUDE USING hash (url WITH =)",
)
SHORT = (
    "ALTER TABLE feed DROP CONSTRAINT feed_url_key",
    "ALTER TABLE feed ADD CONSTRAINT feed_url_key UNIQUE (url)",
    "ALTER TABLE brought_list DROP CONSTRAINT brought_list_key",
    "ALTER TABLE brought_list ADD CONSTRAINT brought_list_pkey PRIMARY KEY (path, import_id)",
    "DROP INDEX entry_list_folded",
    "CREATE INDEX entry_list_folded ON entry_list (folded)",
    "ALTER TABLE entry_list DROP CONSTRAINT entry_list_path_key",
    "ALTER TABLE entry_list ADD CONSTRAINT entry_list_path_key UNIQUE (path)",
)


def upgrade() -> None:
    """Keep them by hash; SQLite takes rows of any length."""
    _on_a_server(LONG)


def downgrade() -> None:
    """Keep them in trees again."""
    _on_a_server(SHORT)


def _on_a_server(statements: tuple[str, ...]) -> None:
    if op.get_bind().dialect.name == "postgresql":
        for statement in statements:
            op.execute(statement)
