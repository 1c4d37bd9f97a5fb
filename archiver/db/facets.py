"""Facets: the number of entries of a list by site, tag, year and type."""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import MAXYEAR, UTC, datetime
from functools import lru_cache
from heapq import nsmallest
from operator import attrgetter

from sqlalchemy import CompoundSelect, Integer, Select, bindparam, func, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import THESE, ArrayAggregate
from archiver.db.schema import document, entry, entry_tag, tag
from archiver.model.listing import Facet, FacetValue
from archiver.search.query_tree import Condition

FACETS = (Condition.SITE, Condition.TAG, Condition.ADDED, Condition.TYPE)
"""Facet fields in display order."""
MAX_VALUES = 8
"""Maximum number of values of a facet."""
MAX_YEARS = 20
"""Maximum number of years in the facet of years."""
_MAX_SPANNED = 100
_OWN = select(
    ArrayAggregate(entry.c.host),
    ArrayAggregate(entry.c.added_at),
    ArrayAggregate(document.c.kind),
).select_from(entry.outerjoin(document, document.c.id == entry.c.document_id))
_OWN = _OWN.where(entry.c.id.in_(THESE))
_NUMBER = func.count().label("number")
_NUMBERS = select(entry_tag.c.tag_id, _NUMBER).where(entry_tag.c.entry_id.in_(THESE))
_COUNTED = _NUMBERS.group_by(entry_tag.c.tag_id).subquery()
_TAGS = (
    select(tag.c.name, _COUNTED.c.number)
    .join(_COUNTED, _COUNTED.c.tag_id == tag.c.id)
    .order_by(_COUNTED.c.number.desc(), tag.c.name)
    .limit(MAX_VALUES)
)
_MOST_USED_TAGS = (
    select(tag.c.name, tag.c.entry_count)
    .where(tag.c.entry_count > 0)
    .order_by(tag.c.entry_count.desc())
    .limit(MAX_VALUES)
)
_ENDS = select(
    select(func.min(entry.c.added_at)).scalar_subquery(),
    select(func.max(entry.c.added_at)).scalar_subquery(),
)
"""Times of the oldest and the newest entry.

Each subquery reads one end of the index; a single query for both would read the whole index.
"""


async def facets_of_all(conn: AsyncConnection, *, most: int) -> tuple[Facet, ...]:
    """Return two facets of all entries: tags and years. Other facets are slow to compute.

    Args:
        conn: a connection.
        most: maximum count of a year; counting stops there.
    """
    tags = [FacetValue(*row) for row in await conn.execute(_MOST_USED_TAGS)]
    first, last = (await conn.execute(_ENDS)).one()
    if first is None:
        return ()
    newest = min(datetime.fromtimestamp(last, UTC).year, MAXYEAR - 1)
    oldest = max(datetime.fromtimestamp(first, UTC).year, newest - _MAX_SPANNED + 1)
    rows = await conn.execute(_years_from(min(oldest, newest), newest), {"most": most})
    years = [FacetValue(f"{year:04}", count, is_more=count == most) for year, count in rows]
    newest_first = sorted(
        (each for each in years if each.count), key=attrgetter("value"), reverse=True
    )
    return (
        Facet(Condition.TAG.value, tuple(tags), is_of_all=True),
        Facet(Condition.ADDED.value, tuple(newest_first[:MAX_YEARS]), is_of_all=True),
    )


@lru_cache(8)
def _years_from(oldest: int, newest: int) -> CompoundSelect[int, int]:
    """Return the query for the number of entries of each year; cached, as it is slow to build."""
    return union_all(*(_of_year(year) for year in range(oldest, newest + 1)))


def _of_year(year: int) -> Select[int, int]:
    first, end = (int(datetime(each, 1, 1, tzinfo=UTC).timestamp()) for each in (year, year + 1))
    within = select(entry.c.added_at).where(entry.c.added_at >= first, entry.c.added_at < end)
    sample = within.limit(bindparam("most", type_=Integer)).subquery(f"year_{year}")
    return select(literal(year, Integer), func.count()).select_from(sample)


async def facets_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> tuple[Facet, ...]:
    """Return the facets of some entries.

    A facet has its most frequent values, but the facet of years has the newest years. Facets
    without values are left out.
    """
    if not entry_ids:
        return ()
    these = {"these": entry_ids}
    sites, times, kinds = (await conn.execute(_OWN, these)).one()
    tags = [FacetValue(*row) for row in await conn.execute(_TAGS, these)]
    facets = {
        Condition.SITE: _most_frequent(sites),
        Condition.TAG: tags,
        Condition.ADDED: _newest_years(times),
        Condition.TYPE: _most_frequent(kinds),
    }
    return tuple(Facet(each.value, tuple(values)) for each, values in facets.items() if values)


def _most_frequent(values: Sequence[str | None] | None) -> list[FacetValue]:
    """Return the most frequent values; values with the same count are in alphabetical order."""
    counts = Counter(filter(None, values or ()))
    most = nsmallest(MAX_VALUES, ((-count, value) for value, count in counts.items()))
    return [FacetValue(value, -negative) for negative, value in most]


def _newest_years(times: Sequence[int] | None) -> list[FacetValue]:
    """Return the newest years (UTC) of times in Unix seconds, with their number of entries."""
    counts = Counter(f"{time.gmtime(each).tm_year:04}" for each in times or ())
    return [FacetValue(each, counts[each]) for each in sorted(counts, reverse=True)[:MAX_YEARS]]
