"""Every document conforms to the published JSON schema."""

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_jsonable_python

from archiver.formats.json_output import flattened, to_document
from archiver.formats.own_json import JSON, JSON_LINES, entry_document, schema_text
from archiver.model.annotation import Annotation, Colour
from archiver.model.failure import Failure, FailureKind
from archiver.model.imports import ImportStatus, Rejected
from archiver.model.job import Job, QueueCounts, State
from archiver.model.rendering import Limit, Rendering
from tests.formats.exported import AT, entries, entry_of, written

SCHEMA = json.loads(schema_text())
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "null": type(None),
}


def check(value, schema, where="$"):
    """Validate a value with the subset of JSON Schema that our schema uses."""
    if "$ref" in schema:
        check(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], where)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not kinds or isinstance(value, tuple(TYPES[each] for each in kinds)), where
    assert value == schema.get("const", value), where
    assert value in schema.get("enum", [value]), where
    assert value >= schema.get("minimum", value) if isinstance(value, int) else True, where
    if isinstance(value, str):
        assert re.search(schema.get("pattern", ""), value), where
    elif isinstance(value, list):
        for number, each in enumerate(value):
            check(each, schema.get("items", {}), f"{where}[{number}]")
    elif isinstance(value, dict):
        assert {*schema.get("required", ())} <= value.keys(), where
        for name, each in value.items():
            check(each, schema.get("properties", {}).get(name, {}), f"{where}.{name}")


def test_the_schema_has_every_field_and_every_value():
    parts = {name: each["properties"] for name, each in SCHEMA["$defs"].items()}
    document = entry_document(entry_of(Annotation("https://a.example/", AT)))

    assert parts["entry"].keys() == document.keys()
    for part, values in (
        (parts["highlight"]["colour"], Colour),
        (parts["archive"]["state"], State),
        (parts["snapshot"]["rendering"], Rendering),
        (parts["snapshot"]["limits"]["items"], Limit),
    ):
        assert part["enum"] == [*map(str, values)]


@given(st.lists(entries, max_size=3))
def test_any_entry_conforms_to_the_schema(entry):
    check(json.loads(written(JSON, entry)), SCHEMA)
    lines = written(JSON_LINES, entry).decode().split("\n")[:-1]
    assert len(lines) == len(entry)
    for line in lines:
        check(json.loads(line), SCHEMA["$defs"]["entry"])


JOB = Job(
    id=1,
    hash_url="0" * 32,
    url="https://a.example/\u2028",
    state=State.QUEUED,
    failure=Failure(FailureKind.DNS, "No such name."),
    not_before=datetime(2024, 1, 2, 3, 4, 5, 678900, tzinfo=UTC),
)
IMPORT = ImportStatus(
    3,
    "b.html",
    "netscape",
    datetime(1, 1, 2, tzinfo=UTC),
    False,
    0,
    0,
    0,
    0,
    0,
    (Rejected("x", "y"),),
    "",
    QueueCounts(),
)


@pytest.mark.parametrize("value", [JOB, IMPORT, [JOB, None], {"a": (1.5, True)}, "text"])
def test_values_are_serialised_like_in_pydantic(value):
    assert to_document(value) == flattened(to_jsonable_python(value))
