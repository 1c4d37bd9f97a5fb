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
from archiver.services.editing import Edited
from archiver.services.entries import EntryDetail, SaveResult, SnapshotDetail
from archiver.services.highlights import Highlighted, HighlightList
from archiver.services.imports import UndoPlan
from archiver.services.page_uploads import HandedIn
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
)
from archiver.web.uploads import PAGE_TYPES

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A path or query parameter."""

    name: str
    says: str
    schema: Json
    place: str = "query"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API.

    Attributes:
        method: lower case.
        path: as in the document, with ``{names}``.
        name: name of the route, and the ``operationId``.
        says: description.
        parameters: path and query parameters.
        takes: media types of the body with their types; ``bytes`` is a file.
        status: status of a successful response.
        gives: type of the JSON response; ``str`` is text of ``media_type``.
        media_type: media type of the response.
    """

    method: str
    path: str
    name: str
    says: str
    gives: Any
    parameters: tuple[Parameter, ...] = ()
    takes: tuple[tuple[str, Any], ...] = ()
    status: int = 200
    media_type: str = "application/json"


_ID = Parameter("id", "Of the import.", {"type": "integer", "minimum": 0}, "path")
_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_OF_A_FILE = (
    Parameter("name", "Of the file, when the body is the file itself.", _TEXT),
    Parameter("tags", "For every link, separated by commas.", _TEXT),
    Parameter(
        "folders_as",
        "Whether the names of folders are tags, or their whole paths, or neither; or whether "
        "folders are left out.",
        {"type": "string", "enum": [*FoldersAs], "default": FoldersAs.TAGS},
    ),
    Parameter(
        "to_read",
        "Which links are tagged `toread`.",
        {"type": "string", "enum": [*ToRead], "default": ToRead.AS_SAID},
    ),
    Parameter(
        "capture",
        "When: with the rest, when nothing else waits, or never, which keeps them as links.",
        {"type": "string", "enum": [*CaptureWhen], "default": CaptureWhen.NOW},
    ),
    Parameter("into", "Path of a list into which all are put.", _TEXT),
    Parameter("only_folder", "Only links in these folders or below; can be repeated.", _TEXTS),
    Parameter(
        "column",
        f"What columns of a table say, each `role=name`; roles are {', '.join(ColumnRole)}.",
        _TEXTS,
    ),
)
IMPORT_OPERATIONS = (
    Operation(
        "post",
        "/api/v1/imports",
        "api_import",
        "Read a file of bookmarks or links into the queue; reading goes on after the answer.",
        ImportStatus,
        _OF_A_FILE,
        (("multipart/form-data", bytes), ("application/octet-stream", bytes)),
        202,
    ),
    Operation(
        "post",
        "/api/v1/imports/look",
        "api_import_look",
        "Say what importing a file of links would do, and keep nothing.",
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
        "Show how far an import has come.",
        ImportStatus,
        (_ID,),
    ),
    Operation(
        "get",
        "/api/v1/imports/{id}/receipt",
        "api_import_receipt",
        "What became of every row of the file, in order: added, merged, known, unusable, left out.",
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
        "Queue pages again that failed for a reason, or for any.",
        Queued,
        (_ID,),
        (("application/json", AgainRequest),),
    ),
    Operation(
        "post",
        "/api/v1/imports/{id}/capture",
        "api_import_capture",
        "Queue what was kept as links.",
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
        "Delete the entries that only this import created; a large one goes on after the answer.",
        ImportStatus,
        (_ID,),
        status=202,
    ),
    Operation(
        "post",
        "/api/v1/rescue",
        "api_rescue",
        "Ask public archives for pages: those named, those that a query finds, or all that are "
        "gone and have no snapshot.",
        Queued,
        (),
        (("application/json", RescueRequest),),
        202,
    ),
)
"""Imports, and recovery from public archives."""

_HASH = Parameter(
    "hash_url",
    "Lower-case hex MD5 of the URL without its fragment.",
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
    "id", "Of the highlight.", {"type": "string", "pattern": "^[0-9a-f]{16}$"}, "path"
)
_DELETION = Parameter("id", "Of the deletion.", {"type": "integer"}, "path")

_NARROWED = (
    Parameter("q", "A search: see /search/help.", _TEXT),
    Parameter("tag", "Only entries with this tag.", _TEXT),
    Parameter("host", "Only entries of this host.", _TEXT),
    Parameter("status", "saved, failed, queued, or an HTTP status such as 200.", _TEXT),
)
_LISTED = (
    *_NARROWED,
    Parameter(
        "sort",
        "What comes first; without it the best where there are words, else the newest. newest and"
        " oldest are by when an entry was saved, captured by when it was captured last.",
        {"type": "string", "enum": [*Sort]},
    ),
    Parameter("after", "The cursor that the page before gave.", _TEXT),
    Parameter("limit", "Entries a page.", {"type": "integer", "minimum": 1, "maximum": 200}),
)
_NUMBERS: Json = {"type": "string", "pattern": "^[0-9]+(,[0-9]+)*$"}

OPERATIONS = (
    Operation(
        "post",
        "/api/v1/entries",
        "api_save",
        "Put URLs into the queue. Those that can't be kept come back with the reason.",
        SaveResult,
        takes=(("application/json", SaveRequest),),
        status=202,
    ),
    Operation(
        "get",
        "/api/v1/entries",
        "api_entries",
        "List entries, or search them.",
        Listing,
        _LISTED,
    ),
    Operation(
        "get",
        "/api/v1/summary",
        "api_summary",
        "Count the entries of a list, 1,000 at most, and say what they are of.",
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
        "Change what is said of an entry. `tags` takes the place of all tags, `folders` of all "
        "lists that it lies in, by their paths; what is left out, or null, stays as it is.",
        EntryDetail,
        (_HASH,),
        (("application/json", EditRequest),),
    ),
    Operation(
        "delete",
        "/api/v1/entries/{hash_url}",
        "api_delete",
        "Throw an entry away, with all its snapshots.",
        Deleted,
        (_HASH,),
    ),
    Operation(
        "delete",
        "/api/v1/entries/{hash_url}/snapshots/{timestamp}",
        "api_delete_snapshot",
        "Throw one of several snapshots away, named by all 14 digits.",
        Deleted,
        (_HASH, _WHOLE_TIMESTAMP),
    ),
    Operation(
        "post",
        "/api/v1/deletions/{id}/undo",
        "api_undo_deletion",
        "Put back what a deletion took, by the `id` that it answered with. What was saved, or "
        "deleted, again since stays as it is; `stayed` counts such entries.",
        Restored,
        (_DELETION,),
    ),
    Operation(
        "get",
        "/api/v1/entries/{hash_url}/compare",
        "api_compare",
        "Hold two snapshots against each other: text, headers, requisites.",
        Compared,
        (
            _HASH,
            Parameter("from", "The earlier: 4 to 14 digits; without it the one before.", _TEXT),
            Parameter("to", "The later; without it the newest.", _TEXT),
        ),
    ),
    Operation(
        "post",
        "/api/v1/entries/{hash_url}/highlights",
        "api_highlight",
        "Mark words of the article. Words that stand nowhere in it are kept without a place.",
        Highlighted,
        (_HASH,),
        (("application/json", HighlightRequest),),
        201,
    ),
    Operation(
        "patch",
        "/api/v1/entries/{hash_url}/highlights/{id}",
        "api_change_highlight",
        "Give a highlight another colour or note.",
        Highlighted,
        (_HASH, _HIGHLIGHT),
        (("application/json", HighlightChange),),
    ),
    Operation(
        "delete",
        "/api/v1/entries/{hash_url}/highlights/{id}",
        "api_remove_highlight",
        "Take a highlight away, and show the entry without it.",
        EntryDetail,
        (_HASH, _HIGHLIGHT),
    ),
    Operation(
        "get",
        "/api/v1/feeds",
        "api_feeds",
        "The feeds that are followed, and how each stands; `state` is null before the first look.",
        list[FollowedFeed],
    ),
    Operation(
        "post",
        "/api/v1/feeds",
        "api_follow",
        "Follow a feed, or the first that a page names: what is new in it is captured.",
        FollowedFeed,
        (),
        (("application/json", FeedRequest),),
        201,
    ),
    Operation(
        "delete",
        "/api/v1/feeds",
        "api_unfollow",
        "Follow a feed no more, and list the others; what it brought stays.",
        list[FollowedFeed],
        (Parameter("url", "The feed's address.", _TEXT),),
    ),
    Operation(
        "get",
        "/api/v1/highlights",
        "api_highlights",
        "What was marked, entry by entry; words of `q` are looked for in highlights and notes.",
        HighlightList,
        tuple(each for each in _LISTED if each.name in {"q", "after", "limit"}),
    ),
    Operation(
        "get",
        "/api/v1/entries/{hash_url}/snapshots/{timestamp}",
        "api_snapshot",
        "Show a snapshot: its article, its requisites, its neighbours in time.",
        SnapshotDetail,
        (_HASH, _TIMESTAMP),
    ),
    Operation(
        "get",
        "/api/v1/lists",
        "api_lists",
        "Show every list, each behind the one that it lies in. One with a `query` is a saved "
        "search; its `count` is null until somebody counted.",
        tuple[EntryList, ...],
    ),
    Operation(
        "post",
        "/api/v1/lists",
        "api_make_list",
        "Make a list, and those it is to lie in; or save a search under a name.",
        EntryList,
        takes=(("application/json", ListRequest),),
        status=201,
    ),
    Operation(
        "patch",
        "/api/v1/lists",
        "api_change_list",
        "Rename a list, put it into another one, or shift it; all in it comes along.",
        tuple[EntryList, ...],
        takes=(("application/json", ListChange),),
    ),
    Operation(
        "delete",
        "/api/v1/lists",
        "api_delete_list",
        "Delete a list, and those in it; the entries stay.",
        tuple[EntryList, ...],
        (Parameter("path", "Of the list.", _TEXT),),
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
        "Hand in a page that a browser saved: HTML (of SingleFile, say), MHTML, or a WARC or WACZ "
        "file of ArchiveWeb.page. It is a snapshot when the answer comes; nothing is fetched. In "
        "a form, `url` and `at` may stand before the file.",
        HandedIn,
        (
            Parameter("url", "Of the page, where the file does not tell.", _TEXT),
            Parameter("at", "When it was saved, ISO 8601; else as the file tells, or now.", _TEXT),
            Parameter("name", "Of the file, when the body is the file itself.", _TEXT),
        ),
        tuple((kind, bytes) for kind in ("multipart/form-data", *PAGE_TYPES)),
        201,
    ),
    *IMPORT_OPERATIONS,
    Operation(
        "get",
        "/api/v1/jobs",
        "api_jobs",
        "Show jobs; unknown ones are left out.",
        list[Job],
        (Parameter("ids", "Numbers of jobs, separated by commas; 1,000 at most.", _NUMBERS),),
    ),
    Operation(
        "get", "/api/v1/queue", "api_queue", "Count the jobs of the archive by state.", QueueCounts
    ),
    Operation(
        "get",
        "/api/v1/events",
        "api_events",
        "Server-sent events: `job` and `import` with the same JSON as the API, first as things "
        "stand; `end` when all that was asked for is at an end. Without parameters: each change of "
        "all jobs from now on, each with an `id`; sent back as `Last-Event-ID`, it goes on there.",
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
