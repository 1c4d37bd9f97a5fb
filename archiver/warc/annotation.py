"""An annotation as JSON says it, and back: each field by its type, whichever there are."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any

from archiver.model.annotation import Annotation
from archiver.model.highlight import Highlight
from archiver.warc.web_annotation import read_web_annotation, write_web_annotation
from archiver.wire.moments import read_iso, write_iso
from archiver.wire.text import well_formed


def write_annotation(annotation: Annotation) -> dict[str, Any]:
    """The JSON of an annotation, without what says nothing but its address."""
    return {name: _written(name, value) for name in _FIELDS if (value := getattr(annotation, name))}


def read_annotation(document: Mapping[str, Any]) -> Annotation:
    """An annotation from its JSON; fields that are not known are passed over.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not what it must be.
    """
    known = {
        name: read(document[name])
        for name, read in _FIELDS.items()
        if name != _GIVEN and name in document
    }
    return Annotation(text(document[_GIVEN]), **known)


def text(value: object) -> str:
    """What stands where a text must."""
    return well_formed(str(value))


iso = lru_cache(256)(write_iso)
"""A moment to the second; many things happen in the same one."""


def _written(name: str, value: Any) -> Any:
    if name == _MARKED:
        return [write_web_annotation(each) for each in value]
    return iso(value) if isinstance(value, datetime) else value


def _highlights(value: Any) -> tuple[Highlight, ...]:
    return tuple(map(read_web_annotation, value))


def _numbers(value: Any) -> tuple[int, ...]:
    return tuple(map(int, value))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(text, value))


_GIVEN, _MARKED = "url_given", "highlights"
_READERS: Mapping[Any, Callable[[Any], Any]] = {
    str: text,
    bool: bool,
    tuple[str, ...]: _texts,
    tuple[int, ...]: _numbers,
    datetime | None: read_iso,
    tuple[Highlight, ...]: _highlights,
}
_FIELDS = {each.name: _READERS[each.type] for each in fields(Annotation)}
