"""What failed, and never was captured, stands in lists where it was saved."""

from alembic import op
from sqlalchemy import ColumnElement, column, func, select, table, update

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_ENTRY = table("entry", *map(column, ("id", "state", "snapshot_count", "sort_at", "added_at")))
_ATTEMPT = table("attempt", *map(column, ("entry_id", "at")))
_LABELS = tuple(
    table(name, column("entry_id"), column("sort_at")) for name in ("entry_tag", "in_list")
)
_FAILED = select(_ENTRY.c.id).where(_ENTRY.c.state == "failed", _ENTRY.c.snapshot_count == 0)
_LAST = select(func.max(_ATTEMPT.c.at)).where(_ATTEMPT.c.entry_id == _ENTRY.c.id).scalar_subquery()


def upgrade() -> None:
    """Move it there."""
    _move(_ENTRY.c.added_at)


def downgrade() -> None:
    """Move it to where it failed last."""
    _move(func.coalesce(_LAST, _ENTRY.c.sort_at))


def _move(place: ColumnElement[int]) -> None:
    failed = _FAILED.alias("failed")
    op.execute(update(_ENTRY).where(_ENTRY.c.id.in_(select(failed.c.id))).values(sort_at=place))
    for each in _LABELS:
        of_entry = select(_ENTRY.c.sort_at).where(_ENTRY.c.id == each.c.entry_id).scalar_subquery()
        op.execute(update(each).where(each.c.entry_id.in_(_FAILED)).values(sort_at=of_entry))
