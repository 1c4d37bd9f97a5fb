"""Imports over the API, with the functions of the page and the command."""

import io
from dataclasses import replace

import pytest

from archiver.app import open_app
from archiver.web.api import imports

FILE = (
    b"address,what,folder\n"
    b"http://127.0.0.1:1/1,One,Food/Soups\n"
    b"http://127.0.0.1:1/2,Two,Work\n"
    b"javascript:alert(1),Bad,Food\n"
)
BYTES = {"Content-Type": "application/octet-stream"}
IMPORT_PARAMETERS = (
    ("name", "mine.csv"),
    ("tags", "new, other"),
    ("folders_as", "lists"),
    ("capture", "never"),
    ("into", "SegmentStorage"),
    ("only_folder", "Food"),
    ("column", "url=address"),
    ("column", "title=what"),
    ("column", "folder=folder"),
)


@pytest.fixture
def settings(settings):
    return replace(settings, rescue="http://127.0.0.1:1/timegate/")


@pytest.fixture(autouse=True)
def _undone_when_answered(monkeypatch):
    monkeypatch.setattr(imports, "UNDO_TIMEOUT_SECONDS", None)


async def imported(runtime, client, choices=()):
    answer = await client.post("/api/v1/imports", params=choices, data=FILE, headers=BYTES)
    number = (await answer.json())["id"]
    async for status in runtime.change_stream.one_import(number):
        if not status.is_unread:
            break
    return f"/api/v1/imports/{number}"


async def json_of(client, path, body=None):
    asking = client.get(path) if body is None else client.post(path, json=body)
    async with asking as answer:
        assert answer.status in (200, 202)
        return await answer.json()


async def test_an_import_preview_stores_nothing(runtime, client):
    answer = await client.post(
        "/api/v1/imports/look", params=IMPORT_PARAMETERS, data=FILE, headers=BYTES
    )
    survey = await answer.json()

    assert (survey["new"], survey["left_out"], survey["unusable"]) == (1, 1, 1)
    assert survey["sample"][0]["tags"] == ["new", "other"]
    assert await runtime.import_statuses.recent() == []
    assert list((runtime.settings.data / "tmp").iterdir()) == []


async def test_import_options_in_the_query_are_applied(runtime, client):
    path = await imported(runtime, client, IMPORT_PARAMETERS)

    annotation = (await runtime.entries.get("http://127.0.0.1:1/1")).entry.annotation
    assert (annotation.title, annotation.tags) == ("One", ("new", "other"))
    assert annotation.folders == ("SegmentStorage/Food/Soups",)
    report = await json_of(client, f"{path}/receipt")
    assert [each["outcome"] for each in report] == ["added", "left out", "unusable"]
    assert (await json_of(client, path))["without_capture"] == 1
    wrong = await client.post(
        "/api/v1/imports", params={"capture": "soon"}, data=FILE, headers=BYTES
    )
    assert wrong.status == 400
    assert "now, idle, never" in (await wrong.json())["error"]["message"]


async def test_pages_are_requested_from_public_archives_by_entry_query_or_all(runtime, client):
    await imported(runtime, client)
    await runtime.crawling.work()

    answers = [
        await json_of(client, "/api/v1/rescue", body)
        for body in ({"entries": ["http://127.0.0.1:1/1"]}, {"query": "is:failed"}, {})
    ]

    assert [each["queued"] for each in answers] == [1, 1, 0]
    both = await client.post("/api/v1/rescue", json={"entries": ["a"], "query": "b"})
    assert both.status == 400


async def test_a_misspelt_field_does_not_select_everything(runtime, client):
    path = await imported(runtime, client)

    assert (await client.post(f"{path}/again", json={"reasons": "dns"})).status == 400


async def test_one_import_is_paused_and_resumed_on_its_page_and_over_the_api(
    runtime, client, settings
):
    number = (await runtime.imports.read_file(io.BytesIO(FILE), name="a.csv")).id
    api, page = f"/api/v1/imports/{number}", f"/import/{number}"
    await json_of(client, f"{api}/pause", {})
    async with open_app(settings, reads_only=True) as restarted:
        status = await restarted.import_statuses.find(number)
        activity = await restarted.navigation.activity()

    assert (status.phase, status.captures_paused, status.counts.queued) == ("paused", True, 2)
    assert (activity.open, activity.is_paused) == (0, True)
    for path in (page, "/activity"):
        shown = await (await client.get(path)).text()
        assert "Paused" in shown
        assert 'value="resume"' in shown
    await client.post(f"{page}/pause", data={"do": "resume", "back": "/activity"})
    assert (await json_of(client, api))["captures_paused"] is False
    await runtime.crawling.work()
    assert (await json_of(client, api))["counts"]["failed"] == 2
