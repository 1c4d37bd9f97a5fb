"""Makes a click of each value of a facet: the query that narrows a list by it, or no more does."""

from dataclasses import replace

from archiver.errors import InvalidQuery
from archiver.model.listing import Facet, FacetValue
from archiver.query.parse import parse_query
from archiver.query.tree import Node, conjuncts, every, write


def narrowing(facet: Facet, tree: Node) -> Facet:
    """A facet whose values know the query that each leads to."""
    return replace(
        facet, values=tuple(_narrowing(facet.field, each, tree) for each in facet.values)
    )


def _narrowing(field: str, value: FacetValue, tree: Node) -> FacetValue:
    try:
        node = parse_query(f'{field}:"{value.value}"')
    except InvalidQuery:
        return value
    others = [each for each in conjuncts(tree) if each != node]
    is_chosen = len(others) < len(conjuncts(tree))
    query = write(every(others if is_chosen else [*others, node]))
    return replace(value, query=query, is_chosen=is_chosen) if _is_read(query) else value


def _is_read(query: str) -> bool:
    try:
        parse_query(query)
    except InvalidQuery:
        return False
    return True
