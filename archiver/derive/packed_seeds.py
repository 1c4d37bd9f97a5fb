"""Seeds as columns of plain values: how thousands of them go from one process to another.

A row costs what its JSON costs and little more: a column is made, and read, by functions that run
over all of it. What is the same for all of them is said once, and an address that was given as it
is read is not said again.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from archiver.model.annotation import Annotation
from archiver.model.highlight import Highlight
from archiver.model.seed_columns import ANNOTATION_FIELDS, SeedColumns
from archiver.warc.web_annotation import read_web_annotation, write_web_annotation

_ADDRESS = 3
_URL = 1


def pack_columns(
    addresses: Sequence[tuple[str, str, str]], annotations: Sequence[Annotation], source: str = ""
) -> list[Any]:
    """Seeds as columns: of their addresses, then a column for each field of an annotation.

    In the place of a column that says little stands an object that tells what it is.

    Args:
        addresses: hash_url, URL and host of each.
        annotations: of each.
        source: of those that have none.
    """
    columns: list[Sequence[Any]] = [
        *zip(*addresses, strict=True),
        *zip(*map(_annotation_values, annotations), strict=True),
    ]
    if source and columns:
        columns[_SOURCE] = [each or source for each in columns[_SOURCE]]
    for place, write in _WRITERS:
        if columns and any(columns[place]):
            columns[place] = [*map(write, columns[place])]
    return [_shortened(place, column, columns) for place, column in enumerate(columns)]


def read_columns(columns: Sequence[Any]) -> SeedColumns:
    """The seeds of which these are the columns, as ``pack_columns`` made them.

    Raises:
        KeyError, TypeError, ValueError: they are not what they must be.
    """
    whole: list[Sequence[Any]] = []
    for column in columns:
        whole.append(_whole(column, whole) if isinstance(column, dict) else column)
    keys, urls, hosts, *values = whole or [()] * (_ADDRESS + len(ANNOTATION_FIELDS))
    annotations = dict(zip(ANNOTATION_FIELDS, values, strict=True))
    if any(annotations["highlights"]):
        annotations["highlights"] = [*map(_highlights, annotations["highlights"])]
    return SeedColumns(keys, urls, hosts, annotations)


def _shortened(
    place: int, column: Sequence[Any], columns: Sequence[Sequence[Any]]
) -> Sequence[Any] | dict[str, Any]:
    """A column, or in its place what it says."""
    if place < _ADDRESS:
        return column
    if column.count(column[0]) == len(column):
        return {"each": column[0]}
    return {"as": _URL} if column == columns[_URL] else column


def _whole(told: dict[str, Any], before: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """The column of which this tells."""
    try:
        return before[told["as"]] if "as" in told else [told["each"]] * len(before[0])
    except IndexError:
        raise ValueError("A column is as one that is not there.") from None


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() // 1)


def _written(highlights: Iterable[Highlight]) -> list[dict[str, Any]]:
    return [*map(write_web_annotation, highlights)]


def _highlights(written: Iterable[dict[str, Any]]) -> tuple[Highlight, ...]:
    return tuple(map(read_web_annotation, written)) if written else ()


_annotation_values = attrgetter(*ANNOTATION_FIELDS)
_SOURCE = _ADDRESS + ANNOTATION_FIELDS.index("source")
_WRITERS: Sequence[tuple[int, Callable[[Any], Any]]] = (
    (_ADDRESS + ANNOTATION_FIELDS.index("added_at"), _seconds),
    (_ADDRESS + ANNOTATION_FIELDS.index("highlights"), _written),
)
"""How fields are written, by their column, where JSON does not do that as it is."""
