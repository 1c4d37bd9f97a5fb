"""User metadata and highlights as JSON."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any

from archiver.http.text_decoders import well_formed
from archiver.http.timestamps import read_iso, write_iso
from archiver.model.annotation import Annotation, Colour, Highlight

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_ID = "urn:archiver:highlight:"
_KNOWN_ID = re.compile(r"[0-9a-f]{16}")


def write_web_annotation(highlight: Highlight, source: str = "") -> dict[str, Any]:
    """Return a highlight as JSON. ``source`` is the URL of the page, for contexts without one."""
    quote: dict[str, Any] = {"type": "TextQuoteSelector", "exact": highlight.quote}
    for name in ("prefix", "suffix"):
        if value := getattr(highlight, name):
            quote[name] = value
    selectors = [quote]
    if highlight.start >= 0:
        end = highlight.start + len(highlight.quote)
        place = {"type": "TextPositionSelector", "start": highlight.start, "end": end}
        selectors.append(place)
    target: dict[str, Any] = {"selector": selectors, "styleClass": highlight.colour.value}
    if source:
        target["source"] = source
    if highlight.timestamp:
        target["state"] = {"type": "TimeState", "sourceDate": highlight.timestamp}
    document: dict[str, Any] = {"type": "Annotation", "id": _ID + highlight.id}
    if highlight.made_at:
        document["created"] = write_iso(highlight.made_at)
    document["motivation"] = "commenting" if highlight.note else "highlighting"
    if highlight.note:
        document["body"] = {"type": "TextualBody", "value": highlight.note, "format": "text/plain"}
    return document | {"target": target}


def read_web_annotation(document: Mapping[str, Any]) -> Highlight:
    """Read a highlight that ``write_web_annotation`` wrote.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not what it must be.
    """
    target = document["target"]
    selectors = {each["type"]: each for each in target["selector"]}
    quote = selectors["TextQuoteSelector"]
    place = selectors.get("TextPositionSelector", {})
    key = str(document["id"]).removeprefix(_ID)
    if not _KNOWN_ID.fullmatch(key):
        raise ValueError(f"no highlight has the id {key[:80]}")
    created = document.get("created")
    return Highlight(
        id=key,
        quote=_text(quote["exact"]),
        prefix=_text(quote.get("prefix", "")),
        suffix=_text(quote.get("suffix", "")),
        start=int(place.get("start", -1)),
        colour=Colour(target.get("styleClass", Colour.YELLOW)),
        note=_text(document.get("body", {}).get("value", "")),
        made_at=read_iso(created) if created else None,
        timestamp=_text(target.get("state", {}).get("sourceDate", "")),
    )


def _text(value: object) -> str:
    return well_formed(str(value))


def write_annotation(annotation: Annotation) -> dict[str, Any]:
    """Return an annotation as JSON, without empty fields other than its URL."""
    return {name: _written(name, value) for name in _FIELDS if (value := getattr(annotation, name))}


def read_annotation(document: Mapping[str, Any]) -> Annotation:
    """Read an annotation from JSON; unknown fields are ignored.

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
    """Return a JSON value as well-formed text."""
    return well_formed(str(value))


iso = lru_cache(256)(write_iso)
"""Format a datetime as ISO 8601, to the second. Cached because records of one batch share dates."""


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
