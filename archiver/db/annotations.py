"""User metadata of entries."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import Row

from archiver.db.schema import entry
from archiver.db.tags_and_lists import Labels
from archiver.model.annotation import Annotation, Highlight
from archiver.warc.annotation_json import read_web_annotation, write_web_annotation

_IN_ROWS = frozenset({"tags", "folders", "places"})
"""Fields stored in separate tables (tags and lists)."""
_CALLED = {"title": "given_title"}
"""Columns with another name than their field, because pages have titles too."""
COLUMNS = {
    each.name: entry.c[_CALLED.get(each.name, each.name)]
    for each in fields(Annotation)
    if each.name not in _IN_ROWS
}
"""Columns by annotation field. A new field needs a column of the same name."""
_FLAGS = [each.name for each in fields(Annotation) if each.type is bool]
_UNDATED = "nobody knows yet when it was saved"
NAMES = tuple(column.name for column in COLUMNS.values())


def values(annotation: Annotation) -> tuple[str | int, ...]:
    """Return the values of an annotation in the order of ``NAMES``.

    Raises:
        ValueError: the annotation has no date yet.
    """
    written = [*_fields_of(annotation)]
    for place, write in _WRITERS:
        written[place] = write(written[place])
    return tuple(written)


def by_column(annotation: Annotation) -> dict[str, str | int]:
    """Return the values of an annotation by the name of their column; tags and lists aside.

    Raises:
        ValueError: the annotation has no date.
    """
    return dict(zip(NAMES, values(annotation), strict=True))


def changes(before: Annotation, after: Annotation) -> Mapping[str, str | int]:
    """Return all columns by name if any differs, except tags and lists."""
    new = by_column(after)
    return new if new != by_column(before) else {}


def of_row(row: Row[*tuple[Any, ...]], labels: Labels) -> Annotation:
    """Build the annotation of a row with ``NAMES``, with the tags and lists of its entry."""
    found = [*_columns(row)]
    for place, read in _READERS:
        found[place] = read(found[place])
    annotation = Annotation(tags=labels.tags, **dict(zip(COLUMNS, found, strict=True)))
    return annotation.in_lists(labels.lists) if labels.lists else annotation


def _marked(highlights: str) -> tuple[Highlight, ...]:
    return tuple(map(read_web_annotation, json.loads(highlights))) if highlights else ()


def _moment(added_at: int) -> datetime:
    return datetime.fromtimestamp(added_at, UTC)


def _seconds(added_at: datetime | None) -> int:
    if added_at is None:
        raise ValueError(_UNDATED)
    return int(added_at.timestamp())


def _highlights(highlights: Sequence[Highlight]) -> str:
    marked = [*map(write_web_annotation, highlights)]
    return json.dumps(marked, ensure_ascii=False, separators=(",", ":")) if marked else ""


_fields_of = attrgetter(*COLUMNS)
_APART: Mapping[str, Callable[[Any], str | int]] = {
    "added_at": _seconds,
    "highlights": _highlights,
}
_WRITERS = [(place, _APART[field]) for place, field in enumerate(COLUMNS) if field in _APART]
"""Conversion functions of fields by position in ``COLUMNS``; other fields need none."""
_columns = attrgetter(*NAMES)
_READ: Mapping[str, Callable[[Any], Any]] = {
    "added_at": _moment,
    "highlights": _marked,
    **dict.fromkeys(_FLAGS, bool),
}
_READERS = [(place, _READ[field]) for place, field in enumerate(COLUMNS) if field in _READ]
"""Conversion functions of columns when read."""
