"""JSON requests, query parameters and responses.

Times are ISO 8601 in UTC, states and kinds are names, missing values are null.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from aiohttp import web
from multidict import MultiMapping
from pydantic import ConfigDict, TypeAdapter, ValidationError

from archiver.errors import InputError
from archiver.formats.json_output import flattened
from archiver.model.imports import Choices
from archiver.model.listing import ListingQuery
from archiver.services.entries import EntryDetail
from archiver.services.import_reading import typed_choices
from archiver.web.app_keys import LIMITS
from archiver.web.origin import base_path
from archiver.web.static_files import with_paths

adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Function that returns the cached Pydantic adapter of a type."""


def json_response(value: object, *, shape: Any = None, status: int = 200) -> web.Response:
    """Return a value as a JSON response.

    Args:
        value: a dataclass of the services or the model.
        shape: type of the value; needed for lists, since ``type(value)`` lacks the item type.
        status: HTTP status.
    """
    return web.Response(
        body=to_json(value, shape),
        content_type="application/json",
        status=status,
    )


def entry_response(request: web.Request, detail: EntryDetail) -> web.Response:
    """Return an entry and its snapshots as JSON."""
    return json_response(
        replace(detail, preview_images=with_paths(detail.preview_images, base_path(request)))
    )


def to_json(value: object, shape: Any = None) -> bytes:
    """Convert a value to JSON in UTF-8."""
    document = adapter(shape or type(value)).dump_python(value, mode="json")
    return json.dumps(flattened(document), ensure_ascii=False, separators=(",", ":")).encode()


MAX_JOBS = 1_000
LISTING_PARAMETERS = ("q", "tag", "host", "status", "sort", "after")
"""Query parameters for the fields of a ``ListingQuery``, except ``limit``."""
IMPORT_PARAMETERS = ("folders_as", "to_read", "capture", "into")
"""Import options with a single value."""

_MAX_DIGITS = 18
NOTHING_ELSE = ConfigDict(extra="forbid")
"""Configuration that rejects unknown fields; for bodies in which a missing field means "all"."""
_T = TypeVar("_T")


async def read_json(request: web.Request, shape: type[_T]) -> _T:
    """Read a JSON body.

    Raises:
        web.HTTPUnsupportedMediaType: the content type is not JSON.
        InputError: the body is not valid JSON, or does not match ``shape``; the message names the
            invalid field.
    """
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="Send the body as application/json.")
    async with asyncio.timeout(request.app[LIMITS].body_seconds):
        body = await request.read()
    try:
        value: _T = adapter(shape).validate_json(body, strict=True)
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
        position = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"The body is invalid{' at ' + position if position else ''}: {first['msg']}."
        ) from None
    return value


def integer_parameter(request: web.Request, name: str, default: int) -> int:
    """Return an integer query parameter.

    Raises:
        InputError: the parameter is not a whole number.
    """
    text = request.query.get(name)
    return default if text is None else _whole(name, text)


def numbers(request: web.Request, name: str) -> list[int]:
    """Return a query parameter with a comma-separated list of at most 1,000 integers.

    Raises:
        InputError: a value is not a whole number, or there are too many values.
    """
    words = [word for word in request.query.get(name, "").split(",") if word.strip()]
    if len(words) > MAX_JOBS:
        raise InputError(f"{name} can have at most {MAX_JOBS:,} numbers.")
    return [_whole(name, word.strip()) for word in words]


def requested_query(request: web.Request) -> ListingQuery:
    """Return the ``ListingQuery`` in the query parameters of a request."""
    return _listing_query(request.query)


def parse_list_query(text: str) -> ListingQuery:
    """Parse a query string that ``list_query`` returned.

    The address of an entry's page contains it, to refer to the list that the entry was opened from.
    """
    return _listing_query(dict(parse_qsl(text)) if text.count("&") < 20 else {})


def _listing_query(fields: Mapping[str, str]) -> ListingQuery:
    q, tag, host, status, sort, after = (fields.get(name, "") for name in LISTING_PARAMETERS)
    return ListingQuery(q, tag, host, status, sort, after)


def chosen(fields: MultiMapping[Any]) -> Choices:
    """Return the import options in a query or form; tags may be comma-separated.

    Raises:
        InputError: an option has an unknown value.
    """
    tags, folders, columns = (
        [str(each) for each in fields.getall(name, ())]
        for name in ("tags", "only_folder", "column")
    )
    return typed_choices(
        tags=",".join(tags).split(","),
        words={name: str(fields.get(name, "")) for name in IMPORT_PARAMETERS},
        only_folders=folders,
        columns=columns,
    )


def list_query(query: ListingQuery) -> str:
    """Return a ``ListingQuery`` as a query string.

    Empty fields are left out. If all are empty, the result is ``sort=newest``.
    """
    parameters = {name: value for name in LISTING_PARAMETERS if (value := getattr(query, name))}
    return urlencode(parameters or {"sort": "newest"})


def whole_number(text: str) -> int | None:
    """Return a number of at most 18 digits; None for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None


def _whole(name: str, text: str) -> int:
    if (number := whole_number(text)) is None:
        raise InputError(f"{name} must be a whole number.")
    return number
