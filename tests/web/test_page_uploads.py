"""Pages saved by the user's browser become dated snapshots, marked as uploads."""

import io
import json
import re
from dataclasses import replace

import pytest
from aiohttp import FormData

from archiver.app import open_app
from archiver.http.urls import hash_url
from archiver.model.capture import Acquisition
from archiver.model.listing import ListingQuery
from archiver.services.access import Scope
from archiver.services.reindex import reindex
from tests.conftest import SENTENCE
from tests.warcs import Warc
from tests.web.conftest import client_of

URL = "https://bank.example/statement"
ARTICLE = f"<title>Statement</title><article>{SENTENCE.format(name='herons') * 6}</article>"
SINGLE_FILE = (
    "<!DOCTYPE html> <html><!--\n Page saved with SingleFile \n"
    f" url: {URL} \n saved date: Thu Feb 29 2024 12:00:01 GMT+0100 (CET)\n-->{ARTICLE}</html>"
)


@pytest.fixture
def settings(settings):
    return replace(settings, max_upload_bytes=1 << 20)


def captures() -> bytes:
    """A WARC file of the page."""
    archived = Warc()
    archived.response(URL, f"<html>{ARTICLE}".encode(), "text/html")
    return archived.bytes


async def upload_page(client, content, kind="text/html", **more):
    """Upload content; return the status and the JSON of the response."""
    headers = {"Content-Type": kind, **more.pop("headers", {})}
    async with client.post("/api/v1/captures", data=content, headers=headers, params=more) as got:
        return got.status, json.loads(await got.text())


async def test_a_singlefile_upload_is_a_snapshot_of_its_date_and_searchable(client, runtime):
    status, document = await upload_page(client, SINGLE_FILE, name="statement.html")

    detail = await runtime.entries.snapshot(URL)
    listed = await runtime.search.listing(ListingQuery(q="herons"))
    assert (status, document["snapshots"], document["timestamp"]) == (201, 1, "20240229110001")
    assert detail.snapshot.timestamp == document["timestamp"]
    assert detail.provenance.acquisition is Acquisition.UPLOADED
    assert detail.provenance.name == "statement.html (SingleFile HTML)"
    assert [each.entry.url for each in listed.items] == [URL]
    assert (await runtime.crawling.counts()).open == 0


async def test_html_without_its_url_needs_one(client, runtime):
    status, refused = await upload_page(client, f"<html>{ARTICLE}")
    assert status == 400
    assert "URL" in refused["error"]["message"]

    status, document = await upload_page(
        client, f"<html>{ARTICLE}", url=URL, at="2020-01-02T03:04:05Z"
    )

    assert (status, document["timestamp"]) == (201, "20200102030405")
    assert "herons" in (await runtime.entries.snapshot(URL)).text


async def test_form_fields_come_in_any_order(client, runtime):
    """SingleFile appends the address to its form after the file."""
    parts = {
        "file": '; filename="Statement (2-29-2024).html"\r\nContent-Type: text/html\r\n\r\n'
        f"<!DOCTYPE html><html>{ARTICLE}",
        "at": "\r\n\r\n2020-01-02T03:04:05Z",
    }
    mark = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
    for order in (("file", "url"), ("at", "url", "file")):
        long = f"{URL}?{'x' * 6_000}{len(order)}{order[0]}"
        parts["url"] = f"\r\n\r\n{long}"
        body = "".join(
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"{parts[name]}\r\n'
            for name in order
        )
        kind = f"multipart/form-data; boundary={mark}"

        status, _ = await upload_page(client, f"{body}--{mark}--\r\n", kind)

        assert status == 201, order
        detail = await runtime.entries.snapshot(long)
        assert "herons" in detail.text, order
        assert detail.snapshot.timestamp == "20200102030405" or "at" not in order, order


async def test_a_file_that_is_not_a_page_is_rejected_with_the_supported_types(client):
    for content in (b"", b"\x00\x01\x02", b"https://a.example/\n", b"%PDF-1.7"):
        status, refused = await upload_page(client, content, url=URL)

        assert status == 422, content
        assert refused["error"]["message"], content


async def test_a_file_that_is_too_large_is_rejected(client):
    status, _ = await upload_page(client, io.BytesIO(b"<html>" + b"a" * (1 << 20)), url=URL)

    assert status == 413


async def test_a_file_cannot_remove_the_mark_of_uploads(client, runtime):
    for n, fields in enumerate(
        (
            {"Archiver_Handed_In": ""},
            {"Archiver_Handed_In": "never", "Archiver_Origin": ""},
            {"Source_URI": "https://web.archive.org/web/20200102030405/x"},
        )
    ):
        url, archived = f"{URL}/{n}", Warc()
        archived.response(url, f"<html>{ARTICLE}".encode(), "text/html", **fields)

        await upload_page(client, archived.bytes, "application/octet-stream", name="mine.warc")

        provenance = (await runtime.entries.snapshot(url)).provenance
        assert (provenance.acquisition, provenance.name) == (
            Acquisition.UPLOADED,
            "mine.warc (WARC)",
        ), fields
        assert provenance.at is not None, fields


async def test_an_invalid_record_does_not_affect_others(client, runtime):
    entry = b'{"hash_url": "%s", "url": "%s", "url_given": "%s", ' % (
        hash_url(URL).encode(),
        URL.encode(),
        URL.encode(),
    )
    block = b'{"format": "archiver/1", "at": "2024-01-01T00:00:00Z", "waiting": true, "entry": '
    for n, record in enumerate(
        (
            b"[" * 100_000,
            b'{"revision": 1e999}',
            b'{"folders": ["a", "b"], "places": [%d, -%d]}' % (10**30, 10**30),
        )
    ):
        url, archived = f"https://other.example/{n}", Warc()
        archived.add("metadata", f"urn:archiver:{hash_url(URL)}", block + entry + record[1:] + b"}")
        archived.response(url, f"<html>{ARTICLE}".encode(), "text/html")

        await upload_page(client, archived.bytes, "application/octet-stream")

        assert "herons" in (await runtime.entries.snapshot(url)).text, record
        assert "broke off" not in str(await runtime.import_statuses.recent()), record


async def test_an_upload_is_still_marked_after_reindexing(settings):
    async with open_app(settings) as runtime:
        async with client_of(runtime) as client:
            await upload_page(client, SINGLE_FILE)
        before = await runtime.entries.snapshot(URL)

    await reindex(settings)

    async with open_app(settings) as runtime:
        assert (await runtime.entries.snapshot(URL)).provenance == before.provenance


async def test_an_add_token_may_upload_and_a_read_token_may_not(client, runtime):
    await runtime.access.set_password("correct horse")
    status = {}
    for scope in (Scope.ADD, Scope.READ):
        secret = await runtime.access.make_token("phone", scope)
        headers = {"Authorization": f"Bearer {secret}"}
        status[scope], _ = await upload_page(client, SINGLE_FILE, headers=headers)

    assert status == {Scope.ADD: 201, Scope.READ: 403}


async def test_a_failed_entry_links_to_the_upload_form(client, runtime):
    url = "http://127.0.0.1:9/walled"
    await runtime.entries.save([url], source="web")
    await runtime.crawling.work()
    key = (await runtime.entries.get(url)).entry.hash_url
    entry = await (await client.get(f"/{key}/")).text()
    link = re.search(r'href="(/import\?url=[^"#]+)', entry)[1]

    page = await (await client.get(link)).text()
    form = FormData()
    form.add_field("url", re.search(r'name="url" value="([^"]+)"', page)[1])
    form.add_field("file", f"<html>{ARTICLE}".encode(), filename="saved.html")
    async with client.post("/import/page", data=form) as got:
        shown = await got.text()

    assert got.url.path == f"/{key}/", re.sub("<[^>]+>", "", shown[shown.index("<main") :])[:600]
    assert "Uploaded" in shown
    assert "saved.html" in shown
