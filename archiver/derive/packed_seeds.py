"""Seeds as columns of plain values: how thousands of them go from one process to another.

A row costs what its JSON costs and little more: a column is made, and read, by functions that run
over all of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from itertools import starmap
from operator import attrgetter
from typing import Any

from archiver.model.annotation import Annotation
from archiver.model.highlight import Highlight
from archiver.model.seed import Seed
from archiver.warc.web_annotation import read_web_annotation, write_web_annotation

_ADDRESS = ("hash_url", "url", "host")


def pack_columns(seeds: Sequence[Seed]) -> list[Sequence[Any]]:
    """Seeds as columns: of their addresses, then a column for each field of an annotation."""
    columns: list[Sequence[Any]] = [*zip(*map(_values, seeds), strict=True)]
    for place, write in _WRITERS.items():
        if columns and any(columns[place]):
            columns[place] = [*map(write, columns[place])]
    return columns


def read_columns(columns: Sequence[Sequence[Any]]) -> list[Seed]:
    """The seeds of which these are the columns.

    Raises:
        KeyError, TypeError, ValueError: they are not what they must be.
    """
    if not columns:
        return []
    keys, urls, hosts, *said = [
        map(_READERS[place], column) if place in _READERS else column
        for place, column in enumerate(columns)
    ]
    return [*map(Seed, keys, urls, hosts, starmap(Annotation, zip(*said, strict=True)))]


def _values(seed: Seed) -> tuple[Any, ...]:
    return (seed.hash_url, seed.url, seed.host, *_said(seed.annotation))


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() // 1)


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _written(highlights: Iterable[Highlight]) -> list[dict[str, Any]]:
    return [*map(write_web_annotation, highlights)]


def _highlights(written: Iterable[Mapping[str, Any]]) -> tuple[Highlight, ...]:
    return tuple(map(read_web_annotation, written)) if written else ()


_said = attrgetter(*(each.name for each in fields(Annotation)))
_TYPES = {place: each.type for place, each in enumerate(fields(Annotation), len(_ADDRESS))}
_NOT_JSON: Mapping[Any, tuple[Callable[[Any], Any] | None, Callable[[Any], Any]]] = {
    datetime | None: (_seconds, _moment),
    tuple[str, ...]: (None, tuple),
    tuple[int, ...]: (None, tuple),
    tuple[Highlight, ...]: (_written, _highlights),
}
"""How fields of a type are written, where JSON does not do that as it is, and read."""
_WRITERS = {
    place: write
    for place, kind in _TYPES.items()
    if kind in _NOT_JSON and (write := _NOT_JSON[kind][0])
}
_READERS = {place: _NOT_JSON[kind][1] for place, kind in _TYPES.items() if kind in _NOT_JSON}
