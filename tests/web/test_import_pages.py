"""The pages of imports show the state of each."""

import re
from datetime import UTC, datetime

import pytest

from archiver.db import imports, new_entries
from archiver.db.engine import Database
from archiver.http.urls import hash_url
from archiver.model.annotation import Annotation
from archiver.model.seed import Seed
from archiver.web.pages import imports as pages_imports

NOBODY = "0123456789ab"
URL = "http://a.example/"


@pytest.fixture(autouse=True)
def _undone_when_answered(monkeypatch):
    monkeypatch.setattr(pages_imports, "UNDO_TIMEOUT_SECONDS", None)


@pytest.fixture
async def db(runtime):
    opened = await Database.open(runtime.settings.data / "archive.sqlite3")
    yield opened
    await opened.close()


async def create_import(db, owner, path=None):
    async with db.write() as conn:
        return await imports.create(
            conn, name="a.html", form="Netscape HTML", path=path, owner=owner, now=datetime.now(UTC)
        )


async def progress_of(client, number):
    """Return (phase, match of the bar's value or None, alert or None) of an import's page."""
    page = await (await client.get(f"/import/{number}")).text()
    phase = re.search(r'class="phase"[^>]*>([^<]*)<', page)[1]
    bar = re.search(r"<progress([^>]*)>", page)[1]
    alert = re.search(r'role="alert">([^<]*)<', page)
    return phase, re.search(r'value="(\d+)"', bar), alert and alert[1]


async def test_progress_of_pages_is_hidden_while_a_file_is_read(client, db, runtime):
    (writer,) = [each.stem for each in (runtime.settings.data / "run").glob("*.lock")]

    phase, share, alert = await progress_of(client, await create_import(db, writer))

    assert (phase, share, alert) == ("Reading the file…", None, None)
    assert "being read" in await (await client.get("/import")).text()


async def test_an_interrupted_import_is_not_shown_as_reading(client, db):
    uploaded, stored = await create_import(db, NOBODY), await create_import(db, NOBODY, "/kept")

    phase, share, alert = await progress_of(client, uploaded)
    waiting = await progress_of(client, stored)
    listed = await (await client.get("/import")).text()

    assert (phase, share[1]) == ("Incomplete", "0")
    assert alert.startswith("The import stopped after 0 links")
    assert (waiting[0], waiting[1][1], waiting[2]) == (
        "Interrupted, will continue in a moment",
        "0",
        None,
    )
    assert "being read" not in listed
    api = [await (await client.get(f"/api/v1/imports/{n}")).json() for n in (uploaded, stored)]
    assert [(each["reading"], each["paused"]) for each in api] == [(False, False), (False, True)]


async def test_a_cancelled_import_keeps_its_entries(client, db, runtime):
    import_id = await create_import(db, NOBODY, "/kept")
    async with db.write() as conn:
        seed = Seed(hash_url(URL), URL, "a.example", Annotation(URL, datetime.now(UTC)))
        await new_entries.receive(
            conn, [seed], now=seed.annotation.added_at, recapture=False, import_id=import_id
        )

    page = await (await client.post(f"/import/{import_id}/cancel")).text()

    assert "You cancelled this import." in page
    status = await runtime.imports.status(import_id)
    assert (status.is_open, status.counts.failed) == (False, 1)
    assert (await runtime.entries.get(URL)).entry.failure.kind == "cancelled"
