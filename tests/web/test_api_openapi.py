import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import FormData
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.web.api.openapi import describe, operations
from archiver.web.app import build_app
from archiver.web.routes import ROUTES

DOCUMENT = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
BODY = r"`([A-Z]+) (/api/\S+)`\n\n```json\n(.*?)\n```"
SITE = "https://example.org"
METHODS = {"get", "post", "put", "patch", "delete"}


OPERATIONS = operations(ROUTES)


def test_every_route_of_the_api_is_described():
    names = {each.kwargs["name"] for each in ROUTES if each.path.startswith("/api/")}

    assert {each.name for each in OPERATIONS} == names


def test_the_document_is_valid_openapi():
    document = describe(OPERATIONS)

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


def test_every_reference_of_the_document_resolves():
    document = describe(OPERATIONS)
    text = json.dumps(document)

    references = set(re.findall(r'"\$ref": "#/([^"]+)"', text))

    assert len(references) > 5
    for reference in references:
        place = document
        for step in reference.split("/"):
            place = place[step]
        assert place


def test_field_names_that_clients_use_exist():
    schemas = describe(OPERATIONS)["components"]["schemas"]
    fields = {
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

    for name, properties in fields.items():
        assert schemas[name]["properties"].keys() >= properties


@dataclass
class Example:
    """A request in the documentation."""

    method: str
    path: str
    options: dict[str, Any] = field(default_factory=dict)


def examples(page: str) -> Iterator[Example]:
    """Yield the requests of api.md: JSON bodies, curl commands, and routes in the text."""
    for method, path, body in re.findall(BODY, page, re.DOTALL):
        yield Example(method, path, {"json": json.loads(body)})
    for command in re.findall(r"```sh\n(.*?)\n```", page, re.DOTALL):
        yield curl(command)
    for method, path in re.findall(
        r"`(GET|POST|DELETE) (/api/v1/[^`]+)`", re.sub(BODY, "", page, flags=re.DOTALL)
    ):
        yield Example(method, path)


def curl(command: str) -> Example:
    """Parse a curl command with headers, a body or form fields."""
    name, address, *words = shlex.split(command.replace("\\\n", " "))
    assert (name, address[:21]) == ("curl", "http://127.0.0.1:8080")
    options = [*zip(words[::2], words[1::2], strict=True)]
    headers = dict(value.split(": ", 1) for option, value in options if option == "-H")
    for option, value in options:
        if option == "--data":
            return Example("POST", address[21:], {"headers": headers, "data": value})
    form = FormData()
    for name, value in (value.split("=", 1) for option, value in options if option == "-F"):
        is_file = value.startswith("@")
        text = f"<title>A</title><a href='{SITE}/a'>A</a><p>text"
        form.add_field(name, text if is_file else value, filename=value[1:] if is_file else None)
    return Example("POST", address[21:], {"headers": headers, "data": form})


def _order(example: Example) -> int:
    return (example.method == "DELETE") + 2 * ("undo" in example.path)


async def test_every_example_of_the_documentation_works(saved_archive, live):
    """The examples run in the order of a user: create, read, delete, restore."""
    feed = "<rss version='2.0'><channel><title>F</title></channel></rss>"
    live.put("/feed.xml", feed, kind="application/rss+xml")
    settings = replace(saved_archive.settings, allow_networks="127.0.0.0/8")
    async with (
        open_app(settings) as runtime,
        TestServer(build_app(runtime)) as server,
        TestClient(server) as client,
    ):
        page = (await (await client.get("/api/v1/entries")).json())["items"][0]["entry"]
        names = {"hash_url": page["hash_url"], "timestamp": page["latest"], "id": "1"}
        shown = [*examples(DOCUMENT.partition("## Routes")[0])]
        assert len(shown) > 15
        for example in sorted(shown, key=_order):
            if example.method == "DELETE" and "/snapshots/" in example.path:
                continue  # the only snapshot of an entry cannot be deleted
            if example.path == "/api/v1/feeds":
                example.options["json"]["url"] = live.url("/feed.xml")
            path = example.path.format(**names)
            async with client.request(example.method, path, **example.options) as answer:
                assert answer.status < 300, (example, await answer.text())
                if example.method == "DELETE":
                    names["id"] = (await answer.json())["id"]


def test_every_query_in_the_document_uses_parameters_that_exist():
    parameters = {
        (each.method.upper(), each.path): {one["name"] for one in each.interface.query}
        for each in OPERATIONS
    }
    shown = re.findall(r"`(?:([A-Z]+) )?(/api/v1/[^?`\s]+)\?([^`\s]+)`", DOCUMENT)

    assert shown
    for method, path, query in shown:
        names = {each.partition("=")[0] for each in query.split("&")}
        assert names <= parameters[method or "GET", path], (path, query)
