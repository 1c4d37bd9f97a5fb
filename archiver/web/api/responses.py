"""JSON responses.

Times are ISO 8601 in UTC, states and kinds are names, missing values are null.
"""

import json
from dataclasses import replace
from typing import Any

from aiohttp import web
from pydantic import TypeAdapter

from archiver.formats.json_output import flattened
from archiver.services.entries import EntryDetail
from archiver.web.static_files import addressed

_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def adapter(shape: Any) -> TypeAdapter[Any]:
    """Return the cached Pydantic adapter of a type."""
    if shape not in _ADAPTERS:
        _ADAPTERS[shape] = TypeAdapter(shape)
    return _ADAPTERS[shape]


def answer(value: object, *, shape: Any = None, status: int = 200) -> web.Response:
    """Return a value as a JSON response.

    Args:
        value: a dataclass of the services or the model.
        shape: its type, if ``type(value)`` is not enough (lists).
        status: HTTP status.
    """
    return web.Response(
        body=to_json(value, shape),
        content_type="application/json",
        status=status,
    )


def entry_answer(detail: EntryDetail) -> web.Response:
    """Return an entry and its snapshots as JSON."""
    return answer(replace(detail, emblems=addressed(detail.emblems)))


def to_json(value: object, shape: Any = None) -> bytes:
    """Convert a value to JSON-compatible data."""
    document = adapter(shape or type(value)).dump_python(value, mode="json")
    return json.dumps(flattened(document), ensure_ascii=False, separators=(",", ":")).encode()
