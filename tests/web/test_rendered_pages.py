"""Pages that the browser rendered: screenshots, and limits that it reached."""

import gzip
import io
import json
import zipfile

import pytest

from archiver.app import open_app
from archiver.cli import entries
from archiver.config import Settings
from archiver.crawl import browser_rendering
from archiver.http.urls import hash_url
from archiver.model.rendering import Limit, Rendering
from archiver.services.export_selection import Selected
from archiver.services.reindex import reindex
from tests.conftest import exported, filled_by, saved_url
from tests.web.conftest import client_of

SHELL = '<title>App</title><body><div id="root"></div><script>root.textContent = "App"</script>'
NO_TIME = str(Limit.TIME.sentence)


@filled_by
async def save_pages(runtime, live):
    """Save a rendered page, and one that the browser had no time for."""
    await runtime.entries.save([live.article("shown")], source="web", render=True)
    await runtime.crawling.work()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(browser_rendering, "PAGE_SECONDS", 0)
        await runtime.entries.save([live.put("/shell", SHELL)], source="web")
        await runtime.crawling.work()


@pytest.fixture
async def settings(prepared, tmp_path):
    await prepared.copy(save_pages, tmp_path / "data")
    return Settings(data=tmp_path / "data")


async def test_screenshots_and_reached_limits_are_shown_and_exported(settings):
    key = hash_url(saved_url(settings, "/shown"))
    async with (
        open_app(settings) as runtime,
        client_of(runtime) as client,
    ):
        place = f"/{key}/{(await runtime.entries.get(key)).entry.latest}"
        entry, snapshot = [
            await (await client.get(f"{each}/")).text() for each in (f"/{key}", place)
        ]
        assert f'<img src="{place}/thumbnail"' in entry
        for page in (entry, snapshot):
            assert f'href="{place}/picture"' in page
            assert f'href="{place}/print"' in page
        for kind, media_type, begins in (
            ("thumbnail", "image/webp", b"RIFF"),
            ("picture", "image/webp", b"RIFF"),
            ("print", "application/pdf", b"%PDF-"),
        ):
            sent = await client.get(f"{place}/{kind}")
            assert (sent.status, sent.content_type) == (200, media_type)
            assert 'filename="' in sent.headers["Content-Disposition"]
            assert (await sent.read()).startswith(begins)

        packed = await exported(runtime, "wacz", Selected(hash_url=key))
        with zipfile.ZipFile(io.BytesIO(packed)) as package:
            records = gzip.decompress(package.read("archive/data.warc.gz"))
        for kind in ("page", "picture", "thumbnail", "print"):
            target = f"WARC-Target-URI: urn:archiver:{key}:{kind}\r\n"
            assert target.encode() in records

        detail = await runtime.entries.snapshot(saved_url(settings, "/shell"))
        assert detail.snapshot.rendering is Rendering.NEEDED
        assert [str(each.message) for each in detail.score.reasons] == [NO_TIME]
        shell, at = detail.entry.hash_url, detail.snapshot.timestamp
        for path in (f"/{shell}/", f"/{shell}/{at}/"):
            page = await (await client.get(path)).text()
            assert "the browser could not render it" in page
            assert NO_TIME in page
            assert "saved without it" not in page
        document = await (await client.get(f"/api/v1/entries/{shell}")).json()
        assert [each["limits"] for each in document["snapshots"]] == [["time"]]


async def test_a_reached_limit_is_printed_after_a_reindex(settings, capsys):
    shell = saved_url(settings, "/shell")
    await reindex(settings)

    await entries.show(settings, ref=shell, timestamp=None, as_json=False)
    await entries.show(settings, ref=shell, timestamp=None, as_json=True)

    rows, _, document = capsys.readouterr().out.partition("{")
    assert f"limit\t{NO_TIME}" in rows.splitlines()
    assert "needs\t" not in rows
    assert [each["limits"] for each in json.loads("{" + document)["snapshots"]] == [["time"]]
