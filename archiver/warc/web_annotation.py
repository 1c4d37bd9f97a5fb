"""A highlight as a W3C Web Annotation (https://www.w3.org/TR/annotation-model/), and back."""

import re
from collections.abc import Mapping
from typing import Any

from archiver.model.highlight import Colour, Highlight
from archiver.wire.moments import read_iso, write_iso
from archiver.wire.text import well_formed

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_ID = "urn:archiver:highlight:"
_KNOWN_ID = re.compile(r"[0-9a-f]{16}")


def write_web_annotation(highlight: Highlight, source: str = "") -> dict[str, Any]:
    """The JSON of a highlight; ``source`` is the page, where whoever holds it does not say."""
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
    """What ``write_web_annotation`` wrote.

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
