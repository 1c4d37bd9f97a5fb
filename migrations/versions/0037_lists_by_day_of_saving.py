"""Lists, tags and filters are by when entries were saved; all entries alone by last capture, too.

Labels get their entries' moment without the index that is sorted by it, which is made anew behind
it: one sort for a write at a place of its own for each.
"""

from alembic import op
from sqlalchemy import column, select, table, text, update

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_ENTRY = table("entry", *map(column, ("id", "sort_at", "added_at")))
_BY_TIME = (
    ("entry_by_host", ("host",), None),
    ("entry_by_state", ("state",), None),
    ("entry_by_status", ("status",), "status IS NOT NULL"),
    ("entry_changed", (), "changed > 0"),
    ("entry_highlighted", (), "highlights <> ''"),
)
_LABELS = (("entry_tag", "entry_tag_newest", "tag_id"), ("in_list", "in_list_newest", "list_id"))


def upgrade() -> None:
    """Sort by ``added_at``."""
    op.drop_index("entry_newest", "entry")
    op.create_index("entry_captured", "entry", ["sort_at", "id"])
    _sort_by("added_at", "sort_at")


def downgrade() -> None:
    """Sort by ``sort_at`` again."""
    op.drop_index("entry_captured", "entry")
    op.create_index("entry_newest", "entry", ["sort_at", "id"])
    _sort_by("sort_at", "added_at")


def _sort_by(now: str, before: str) -> None:
    for name, first, where in _BY_TIME:
        op.drop_index(name, "entry")
        some = text(where) if where else None
        columns = [*first, now, "id"]
        op.create_index(name, "entry", columns, sqlite_where=some, postgresql_where=some)
    for name, index, first in _LABELS:
        op.drop_index(index, name)
        op.execute(f"ALTER TABLE {name} RENAME COLUMN {before} TO {now}")
        own = table(name, column("entry_id"), column(now))
        moment = select(_ENTRY.c[now]).where(_ENTRY.c.id == own.c.entry_id).scalar_subquery()
        op.execute(update(own).values({now: moment}))
        op.create_index(index, name, [first, now, "entry_id"])
