"""OpenAPI document and its operations.

There is one ``Operation`` per route; a test verifies it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any, Literal

from aiohttp import web
from pydantic import TypeAdapter

from archiver import __version__
from archiver.formats.json_output import flattened_schema
from archiver.model.entry_list import EntryList
from archiver.model.failure import Reason
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
from archiver.services.comparison import Compared
from archiver.services.deletion import Deleted, Restored
from archiver.services.editing import Edited, TagInUse
from archiver.services.entries import EntryDetail, SavedPage, SaveResult, SnapshotDetail
from archiver.services.highlights import Highlighted, HighlightList
from archiver.services.imports import UndoPlan
from archiver.services.page_uploads import UploadResult
from archiver.services.search import Listing
from archiver.web.api.imports import Queued, ReceiptLine
from archiver.web.api.json_http import (
    AgainRequest,
    EditRequest,
    FeedRequest,
    HighlightChange,
    HighlightRequest,
    ListChange,
    ListRequest,
    OrderRequest,
    RescueRequest,
    SaveRequest,
    TagChange,
)
from archiver.web.app_keys import RUNTIME
from archiver.web.origin import base_path, public_origin
from archiver.web.rendering import render_with_sidebar
from archiver.web.uploads import PAGE_TYPES
from archiver.web.views import ApiView

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path or query parameter."""

    name: str
    description: str
    schema: Json
    place: str = "query"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API.

    Attributes:
        method: lower case.
        path: as in the document, with ``{names}``.
        name: name of the route, and the ``operationId``.
        description: description.
        parameters: path and query parameters.
        takes: (media type, Python type) of each accepted request body; ``bytes`` is a file.
        status: status of a successful response.
        gives: type of the JSON response; ``str`` is text of ``media_type``.
        media_type: media type of the response.
    """

    method: str
    path: str
    name: str
    description: str
    gives: Any
    parameters: tuple[Parameter, ...] = ()
    takes: tuple[tuple[str, Any], ...] = ()
    status: int = 200
    media_type: str = "application/json"


_ID = Parameter("id", "Number of the import.", {"type": "integer", "minimum": 0}, "path")
_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_OF_A_FILE = (
    Parameter("name", "Name of the file, if the body is the file itself.", _TEXT),
    Parameter("tags", "Tags for every link, separated by commas.", _TEXT),
    Parameter(
        "folders_as",
        "Whether folder names become tags, whole paths become tags, neither, or folders are "
        "ignored.",
        {"type": "string", "enum": [*FoldersAs], "default": FoldersAs.NOTHING},
    ),
    Parameter(
        "to_read",
        "Which links are tagged `toread`.",
        {"type": "string", "enum": [*ToRead], "default": ToRead.AS_SAID},
    ),
    Parameter(
        "capture",
        "When to capture: now, when the queue is otherwise empty, or never (save as links).",
        {"type": "string", "enum": [*CaptureWhen], "default": CaptureWhen.NOW},
    ),
    Parameter("into", "Path of a list for all links.", _TEXT),
    Parameter("only_folder", "Only links in these folders or below; can be repeated.", _TEXTS),
    Parameter(
        "column",
        f"Roles of table columns, each as `role=name`; roles are {', '.join(ColumnRole)}.",
        _TEXTS,
    ),
)
IMPORT_OPERATIONS = (
    Operation(
        "post",
        "/api/v1/imports",
        "api_import",
        "Import a file of bookmarks or links; reading continues after the response.",
        ImportStatus,
        _OF_A_FILE,
        (("multipart/form-data", bytes), ("application/octet-stream", bytes)),
        202,
    ),
    Operation(
        "post",
        "/api/v1/imports/look",
        "api_import_look",
        "Preview the import of a file without saving anything.",
        ImportSurvey,
        _OF_A_FILE,
        (("multipart/form-data", bytes), ("application/octet-stream", bytes)),
    ),
    Operation(
        "get",
        "/api/v1/imports",
        "api_imports",
        "List the latest imports, newest first.",
        list[ImportStatus],
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}",
        "api_import_status",
        "Show the progress of an import.",
        ImportStatus,
        (_ID,),
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}/receipt",
        "api_import_receipt",
        "List the result of every row of the file in order: added, merged, known, unusable, or "
        "left out.",
        list[ReceiptLine],
        (_ID,),
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}/failures",
        "api_import_failures",
        "Count the pages that could not be saved, by reason.",
        tuple[Reason, ...],
        (_ID,),
    ),
    Operation(
        "post",
        "/api/v1/imports/{id}/again",
        "api_import_again",
        "Retry pages that failed for a reason, or for any reason.",
        Queued,
        (_ID,),
        (("application/json", AgainRequest),),
    ),
    Operation(
        "post",
        "/api/v1/imports/{id}/capture",
        "api_import_capture",
        "Capture the entries that were saved as links.",
        Queued,
        (_ID,),
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}/undo",
        "api_import_undo_plan",
        "Preview the undo of an import.",
        UndoPlan,
        (_ID,),
    ),
    Operation(
        "post",
        "/api/v1/imports/{id}/undo",
        "api_import_undo",
        "Delete the entries that only this import created; a large undo continues after the "
        "response.",
        ImportStatus,
        (_ID,),
        status=202,
    ),
    Operation(
        "post",
        "/api/v1/rescue",
        "api_rescue",
        "Recover pages from public archives: the given entries, the results of a query, or all "
        "missing pages without a snapshot.",
        Queued,
        (),
        (("application/json", RescueRequest),),
        202,
    ),
)
"""Imports, and recovery from public archives."""

_HASH = Parameter(
    "hash_url",
    "Lower-case hexadecimal MD5 of the URL without its fragment.",
    {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    "path",
)
_WHOLE_TIMESTAMP = Parameter(
    "timestamp",
    "14 digits, UTC: YYYYMMDDhhmmss.",
    {"type": "string", "pattern": "^[0-9]{14}$"},
    "path",
)
_TIMESTAMP = Parameter(
    "timestamp",
    "4 to 14 digits, UTC: YYYYMMDDhhmmss; the nearest snapshot is shown.",
    {"type": "string", "pattern": "^[0-9]{4,14}$"},
    "path",
)
_HIGHLIGHT = Parameter(
    "id", "Id of the highlight.", {"type": "string", "pattern": "^[0-9a-f]{16}$"}, "path"
)
_DELETION = Parameter("id", "Id of the deletion.", {"type": "integer"}, "path")

_NARROWED = (
    Parameter("q", "Search query; the syntax is at /search/help.", _TEXT),
    Parameter("tag", "Only entries with this tag.", _TEXT),
    Parameter("host", "Only entries of this host.", _TEXT),
    Parameter("status", "saved, failed, queued, or an HTTP status such as 200.", _TEXT),
)
_LISTED = (
    *_NARROWED,
    Parameter(
        "sort",
        "Sort order; default: best match if there are words, otherwise newest. newest and oldest "
        "sort by saved date, captured by last capture.",
        {"type": "string", "enum": [*Sort]},
    ),
    Parameter("after", "Cursor from the previous page.", _TEXT),
    Parameter("limit", "Entries per page.", {"type": "integer", "minimum": 1, "maximum": 200}),
)
_NUMBERS: Json = {"type": "string", "pattern": "^[0-9]+(,[0-9]+)*$"}

OPERATIONS = (
    Operation(
        "post",
        "/api/v1/entries",
        "api_save",
        "Save URLs and queue them. Invalid URLs are returned with a reason.",
        SaveResult,
        takes=(("application/json", SaveRequest),),
        status=202,
    ),
    Operation(
        "get",
        "/api/v1/entries",
        "api_entries",
        "List or search entries.",
        Listing,
        _LISTED,
    ),
    Operation(
        "get",
        "/api/v1/saved",
        "api_saved",
        "Find the entries of a page by any of its URLs: its own, redirects to it, or canonical. "
        "`entries` is empty if it is not saved.",
        SavedPage,
        (Parameter("url", "URL of the page.", _TEXT),),
    ),
    Operation(
        "get",
        "/api/v1/summary",
        "api_summary",
        "Count the entries of a list, up to 1,000, with facets.",
        Summary,
        _NARROWED,
    ),
    Operation(
        "get",
        "/api/v1/entries/{hash_url}",
        "api_entry",
        "Show an entry and its snapshots, newest first.",
        EntryDetail,
        (_HASH,),
    ),
    Operation(
        "patch",
        "/api/v1/entries/{hash_url}",
        "api_edit",
        "Change the metadata of an entry. `tags` replaces all tags, `folders` all lists (by "
        "path); omitted or null fields are not changed.",
        EntryDetail,
        (_HASH,),
        (("application/json", EditRequest),),
    ),
    Operation(
        "delete",
        "/api/v1/entries/{hash_url}",
        "api_delete",
        "Delete an entry with all its snapshots.",
        Deleted,
        (_HASH,),
    ),
    Operation(
        "delete",
        "/api/v1/entries/{hash_url}/snapshots/{timestamp}",
        "api_delete_snapshot",
        "Delete the snapshot with exactly this timestamp of 14 digits; the entry must have "
        "another one.",
        Deleted,
        (_HASH, _WHOLE_TIMESTAMP),
    ),
    Operation(
        "post",
        "/api/v1/deletions/{id}/undo",
        "api_undo_deletion",
        "Restore deleted entries by the `id` of the deletion. Entries that were saved or deleted "
        "again since are not restored; `stayed` is their number.",
        Restored,
        (_DELETION,),
    ),
    Operation(
        "get",
        "/api/v1/entries/{hash_url}/compare",
        "api_compare",
        "Compare two snapshots: text, headers, resources.",
        Compared,
        (
            _HASH,
            Parameter(
                "from",
                ("Timestamp of the earlier snapshot, 4 to 14 digits; default: the previous one."),
                _TEXT,
            ),
            Parameter("to", "Timestamp of the later snapshot; default: the newest.", _TEXT),
        ),
    ),
    Operation(
        "post",
        "/api/v1/entries/{hash_url}/highlights",
        "api_highlight",
        "Highlight text of the article. Text that is not found is stored without a position.",
        Highlighted,
        (_HASH,),
        (("application/json", HighlightRequest),),
        201,
    ),
    Operation(
        "patch",
        "/api/v1/entries/{hash_url}/highlights/{id}",
        "api_change_highlight",
        "Change the colour or note of a highlight.",
        Highlighted,
        (_HASH, _HIGHLIGHT),
        (("application/json", HighlightChange),),
    ),
    Operation(
        "delete",
        "/api/v1/entries/{hash_url}/highlights/{id}",
        "api_remove_highlight",
        "Remove a highlight, and return the entry.",
        EntryDetail,
        (_HASH, _HIGHLIGHT),
    ),
    Operation(
        "get",
        "/api/v1/feeds",
        "api_feeds",
        "List the followed feeds with their state; `state` is null before the first check.",
        list[FollowedFeed],
    ),
    Operation(
        "post",
        "/api/v1/feeds",
        "api_follow",
        "Follow a feed, or the first feed that a page declares, and capture its new items.",
        FollowedFeed,
        (),
        (("application/json", FeedRequest),),
        201,
    ),
    Operation(
        "delete",
        "/api/v1/feeds",
        "api_unfollow",
        "Unfollow a feed and list the others; its entries are kept.",
        list[FollowedFeed],
        (Parameter("url", "URL of the feed.", _TEXT),),
    ),
    Operation(
        "get",
        "/api/v1/highlights",
        "api_highlights",
        "List highlights by entry; words of `q` are searched in highlights and notes.",
        HighlightList,
        tuple(each for each in _LISTED if each.name in {"q", "after", "limit"}),
    ),
    Operation(
        "get",
        "/api/v1/entries/{hash_url}/snapshots/{timestamp}",
        "api_snapshot",
        "Show a snapshot: its article, its resources, and its neighbours in time.",
        SnapshotDetail,
        (_HASH, _TIMESTAMP),
    ),
    Operation(
        "get",
        "/api/v1/tags",
        "api_tags",
        "List the tags in use by name. `alike` names tags that differ only in accents.",
        list[TagInUse],
    ),
    Operation(
        "patch",
        "/api/v1/tags",
        "api_change_tag",
        "Rename a tag, or merge it into an existing one; returns all tags.",
        list[TagInUse],
        takes=(("application/json", TagChange),),
    ),
    Operation(
        "delete",
        "/api/v1/tags",
        "api_delete_tag",
        "Remove a tag from all entries; returns the others.",
        list[TagInUse],
        (Parameter("name", "Name of the tag.", _TEXT),),
    ),
    Operation(
        "get",
        "/api/v1/lists",
        "api_lists",
        "List all lists in tree order. A list with `query` is a saved search; its `count` is "
        "null until it has been counted.",
        tuple[EntryList, ...],
    ),
    Operation(
        "post",
        "/api/v1/lists",
        "api_make_list",
        "Create a list with its parents, or a saved search.",
        EntryList,
        takes=(("application/json", ListRequest),),
        status=201,
    ),
    Operation(
        "patch",
        "/api/v1/lists",
        "api_change_list",
        "Rename or move a list together with its sublists.",
        tuple[EntryList, ...],
        takes=(("application/json", ListChange),),
    ),
    Operation(
        "delete",
        "/api/v1/lists",
        "api_delete_list",
        "Delete a list with its sublists; the entries are kept.",
        tuple[EntryList, ...],
        (Parameter("path", "Path of the list.", _TEXT),),
    ),
    Operation(
        "post",
        "/api/v1/lists/order",
        "api_order_list",
        "Move entries within a list.",
        Edited,
        takes=(("application/json", OrderRequest),),
    ),
    Operation(
        "post",
        "/api/v1/captures",
        "api_hand_in",
        "Upload a page saved by a browser: HTML (for example from SingleFile), MHTML, or a WARC "
        "or WACZ file of ArchiveWeb.page. The snapshot exists when the response is sent; nothing "
        "is fetched. In a form, `url` and `at` must precede the file.",
        UploadResult,
        (
            Parameter("url", "URL of the page, if the file does not contain it.", _TEXT),
            Parameter("at", "Saved date (ISO 8601); default: the date in the file, or now.", _TEXT),
            Parameter("name", "Name of the file, if the body is the file itself.", _TEXT),
        ),
        tuple((kind, bytes) for kind in ("multipart/form-data", *PAGE_TYPES)),
        201,
    ),
    *IMPORT_OPERATIONS,
    Operation(
        "get",
        "/api/v1/jobs",
        "api_jobs",
        "Show jobs; unknown ones are omitted.",
        list[Job],
        (Parameter("ids", "Numbers of jobs, separated by commas; at most 1,000.", _NUMBERS),),
    ),
    Operation(
        "get", "/api/v1/queue", "api_queue", "Count the jobs of the archive by state.", QueueCounts
    ),
    Operation(
        "get",
        "/api/v1/events",
        "api_events",
        "Server-sent events: `job` and `import` with the same JSON as the API, first with the "
        "current state; `end` when all requested jobs are finished. Without parameters: every "
        "change of all jobs from now on, each with an `id`; send it as `Last-Event-ID` to "
        "continue.",
        str,
        (
            Parameter("jobs", "Numbers of jobs, separated by commas.", _NUMBERS),
            Parameter("import", "Number of an import.", {"type": "integer", "minimum": 1}),
        ),
        media_type="text/event-stream",
    ),
    Operation("get", "/api/v1/openapi.json", "openapi", "This document.", Json),
)

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


async def document(request: web.Request) -> web.StreamResponse:
    """Serve the OpenAPI document."""
    base = base_path(request)
    return web.json_response(describe() | ({"servers": [{"url": base}]} if base else {}))


async def page(request: web.Request) -> web.StreamResponse:
    """Explain the API to people, with examples and all routes."""
    view = ApiView(
        origin=public_origin(request) + base_path(request),
        needs_token=request.app[RUNTIME].access.is_locked,
        operations=tuple((each.method.upper(), each.path, each.description) for each in OPERATIONS),
    )
    return await render_with_sidebar(request, "pages/api.html", view)


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
            "description": "A personal web archive.",
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
                "code": {"type": "string", "description": "Code for programs."},
                "message": {"type": "string", "description": "Message for people."},
            },
        }
    },
}


def _problem() -> Json:
    return {
        "description": "The request failed; the body has the reason.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _describe(operation: Operation, schemas: Json) -> Json:
    content = {operation.media_type: {"schema": schemas[operation.name]}}
    described: Json = {
        "operationId": operation.name,
        "summary": operation.description,
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
        "description": parameter.description,
        "schema": parameter.schema,
    }


def _body(kind: str, schema: Json) -> Json:
    """Return the schema of a body; empty for a body that is a file (OpenAPI 3.1 §4.14.2)."""
    if kind == "multipart/form-data":
        file = {"type": "string", "contentMediaType": "application/octet-stream"}
        return {"type": "object", "required": ["file"], "properties": {"file": file}}
    return schema
