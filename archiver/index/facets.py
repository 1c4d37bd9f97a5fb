"""What some entries are of: sites, tags, years and kinds, with how many of them each has."""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import func, select

from archiver.index.bulk import THESE
from archiver.index.connection import AsyncConnection
from archiver.index.dialect.functions import YearOf
from archiver.index.schema import document, entry, entry_tag, tag
from archiver.model.listing import Facet, FacetValue
from archiver.query.tree import Condition

MOST_VALUES = 8


_ROWS = (
    select(entry.c.host, YearOf(entry.c.added_at), document.c.kind)
    .select_from(entry.outerjoin(document, document.c.id == entry.c.document_id))
    .where(entry.c.id.in_(THESE))
)
_TAGS = (
    select(tag.c.name, func.count())
    .select_from(entry_tag)
    .join(tag, tag.c.id == entry_tag.c.tag_id)
    .where(entry_tag.c.entry_id.in_(THESE))
    .group_by(tag.c.id)
)


async def facets_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> tuple[Facet, ...]:
    """The most frequent values of each facet among these entries; those that tell nothing go."""
    rows = (await conn.execute(_ROWS, {"these": entry_ids})).all()
    sites, years, kinds = zip(*rows, strict=True) if rows else ((), (), ())
    counted: dict[Condition, Counter[str]] = {
        Condition.SITE: Counter(sites),
        Condition.TAG: Counter(dict((await conn.execute(_TAGS, {"these": entry_ids})).all())),
        Condition.ADDED: Counter(years),
        Condition.TYPE: Counter(kinds),
    }
    most = ((condition, _most(counts)) for condition, counts in counted.items())
    return tuple(Facet(condition.value, values) for condition, values in most if values)


def _most(counts: Counter[str]) -> tuple[FacetValue, ...]:
    """The most frequent ones; of two alike the one that the alphabet has first."""
    known = ((value, count) for value, count in counts.items() if value)
    put = sorted(known, key=lambda each: (-each[1], each[0]))
    return tuple(FacetValue(value, count) for value, count in put[:MOST_VALUES])
