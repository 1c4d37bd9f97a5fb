"""Lists: what lay in folders lies in them, in the order of its coming."""

import re
from itertools import count

from alembic import op
from sqlalchemy import text

from archiver.query.keys import list_key

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

STEP, MIDDLE = 1 << 20, 1 << 40
UP = (
    """
    CREATE TABLE entry_list (
        id INTEGER NOT NULL,
        path TEXT NOT NULL,
        folded TEXT NOT NULL,
        position INTEGER NOT NULL,
        query TEXT DEFAULT '' NOT NULL,
        entry_count INTEGER DEFAULT 0 NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (path)
    )
    """,
    "CREATE INDEX entry_list_folded ON entry_list (folded)",
    """
    CREATE TABLE in_list (
        entry_id INTEGER NOT NULL,
        list_id INTEGER NOT NULL,
        place INTEGER NOT NULL,
        sort_at INTEGER NOT NULL,
        PRIMARY KEY (entry_id, list_id),
        FOREIGN KEY(entry_id) REFERENCES entry (id),
        FOREIGN KEY(list_id) REFERENCES entry_list (id)
    )
     WITHOUT ROWID
    """,
    "CREATE INDEX in_list_order ON in_list (list_id, place, entry_id)",
    "CREATE INDEX in_list_newest ON in_list (list_id, sort_at, entry_id)",
)
DOWN = (
    "ALTER TABLE entry ADD COLUMN folders TEXT DEFAULT '' NOT NULL",
    """
    UPDATE entry SET folders = (
        SELECT group_concat(path, char(10)) FROM in_list JOIN entry_list ON list_id = entry_list.id
        WHERE entry_id = entry.id
    ) WHERE id IN (SELECT entry_id FROM in_list)
    """,
    "DROP TABLE in_list",
    "DROP TABLE entry_list",
)
_SLASH = re.compile(r"(?:\\.|[^\\/])+")


def upgrade() -> None:
    """Make the tables, and put in what has folders."""
    for statement in UP:
        op.execute(statement)
    connection = op.get_bind()
    rows = connection.execute(
        text("SELECT id, sort_at, folders FROM entry WHERE folders <> '' ORDER BY id")
    ).all()
    lists: dict[str, int] = {}
    places = {row.id: [_number(lists, path) for path in row.folders.split("\n")] for row in rows}
    for path, number in lists.items():
        connection.execute(
            text("INSERT INTO entry_list (id, path, folded, position) VALUES (:n, :p, :f, :n)"),
            {"n": number, "p": path, "f": list_key(path)},
        )
    last = count(MIDDLE, STEP)
    for row in rows:
        for number in dict.fromkeys(places[row.id]):
            connection.execute(
                text("INSERT INTO in_list VALUES (:entry, :list, :place, :sort_at)"),
                {"entry": row.id, "list": number, "place": next(last), "sort_at": row.sort_at},
            )
    op.execute(
        "UPDATE entry_list SET entry_count ="
        " (SELECT count(*) FROM in_list WHERE list_id = entry_list.id)"
    )
    op.execute("ALTER TABLE entry DROP COLUMN folders")


def _number(lists: dict[str, int], path: str) -> int:
    """The number of a list; it and those around it get one when they are first met."""
    names = _SLASH.findall(path)
    for depth in range(1, len(names) + 1):
        outer = "/".join(names[:depth])
        lists.setdefault(outer, len(lists) + 1)
    return lists["/".join(names)]


def downgrade() -> None:
    """Keep what lies in lists as folders; their order is in the records alone."""
    for statement in DOWN:
        op.execute(statement)
