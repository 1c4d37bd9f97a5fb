"""OpenAPI document and its operations.

Paths come from the routes, and descriptions from the docstrings of their handlers.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Literal

from aiohttp import web
from pydantic import TypeAdapter

from archiver import __version__
from archiver.formats.json_output import flattened_schema
from archiver.model.annotation import AnnotationChange
from archiver.model.deletion import Deleted
from archiver.model.entry_list import EntryList
from archiver.model.failure import FailureGroup
from archiver.model.feed import FollowedFeed
from archiver.model.imports import (
    CaptureWhen,
    ColumnRole,
    FoldersAs,
    ImportStatus,
    ImportSurvey,
    ToRead,
)
from archiver.model.job import Job, QueueCounts
from archiver.model.listing import Sort, Summary
from archiver.model.message import Message
from archiver.services.comparison import SnapshotDifference
from archiver.services.deletion import Restored
from archiver.services.editing import Edited, TagInUse
from archiver.services.entries import EntryDetail, SavedPage, SaveResult, SnapshotDetail
from archiver.services.highlights import Highlighted, HighlightList
from archiver.services.imports import UndoPlan
from archiver.services.page_uploads import UploadResult
from archiver.services.search import Listing
from archiver.web.api import entries, imports
from archiver.web.app_keys import OPERATIONS, RUNTIME
from archiver.web.origin import base_path, public_origin
from archiver.web.rendering import render_with_sidebar
from archiver.web.uploads import PAGE_TYPES

Json = dict[str, Any]


def _parameter(name: str, description: str, schema: Json, place: str = "query") -> Json:
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "description": description,
        "schema": schema,
    }


@dataclass(frozen=True, slots=True)
class Interface:
    """Types of a route's request and response.

    Attributes:
        returns: type of the JSON response; ``str`` for a response with text of ``media_type``.
        query: descriptions of the query parameters.
        body: type of the JSON request body; None if there is none.
        files: accepted media types if the request body is a file.
        status: status of a successful response.
        media_type: media type of the response.
    """

    returns: Any
    query: tuple[Json, ...] = ()
    body: Any = None
    files: tuple[str, ...] = ()
    status: int = 200
    media_type: str = "application/json"


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A route of the API.

    Attributes:
        method: method in lower case.
        path: path with ``{names}``.
        patterns: regular expression of each name in the path.
        name: name of the route, which is the ``operationId``.
        summary, details: first line of the handler's docstring, and the rest of it.
        interface: types of the request and the response.
    """

    method: str
    path: str
    patterns: dict[str, str]
    name: str
    summary: str
    details: str
    interface: Interface


_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_IMPORT_PARAMETERS = (
    _parameter("name", "Name of the file, if the body is the file itself.", _TEXT),
    _parameter("tags", "Tags for every link, separated by commas.", _TEXT),
    _parameter(
        "folders_as",
        "What folders become: lists, lists and a tag for each folder name or path, or nothing.",
        {"type": "string", "enum": [*FoldersAs], "default": FoldersAs.LISTS},
    ),
    _parameter(
        "to_read",
        "Which links are tagged `toread`.",
        {"type": "string", "enum": [*ToRead], "default": ToRead.AS_IN_FILE},
    ),
    _parameter(
        "capture",
        "When to capture: now, when the queue is otherwise empty, or never (save as links).",
        {"type": "string", "enum": [*CaptureWhen], "default": CaptureWhen.NOW},
    ),
    _parameter("into", "Path of a list for all links.", _TEXT),
    _parameter("only_folder", "Only links in these folders or below; can be repeated.", _TEXTS),
    _parameter(
        "column",
        f"Roles of table columns, each as `role=name`; roles are {', '.join(ColumnRole)}.",
        _TEXTS,
    ),
)
_IMPORT_TYPES = ("multipart/form-data", "application/octet-stream")
_FILTER_PARAMETERS = (
    _parameter("q", "Search query; the syntax is at /search/help.", _TEXT),
    _parameter("tag", "Only entries with this tag.", _TEXT),
    _parameter("host", "Only entries of this host.", _TEXT),
    _parameter("status", "saved, failed, queued, or an HTTP status such as 200.", _TEXT),
)
_LISTING_PARAMETERS = (
    *_FILTER_PARAMETERS,
    _parameter(
        "sort",
        "Sort order; default: best match if there are words, otherwise newest. newest and oldest "
        "sort by saved date, captured by last capture.",
        {"type": "string", "enum": [*Sort]},
    ),
    _parameter("after", "Cursor from the previous page.", _TEXT),
    _parameter("limit", "Entries per page.", {"type": "integer", "minimum": 1, "maximum": 200}),
)
_NUMBERS: Json = {"type": "string", "pattern": "^[0-9]+(,[0-9]+)*$"}


INTERFACES: dict[str, Interface] = {
    "api_save_urls": Interface(SaveResult, body=entries.SaveRequest, status=202),
    "api_entries": Interface(Listing, query=_LISTING_PARAMETERS),
    "api_find_saved": Interface(SavedPage, query=(_parameter("url", "URL of the page.", _TEXT),)),
    "api_summary": Interface(Summary, query=_FILTER_PARAMETERS),
    "api_entry": Interface(EntryDetail),
    "api_edit_entry": Interface(EntryDetail, body=AnnotationChange),
    "api_delete_entry": Interface(Deleted),
    "api_delete_snapshot": Interface(Deleted),
    "api_undo_deletion": Interface(Restored),
    "api_compare": Interface(
        SnapshotDifference,
        query=(
            _parameter(
                "from",
                "Timestamp of the earlier snapshot, 4 to 14 digits; default: the previous one.",
                _TEXT,
            ),
            _parameter("to", "Timestamp of the later snapshot; default: the newest.", _TEXT),
        ),
    ),
    "api_add_highlight": Interface(Highlighted, body=entries.HighlightRequest, status=201),
    "api_change_highlight": Interface(Highlighted, body=entries.HighlightChange),
    "api_remove_highlight": Interface(EntryDetail),
    "api_feeds": Interface(list[FollowedFeed]),
    "api_follow_feed": Interface(FollowedFeed, body=entries.FeedRequest, status=201),
    "api_unfollow_feed": Interface(
        list[FollowedFeed], query=(_parameter("url", "URL of the feed.", _TEXT),)
    ),
    "api_highlights": Interface(
        HighlightList,
        query=tuple(
            each for each in _LISTING_PARAMETERS if each["name"] in {"q", "after", "limit"}
        ),
    ),
    "api_snapshot": Interface(SnapshotDetail),
    "api_tags": Interface(list[TagInUse]),
    "api_change_tag": Interface(list[TagInUse], body=entries.TagChange),
    "api_delete_tag": Interface(
        list[TagInUse], query=(_parameter("name", "Name of the tag.", _TEXT),)
    ),
    "api_lists": Interface(tuple[EntryList, ...]),
    "api_create_list": Interface(EntryList, body=entries.ListRequest, status=201),
    "api_change_list": Interface(tuple[EntryList, ...], body=entries.ListChange),
    "api_delete_list": Interface(
        tuple[EntryList, ...], query=(_parameter("path", "Path of the list.", _TEXT),)
    ),
    "api_order_list": Interface(Edited, body=entries.OrderRequest),
    "api_upload_page": Interface(
        UploadResult,
        query=(
            _parameter("url", "URL of the page, if the file does not contain it.", _TEXT),
            _parameter(
                "at", "Saved date (ISO 8601); default: the date in the file, or now.", _TEXT
            ),
            _parameter("name", "Name of the file, if the body is the file itself.", _TEXT),
        ),
        files=("multipart/form-data", *PAGE_TYPES),
        status=201,
    ),
    "api_import_file": Interface(
        ImportStatus, query=_IMPORT_PARAMETERS, files=_IMPORT_TYPES, status=202
    ),
    "api_preview_import": Interface(ImportSurvey, query=_IMPORT_PARAMETERS, files=_IMPORT_TYPES),
    "api_imports": Interface(list[ImportStatus]),
    "api_import_status": Interface(ImportStatus),
    "api_import_receipt": Interface(list[imports.ReportLine]),
    "api_import_failures": Interface(tuple[FailureGroup, ...]),
    "api_retry_import": Interface(imports.Queued, body=imports.RetryRequest),
    "api_import_capture": Interface(imports.Queued),
    "api_pause_import": Interface(ImportStatus),
    "api_import_undo_plan": Interface(UndoPlan),
    "api_import_undo": Interface(ImportStatus, status=202),
    "api_rescue": Interface(imports.Queued, body=imports.RescueRequest, status=202),
    "api_sites": Interface(list[entries.SiteOut]),
    "api_set_site": Interface(list[entries.SiteOut], body=entries.SiteRequest),
    "api_remove_site": Interface(list[entries.SiteOut]),
    "api_jobs": Interface(
        list[Job],
        query=(
            _parameter("ids", "Numbers of jobs, separated by commas; at most 1,000.", _NUMBERS),
        ),
    ),
    "api_queue": Interface(QueueCounts),
    "api_events": Interface(
        str,
        query=(
            _parameter("jobs", "Numbers of jobs, separated by commas.", _NUMBERS),
            _parameter("import", "Number of an import.", {"type": "integer", "minimum": 1}),
        ),
        media_type="text/event-stream",
    ),
    "openapi": Interface(Json),
}
"""Types of the routes of the API, by name of the route."""

_PATH_NAMES = {
    "action": "`pause` or `resume`.",
    "host": "Host name of the site.",
    "hash_url": "Lower-case hexadecimal MD5 of the URL without its fragment.",
    "timestamp": "UTC: YYYYMMDDhhmmss.",
    "id": "Id of the import, highlight or deletion.",
}
_NAME_IN_PATH = re.compile(r"\{(\w+):((?:[^{}]|\{[^{}]*\})*)\}")


def operations(routes: Iterable[web.RouteDef]) -> tuple[Operation, ...]:
    """Return the routes that have an interface, with the docstrings of their handlers."""
    return tuple(
        _operation(route, INTERFACES[route.kwargs["name"]])
        for route in routes
        if route.kwargs.get("name") in INTERFACES
    )


def _operation(route: web.RouteDef, interface: Interface) -> Operation:
    summary, _, details = (inspect.getdoc(route.handler) or "").partition("\n\n")
    return Operation(
        route.method.lower(),
        _NAME_IN_PATH.sub(r"{\1}", route.path),
        dict(_NAME_IN_PATH.findall(route.path)),
        route.kwargs["name"],
        summary,
        " ".join(details.split()),
        interface,
    )


_HEADING = "Attributes:\n"
_ATTRIBUTES = re.compile(r"^ {4}(\w+(?:, \w+)*): (.+(?:\n {6,}\S.*)*)", re.MULTILINE)


def with_field_descriptions(schema: dict[str, Any]) -> dict[str, Any]:
    """Move the texts in the ``Attributes`` section of a schema's description to its properties."""
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


async def document(request: web.Request) -> web.StreamResponse:
    """Describe the API (OpenAPI 3.1)."""
    base = base_path(request)
    document = describe(request.app[OPERATIONS])
    return web.json_response(document | ({"servers": [{"url": base}]} if base else {}))


async def page(request: web.Request) -> web.StreamResponse:
    """Explain the API to people, with examples and all routes."""
    return await render_with_sidebar(
        request,
        "pages/api.html",
        title=Message("API"),
        origin=public_origin(request) + base_path(request),
        needs_token=request.app[RUNTIME].access.is_locked,
        operations=tuple(
            (each.method.upper(), each.path, f"{each.summary} {each.details}".strip())
            for each in request.app[OPERATIONS]
        ),
    )


@lru_cache(1)
def describe(described: tuple[Operation, ...]) -> Json:
    """Return the OpenAPI 3.1.1 document of the operations."""
    shapes: list[tuple[str, _Mode, TypeAdapter[Any]]] = [
        *((each.name, "serialization", TypeAdapter(each.interface.returns)) for each in described),
        *(
            (f"{each.name} body", "validation", TypeAdapter(each.interface.body))
            for each in described
            if each.interface.body
        ),
    ]
    named, defined = TypeAdapter.json_schemas(shapes, ref_template="#/components/schemas/{model}")
    schemas = {name: schema for (name, _), schema in named.items()}
    values = {name: with_field_descriptions(each) for name, each in defined["$defs"].items()}
    components: Json = {}
    for each in described:
        components.setdefault(each.path, {})[each.method] = _describe(each, schemas)
    return {
        "openapi": "3.1.1",
        "info": {
            "title": "archiver",
            "version": __version__,
            "description": "A personal web archive.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": components,
        "security": [{}, {"password": []}, {"basic": []}],
        "components": {
            "schemas": flattened_schema(values) | {"Error": _ERROR},
            "responses": {"Error": _ERROR_RESPONSE},
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
                "code": {"type": "string", "description": "Code for programs."},
                "message": {"type": "string", "description": "Message for people."},
            },
        }
    },
}


_ERROR_RESPONSE: Json = {
    "description": "The request failed; the body has the reason.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}


def _describe(operation: Operation, schemas: Json) -> Json:
    interface = operation.interface
    content = {interface.media_type: {"schema": schemas[operation.name]}}
    described: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [
            *(_path_parameter(name, pattern) for name, pattern in operation.patterns.items()),
            *interface.query,
        ],
        "responses": {
            str(interface.status): {
                "description": HTTPStatus(interface.status).phrase,
                "content": content,
            },
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if operation.details:
        described["description"] = operation.details
    bodies = {kind: {"schema": _file(kind)} for kind in interface.files}
    if interface.body:
        bodies["application/json"] = {"schema": schemas[f"{operation.name} body"]}
    if bodies:
        described["requestBody"] = {"required": True, "content": bodies}
    return described


def _path_parameter(name: str, pattern: str) -> Json:
    schema: Json = {"type": "string", "pattern": f"^{pattern}$"}
    if pattern.startswith((r"\d", "[0-9]{1,")):
        schema = {"type": "integer"}
    return _parameter(name, _PATH_NAMES[name], schema, "path")


def _file(media_type: str) -> Json:
    """Return the schema of an upload.

    The schema of a body that consists only of the file is empty (OpenAPI 3.1 §4.14.2).
    """
    if media_type != "multipart/form-data":
        return {}
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    return {"type": "object", "required": ["file"], "properties": {"file": file}}
