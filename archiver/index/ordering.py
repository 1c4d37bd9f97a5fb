"""Puts some entries in an order that no index holds."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, func, select

from archiver.index.bulk import among
from archiver.index.conditions import with_document
from archiver.index.connection import AsyncConnection
from archiver.index.schema import document, entry
from archiver.model.listing import Sort

_TITLE = func.coalesce(func.nullif(entry.c.given_title, ""), func.nullif(entry.c.page_title, ""))
_ORDERS: dict[Sort, ColumnElement[object]] = {
    Sort.NEWEST: entry.c.added_at.desc(),
    Sort.OLDEST: entry.c.added_at.asc(),
    Sort.CAPTURED: entry.c.sort_at.desc(),
    Sort.TITLE: func.lower(func.coalesce(_TITLE, entry.c.url)),
    Sort.LENGTH: document.c.word_count.desc().nulls_last(),
    Sort.SCORE: entry.c.score.asc().nulls_last(),
}


async def in_order(conn: AsyncConnection, entry_ids: Sequence[int], sort: Sort) -> list[int]:
    """These entries by when they were saved or captured, by title, the longest or the worst first.

    Ties stay as given.
    """
    places = {entry_id: place for place, entry_id in enumerate(entry_ids)}
    order = _ORDERS[sort]
    rank = func.dense_rank().over(order_by=order)
    query = with_document(select(entry.c.id, rank.label("rank")).select_from(entry))
    rows = await conn.execute(query.where(entry.c.id.in_(among(entry_ids))))
    return [row.id for row in sorted(rows, key=lambda row: (row.rank, places[row.id]))]
