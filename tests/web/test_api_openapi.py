import json
import re
from dataclasses import fields
from pathlib import Path

from archiver.web.api.json_http import adapter
from archiver.web.api.openapi import OPERATIONS, describe
from archiver.web.routes import ROUTES

DOCUMENT = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
METHODS = {"get", "post", "put", "patch", "delete"}


def routed() -> set[tuple[str, str, str]]:
    return {
        (route.method.lower(), re.sub(r"{(\w+):[^/]*}", r"{\1}", route.path), route.kwargs["name"])
        for route in ROUTES
        if route.path.startswith("/api/")
    }


def test_each_route_is_described_and_each_described_path_routes():
    assert {(each.method, each.path, each.name) for each in OPERATIONS} == routed()


def test_each_name_of_a_route_is_its_own():
    names = [route.kwargs["name"] for route in ROUTES]

    assert len(names) == len(set(names))


def test_the_document_is_openapi():
    document = describe()

    assert document["openapi"] == "3.1.1"
    assert document["info"].keys() >= {"title", "version"}
    operations = [
        (path, each)
        for path, item in document["paths"].items()
        for method, each in item.items()
        if method in METHODS
    ]
    assert len(operations) == len(OPERATIONS)
    for path, operation in operations:
        named = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path))
        assert operation["responses"].keys() > {"default"}
        for answer in operation["responses"].values():
            assert "$ref" in answer or "description" in answer
    names = [each["operationId"] for _, each in operations]
    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere():
    document = describe()
    text = json.dumps(document)

    references = set(re.findall(r'"\$ref": "#/([^"]+)"', text))

    assert len(references) > 5
    for reference in references:
        place = document
        for step in reference.split("/"):
            place = place[step]
        assert place


def test_the_names_that_clients_hold_on_to_are_there():
    schemas = describe()["components"]["schemas"]
    held = {
        "Entry": {"hash_url", "url", "title", "tags", "state", "latest", "added_at"},
        "Snapshot": {"timestamp", "url", "final_url", "capture"},
        "Capture": {"url", "timestamp", "status", "media_type", "payload_digest", "ip"},
        "Job": {"id", "hash_url", "url", "state", "failure", "timestamp"},
        "SaveResult": {"accepted", "rejected"},
        "Listing": {"items", "after"},
        "ImportStatus": {"id", "name", "reading", "read", "added", "rejected", "counts"},
        "QueueCounts": {"queued", "fetching", "saved", "failed"},
        "Failure": {"kind", "message", "status"},
    }

    for name, properties in held.items():
        assert schemas[name]["properties"].keys() >= properties


def test_every_body_that_is_shown_is_one_that_is_taken():
    shown = re.findall(r"`([A-Z]+) (/api/\S+)`\n\n```json\n(.*?)\n```", DOCUMENT, re.DOTALL)
    takes = {(each.method.upper(), each.path): dict(each.takes) for each in OPERATIONS}

    assert len(shown) == DOCUMENT.count("```json")
    for method, path, body in shown:
        shape = takes[method, path]["application/json"]
        assert {*json.loads(body)} <= {each.name for each in fields(shape)}
        adapter(shape).validate_json(body)


def test_every_query_in_the_document_uses_parameters_that_exist():
    known = {
        (each.method.upper(), each.path): {one.name for one in each.parameters}
        for each in OPERATIONS
    }
    shown = re.findall(r"`(?:([A-Z]+) )?(/api/v1/[^?`\s]+)\?([^`\s]+)`", DOCUMENT)

    assert shown
    for method, path, query in shown:
        names = {each.partition("=")[0] for each in query.split("&")}
        assert names <= known[method or "GET", path], (path, query)
