"""Hands what docstrings say of attributes on to the properties of the JSON schemas made of them."""

import re
from collections.abc import Iterator
from typing import Any

_HEADING = "Attributes:\n"
_ATTRIBUTES = re.compile(r"^ {4}(\w+(?:, \w+)*): (.+(?:\n {6,}\S.*)*)", re.MULTILINE)


def with_field_descriptions(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of an object, each property described by the line of the docstring that names it."""
    purpose, heading, attributes = schema.get("description", "").partition(_HEADING)
    if not heading:
        return schema
    described = dict(_described(attributes))
    properties = {
        name: each | {"description": described[name]} if name in described else each
        for name, each in schema.get("properties", {}).items()
    }
    return schema | {"description": purpose.strip(), "properties": properties}


def _described(attributes: str) -> Iterator[tuple[str, str]]:
    for names, text in _ATTRIBUTES.findall(attributes):
        for name in names.split(", "):
            yield name, " ".join(text.split())
