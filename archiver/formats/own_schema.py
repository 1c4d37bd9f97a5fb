"""The JSON Schema (draft 2020-12) of our own JSON: what a program may count on."""

import json
from typing import Any

from archiver.formats.own_json import ARCHIVE, MARK, VERSION
from archiver.model.highlight import Colour
from archiver.model.job import State
from archiver.model.limit import Limit
from archiver.model.rendering import Rendering

_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_MOMENT: dict[str, Any] = {"type": "string", "format": "date-time"}
_MOMENT_OR_NONE: dict[str, Any] = {"type": ["string", "null"], "format": "date-time"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_TIMESTAMP: dict[str, Any] = {"type": "string", "pattern": "^([0-9]{14})?$"}
_VERSION: dict[str, Any] = {"const": VERSION}


def own_schema() -> dict[str, Any]:
    """The schema of a whole export; ``$defs/entry`` is that of a line of JSON lines."""
    entries = {"type": "array", "items": {"$ref": "#/$defs/entry"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:archiver:export:{VERSION}",
        "title": "What archiver exports as JSON",
        **_object(
            {
                MARK: _VERSION,
                "lists": _described(
                    {"type": "array", "items": {"$ref": "#/$defs/list"}},
                    "all that are kept, in their order, where everything is exported; in JSON "
                    "lines they are the first line",
                ),
                "entries": entries,
            }
        ),
        "$defs": {
            "list": _object(
                {
                    "path": _described(_TEXT, "names with / between, as of folders"),
                    "query": _described(_TEXT, "what a saved search finds; empty for other lists"),
                }
            ),
            "entry": _entry(),
            "highlight": _highlight(),
            "archive": _archive(),
            "snapshot": _snapshot(),
        },
    }


def schema_text() -> str:
    """The same as a file."""
    return f"{json.dumps(own_schema(), indent=2)}\n"


def _entry() -> dict[str, Any]:
    return _object(
        {
            MARK: _described(_VERSION, "the version of this document"),
            "hash_url": _described({"type": "string", "pattern": "^[0-9a-f]{32}$"}, "MD5 of url"),
            "url": _described(_TEXT, "as browsers serialise it, without its fragment"),
            "url_given": _described(_TEXT, "the address as it was given"),
            "added_at": _described(_MOMENT, "when the link was saved"),
            "title": _described(_TEXT, "the person's own title; empty if none"),
            "tags": _TEXTS,
            "note": _TEXT,
            "source": _described(_TEXT, "web, cli, api, or import: and the name of a file"),
            "is_read": _FLAG,
            "is_starred": _FLAG,
            "folders": _described(
                _TEXTS, "paths, / between names; \\/ and \\\\ are part of a name"
            ),
            "places": _described(
                {"type": "array", "items": _COUNT},
                "where it stands in each folder, the lowest first; 0 or none where nobody said",
            ),
            "source_record": _described(
                _TEXT,
                "what importing files said beside, such as reading progress: a JSON object a line",
            ),
            "highlights": {"type": "array", "items": {"$ref": "#/$defs/highlight"}},
            ARCHIVE: _described({"$ref": "#/$defs/archive"}, "what an archive holds of the page"),
        }
    )


def _highlight() -> dict[str, Any]:
    return _object(
        {
            "id": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "quote": _described(_TEXT, "the words"),
            "prefix": _TEXT,
            "suffix": _TEXT,
            "start": _described(
                {"type": "integer", "minimum": -1},
                "where they begin in the article's text, in characters; -1 where nobody knows",
            ),
            "colour": {"enum": [*map(str, Colour)]},
            "note": _TEXT,
            "made_at": _MOMENT_OR_NONE,
            "timestamp": _described(_TIMESTAMP, "of the snapshot they were marked in"),
        }
    )


def _archive() -> dict[str, Any]:
    failure = {"type": ["object", "null"]}
    known = {
        "state": {"enum": [*map(str, State)]},
        "title": _described(_TEXT, "the page's own, of the newest snapshot"),
        "failure": _described(failure, "why the latest attempt brought nothing: kind and message"),
        "snapshots": _described(
            {"type": "array", "items": {"$ref": "#/$defs/snapshot"}}, "the newest first"
        ),
    }
    return _object(known, required=["state"])


def _snapshot() -> dict[str, Any]:
    texts = ("final_url", "title", "byline", "site", "excerpt", "language", "published")
    return _object(
        {
            "timestamp": _described(_TIMESTAMP, "when it was taken, UTC: YYYYMMDDhhmmss"),
            **dict.fromkeys(texts, _TEXT),
            "requisite_count": _described(_COUNT, "what the page needs beside itself"),
            "missing_count": _described(_COUNT, "of those, what could not be had"),
            "extractor": _described(_TEXT, "what read the article"),
            "rendering": _described(
                {"enum": [*map(str, Rendering)]}, "whether a browser showed it"
            ),
            "limits": _described(
                {"type": "array", "items": {"enum": [*map(str, Limit)]}},
                "what kept a browser from showing all of it",
            ),
            "status": {"type": "integer"},
            "media_type": _TEXT,
            "payload_digest": _TEXT,
            "payload_length": _described(_COUNT, "bytes"),
            "ip": _TEXT,
        }
    )


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


def _object(
    properties: dict[str, dict[str, Any]], *, required: list[str] | None = None
) -> dict[str, Any]:
    """Others may be there: a later version says more."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties] if required is None else required,
    }
