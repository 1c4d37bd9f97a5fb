"""What some entries are of: sites, tags, years and kinds, with how many of them each has."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select

from archiver.index.bulk import among
from archiver.index.connection import AsyncConnection
from archiver.index.dialect.functions import YearOf
from archiver.index.schema import document, entry, entry_tag, tag
from archiver.model.listing import Facet, FacetValue
from archiver.query.tree import Condition

MOST_VALUES = 8


async def facets_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> tuple[Facet, ...]:
    """The most frequent values of each facet among these entries; those that tell nothing go."""
    found = []
    for condition, query in _QUERIES.items():
        rows = await conn.execute(
            query.where(entry.c.id.in_(among(entry_ids)))
            .add_columns(func.count().label("entries"))
            .group_by("value")
            .order_by(func.count().desc(), "value")
            .limit(MOST_VALUES)
        )
        values = tuple(FacetValue(str(row.value), row.entries) for row in rows if row.value)
        if values:
            found.append(Facet(condition.value, values))
    return tuple(found)


_QUERIES: dict[Condition, Select[Any]] = {
    Condition.SITE: select(entry.c.host.label("value")),
    Condition.TAG: select(tag.c.name.label("value"))
    .select_from(entry)
    .join(entry_tag, entry_tag.c.entry_id == entry.c.id)
    .join(tag, tag.c.id == entry_tag.c.tag_id),
    Condition.ADDED: select(YearOf(entry.c.added_at).label("value")),
    Condition.TYPE: select(document.c.kind.label("value"))
    .select_from(entry)
    .join(document, document.c.id == entry.c.document_id),
}
