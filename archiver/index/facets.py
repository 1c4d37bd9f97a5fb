"""What some entries are of: sites, tags, years and kinds, with how many of them each has."""

from collections import Counter
from collections.abc import Sequence
from heapq import nsmallest

from sqlalchemy import func, select

from archiver.index.bulk import THESE
from archiver.index.connection import AsyncConnection
from archiver.index.dialect.functions import Gathered, YearOf
from archiver.index.schema import document, entry, entry_tag, tag
from archiver.model.listing import Facet, FacetValue
from archiver.query.tree import Condition

MOST_VALUES = 8
MOST_YEARS = 20
_OWN = select(
    Gathered(entry.c.host), Gathered(YearOf(entry.c.added_at)), Gathered(document.c.kind)
).select_from(entry.outerjoin(document, document.c.id == entry.c.document_id))
_OWN = _OWN.where(entry.c.id.in_(THESE))
_NUMBER = func.count().label("number")
_NUMBERS = select(entry_tag.c.tag_id, _NUMBER).where(entry_tag.c.entry_id.in_(THESE))
_COUNTED = _NUMBERS.group_by(entry_tag.c.tag_id).subquery()
_TAGS = (
    select(tag.c.name, _COUNTED.c.number)
    .join(_COUNTED, _COUNTED.c.tag_id == tag.c.id)
    .order_by(_COUNTED.c.number.desc(), tag.c.name)
    .limit(MOST_VALUES)
)


async def facets_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> tuple[Facet, ...]:
    """The most frequent values of each facet among these entries; those that tell nothing go.

    Years stand in their order, the newest of them.
    """
    if not entry_ids:
        return ()
    these = {"these": entry_ids}
    sites, years, kinds = (await conn.execute(_OWN, these)).one()
    tags = [FacetValue(*row) for row in await conn.execute(_TAGS, these)]
    found = {
        Condition.SITE: _most(sites),
        Condition.TAG: tags,
        Condition.ADDED: _newest(years),
        Condition.TYPE: _most(kinds),
    }
    return tuple(Facet(each.value, tuple(values)) for each, values in found.items() if values)


def _most(values: Sequence[str | None] | None) -> list[FacetValue]:
    """The most frequent values; of two alike the first."""
    counts = Counter(filter(None, values or ()))
    most = nsmallest(MOST_VALUES, ((-count, value) for value, count in counts.items()))
    return [FacetValue(value, -less) for less, value in most]


def _newest(years: Sequence[str | None] | None) -> list[FacetValue]:
    counts = Counter(filter(None, years or ()))
    return [FacetValue(each, counts[each]) for each in sorted(counts, reverse=True)[:MOST_YEARS]]
