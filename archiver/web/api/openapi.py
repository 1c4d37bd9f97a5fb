"""OpenAPI document.

There is one ``Operation`` per route; a test verifies it.
"""

import re
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from typing import Any, Literal

from aiohttp import web
from pydantic import TypeAdapter

from archiver import __version__
from archiver.formats.json_output import flattened_schema
from archiver.web.api.operations import OPERATIONS, Json, Operation, Parameter

_HEADING = "Attributes:\n"
_ATTRIBUTES = re.compile(r"^ {4}(\w+(?:, \w+)*): (.+(?:\n {6,}\S.*)*)", re.MULTILINE)


def with_field_descriptions(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with property descriptions from the fields' docstring."""
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


_Mode = Literal["serialization", "validation"]


async def document(_request: web.Request) -> web.StreamResponse:
    """Serve the OpenAPI document."""
    return web.json_response(describe())


@cache
def describe() -> Json:
    """Return the document (OpenAPI 3.1.1)."""
    shapes: list[tuple[str, _Mode, TypeAdapter[Any]]] = [
        *((each.name, "serialization", TypeAdapter(each.gives)) for each in OPERATIONS),
        *(
            (f"{each.name} body", "validation", TypeAdapter(shape))
            for each in OPERATIONS
            for _, shape in each.takes
            if shape is not bytes
        ),
    ]
    named, defined = TypeAdapter.json_schemas(shapes, ref_template="#/components/schemas/{model}")
    schemas = {name: schema for (name, _), schema in named.items()}
    values = {name: with_field_descriptions(each) for name, each in defined["$defs"].items()}
    found: Json = {}
    for each in OPERATIONS:
        found.setdefault(each.path, {})[each.method] = _describe(each, schemas)
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "archiver",
            "version": __version__,
            "description": "A wayback machine of one's own.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": found,
        "security": [{}, {"password": []}, {"basic": []}],
        "components": {
            "schemas": flattened_schema(values) | {"Error": _ERROR},
            "responses": {"Error": _problem()},
            "securitySchemes": {
                "password": {"type": "http", "scheme": "bearer"},
                "basic": {"type": "http", "scheme": "basic"},
            },
        },
    }


_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "A name for programs."},
                "message": {"type": "string", "description": "A sentence for people."},
            },
        }
    },
}


def _problem() -> Json:
    return {
        "description": "It could not be done; the body says why.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _describe(operation: Operation, schemas: Json) -> Json:
    content = {operation.media_type: {"schema": schemas[operation.name]}}
    described: Json = {
        "operationId": operation.name,
        "summary": operation.says,
        "parameters": [_parameter(each) for each in operation.parameters],
        "responses": {
            str(operation.status): {
                "description": HTTPStatus(operation.status).phrase,
                "content": content,
            },
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if operation.takes:
        body = schemas.get(f"{operation.name} body", {})
        described["requestBody"] = {
            "required": True,
            "content": {kind: {"schema": _body(kind, body)} for kind, _ in operation.takes},
        }
    return described


def _parameter(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.says,
        "schema": parameter.schema,
    }


def _body(kind: str, schema: Json) -> Json:
    """Return the schema of a body; in 3.1 a bare file is an empty one (OpenAPI §4.14.2)."""
    if kind == "multipart/form-data":
        file = {"type": "string", "contentMediaType": "application/octet-stream"}
        return {"type": "object", "required": ["file"], "properties": {"file": file}}
    return schema
