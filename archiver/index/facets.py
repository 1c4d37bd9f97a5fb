"""What some entries are of: sites, tags, years and kinds, with how many of them each has."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal_column, select, union_all

from archiver.index.bulk import THESE
from archiver.index.connection import AsyncConnection
from archiver.index.dialect.functions import YearOf
from archiver.index.schema import document, entry, entry_tag, tag
from archiver.model.listing import Facet, FacetValue
from archiver.query.tree import Condition

MOST_VALUES = 8
_ORDER = (Condition.SITE, Condition.TAG, Condition.ADDED, Condition.TYPE)
_ROWS = (
    select(entry.c.host, YearOf(entry.c.added_at).label("year"), document.c.kind)
    .select_from(entry.outerjoin(document, document.c.id == entry.c.document_id))
    .where(entry.c.id.in_(THESE))
    .cte("these_entries")
)


def _most(
    condition: Condition, value: ColumnElement[Any], counted: Select[Any]
) -> Select[*tuple[Any, ...]]:
    """The most frequent values, counted where they lie; of two alike the alphabet's first."""
    number = func.count()
    most = (
        counted.with_only_columns(value.label("value"), number.label("number"))
        .where(value != literal_column("''"))
        .group_by(value)
        .order_by(number.desc(), value)
        .limit(MOST_VALUES)
        .subquery()
    )
    return select(literal_column(f"'{condition}'").label("field"), most.c.value, most.c.number)


_TAGGED = (
    select(tag.c.name)
    .select_from(entry_tag.join(tag, tag.c.id == entry_tag.c.tag_id))
    .where(entry_tag.c.entry_id.in_(THESE))
)
_FACETS = union_all(
    _most(Condition.SITE, _ROWS.c.host, select(_ROWS)),
    _most(Condition.TAG, tag.c.name, _TAGGED),
    _most(Condition.ADDED, _ROWS.c.year, select(_ROWS)),
    _most(Condition.TYPE, _ROWS.c.kind, select(_ROWS)),
)


async def facets_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> tuple[Facet, ...]:
    """The most frequent values of each facet among these entries; those that tell nothing go."""
    found: dict[str, list[FacetValue]] = {}
    for field, value, number in await conn.execute(_FACETS, {"these": entry_ids}):
        found.setdefault(field, []).append(FacetValue(value, number))
    return tuple(
        Facet(each.value, tuple(found[each.value])) for each in _ORDER if each.value in found
    )
