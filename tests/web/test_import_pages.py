"""The pages of imports say what is done with each, and no more."""

import io
import re
from datetime import UTC, datetime

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.config import Settings
from archiver.index import imports
from archiver.index.database import Database
from archiver.runtime import open_runtime
from archiver.web.app import build_app

NOBODY = "0123456789ab"


@pytest.fixture
async def runtime(tmp_path):
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    async with open_runtime(settings) as opened:
        yield opened


@pytest.fixture
async def client(runtime):
    async with TestClient(TestServer(build_app(runtime), skip_url_asserts=True)) as client:
        yield client


@pytest.fixture
async def db(runtime):
    opened = await Database.open(runtime.settings.data / "archive.sqlite3")
    yield opened
    await opened.close()


async def begun(db, owner, path=None):
    async with db.write() as conn:
        return await imports.create(
            conn, name="a.html", form="Netscape HTML", path=path, owner=owner, now=datetime.now(UTC)
        )


async def shown(client, number):
    """(what is done, whether the bar shows a share, the alert) on an import's page."""
    page = await (await client.get(f"/import/{number}")).text()
    phase = re.search(r'class="phase"[^>]*>([^<]*)<', page)[1]
    bar = re.search(r"<progress([^>]*)>", page)[1]
    alert = re.search(r'role="alert">([^<]*)<', page)
    return phase, re.search(r'value="(\d+)"', bar), alert and alert[1]


async def test_a_file_that_is_read_shows_no_share_of_its_pages(client, db, runtime):
    (writer,) = [each.stem for each in (runtime.settings.data / "run").glob("*.lock")]

    phase, share, alert = await shown(client, await begun(db, writer))

    assert (phase, share, alert) == ("Reading the file…", None, None)
    assert "being read" in await (await client.get("/import")).text()


async def test_a_file_that_nobody_reads_is_never_said_to_be_read(client, db):
    given, kept = await begun(db, NOBODY), await begun(db, NOBODY, "/kept")

    phase, share, alert = await shown(client, given)
    waiting = await shown(client, kept)
    listed = await (await client.get("/import")).text()

    assert (phase, share[1]) == ("Stopped", "0")
    assert alert.startswith("Reading was interrupted after 0 links")
    assert (waiting[0], waiting[1][1], waiting[2]) == (
        "Interrupted: it goes on by itself in a moment",
        "0",
        None,
    )
    assert "being read" not in listed
    api = [await (await client.get(f"/api/v1/imports/{n}")).json() for n in (given, kept)]
    assert [(each["reading"], each["paused"]) for each in api] == [(False, False), (False, True)]


async def test_an_import_that_brought_nothing_new_is_done(client, runtime, live):
    link = live.article("heron").encode()
    await runtime.imports.read_file(io.BytesIO(link), name="a.txt")
    await runtime.crawling.work()
    status = await runtime.imports.read_file(io.BytesIO(link), name="a.txt")

    phase, share, alert = await shown(client, status.id)

    assert (phase, share[1], alert) == ("Done", "1", None)
