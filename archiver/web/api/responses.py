"""JSON responses.

Times are ISO 8601 in UTC, states and kinds their names, absent values null.
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
    """Return what reads, writes and describes values of a type; made once a type."""
    if shape not in _ADAPTERS:
        _ADAPTERS[shape] = TypeAdapter(shape)
    return _ADAPTERS[shape]


def answer(value: object, *, shape: Any = None, status: int = 200) -> web.Response:
    """Return a value as JSON.

    Args:
        value: a dataclass of the services or the model.
        shape: its type, where ``type(value)`` does not say it (lists).
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
    """A value as the API says it."""
    document = adapter(shape or type(value)).dump_python(value, mode="json")
    return json.dumps(flattened(document), ensure_ascii=False, separators=(",", ":")).encode()
