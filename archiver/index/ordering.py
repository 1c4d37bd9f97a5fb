"""Puts some entries in an order that no index holds."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import THESE
from archiver.index.conditions import with_document
from archiver.index.dialect.functions import Gathered
from archiver.index.entries import Place
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


def _ranking(sort: Sort) -> Select[*tuple[Any, ...]]:
    """The ids of some entries and their ranks, two lists: one row is handed over at once."""
    rank = func.dense_rank().over(order_by=_ORDERS[sort])
    query = select(entry.c.id, rank.label("rank")).select_from(entry)
    if sort is Sort.LENGTH:
        query = with_document(query)
    ranked = query.where(entry.c.id.in_(THESE)).subquery("ranked")
    return select(Gathered(ranked.c.id), Gathered(ranked.c.rank))


_RANKINGS = {sort: _ranking(sort) for sort in _ORDERS}


async def in_order(conn: AsyncConnection, entry_ids: Sequence[int], sort: Sort) -> list[int]:
    """These entries by when they were saved or captured, by title, the longest or the worst first.

    Ties stay as given.
    """
    places = {entry_id: place for place, entry_id in enumerate(entry_ids)}
    ids, ranks = (await conn.execute(_RANKINGS[sort], {"these": entry_ids})).one()
    put = sorted(zip(ranks or (), map(places.__getitem__, ids or ()), strict=True))
    return [entry_ids[place] for _, place in put]


_DOCUMENTS = select(entry.c.id, entry.c.document_id).where(entry.c.id.in_(THESE))


async def by_day(conn: AsyncConnection, places: Sequence[Place], sort: Sort) -> list[int]:
    """The entries of places, by when they were saved; of one moment what was read last."""
    rows = await conn.execute(_DOCUMENTS, {"these": [each.row for each in places]})
    read = {row.id: row.document_id or 0 for row in rows}
    sign = 1 if sort is Sort.OLDEST else -1
    put = sorted(places, key=lambda each: (sign * each.first, -read.get(each.row, 0)))
    return [each.row for each in put]
