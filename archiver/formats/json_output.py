"""Conversion of values to JSON."""

import json
from typing import Any

from msgspec import to_builtins

ANNOTATION = "annotation"


def to_document(value: Any) -> Any:
    """Convert a value to JSON types in the form that the API uses."""
    return flattened(to_builtins(value))


def flattened(document: Any) -> Any:
    """Move the fields of each annotation into the object that contains the annotation."""
    if isinstance(document, dict):
        within = document.get(ANNOTATION)
        properties = {key: flattened(value) for key, value in document.items() if key != ANNOTATION}
        return {**within, **properties} if isinstance(within, dict) else properties
    if isinstance(document, list | tuple):
        return [flattened(each) for each in document]
    return document


def flattened_schema(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return JSON schemas for the output of ``flattened``, given those for its input."""
    within = schemas.get("Annotation")
    if within is None:
        return schemas
    flat = {
        name: _flatten_one(schema, within)
        for name, schema in schemas.items()
        if schema is not within
    }
    # Keep the schema of annotations if it is still used, as in a list of annotations.
    has_reference = '/Annotation"' in json.dumps(flat)
    return flat | {"Annotation": within} if has_reference else flat


def _flatten_one(schema: dict[str, Any], within: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    if ANNOTATION not in properties:
        return schema
    remaining = {name: each for name, each in properties.items() if name != ANNOTATION}
    required = [each for each in schema.get("required", ()) if each != ANNOTATION]
    return schema | {
        "properties": {**within["properties"], **remaining},
        "required": [*dict.fromkeys([*within.get("required", ()), *required])],
    }
