"""An uploaded file is every machine's until it is read to its end, thrown away, or a day old."""

import asyncio
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestClient, TestServer

from archiver.errors import NotFound
from archiver.index import imports as rows
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from archiver.runtime import open_runtime
from archiver.services import kept_uploads
from archiver.services.migrating import Places, migrate
from archiver.web.app import build_app
from tests.cluster.commands import archiver
from tests.cluster.owner import as_owner
from tests.warcs import Warc
from tests.web.test_import_look import send

LINKS = b"http://a.example/1\nhttp://a.example/2\nhttp://a.example/3\n"
TOKEN, HALF = (sha256(each).hexdigest()[:32] for each in (b"a token", b"half of one"))


@pytest.fixture
async def fronts(here, there):
    """Two machines, and who asks each of them."""
    async with AsyncExitStack() as stack:
        machines = [await stack.enter_async_context(open_runtime(each)) for each in (here, there)]
        yield machines + [
            await stack.enter_async_context(
                TestClient(TestServer(build_app(each), skip_url_asserts=True))
            )
            for each in machines
        ]


def waiting(store):
    return [name for name in store.names() if name.startswith("uploads/")]


def lie_at(archive):
    return sorted(path.suffix for path in (archive.settings.data / "tmp").glob("*"))


async def read(archive, number):
    """What an import came to."""
    async for status in archive.following.one_import(number):
        assert not status.paused, "nobody reads it"
        if not status.is_unread:
            await archive.imports.stop()
            return status
    raise AssertionError("the import ended first")


async def left_by_a_dead_machine(archive, data, *, name, read=0, at="tmp"):
    """An import of a file that lies in the store alone, of which so many rows were counted."""
    path = archive.settings.data / f"tmp/{TOKEN}.upload"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    await archive.imports._uploads.share(path)
    path.unlink()
    begun = {"path": f"{at}/{TOKEN}.upload", "owner": "dead", "now": datetime.now(UTC)}
    async with archive.imports._db.write() as conn:
        number = await rows.create(conn, name=name, form="plain text", **begun)
        await rows.advance(conn, number, {rows.Reception.ADDED: read}, [])
    return number


async def test_a_file_that_one_front_end_took_is_looked_at_and_imported_at_another(fronts, store):
    one, other, first, second = fronts
    path = (await send(first, LINKS, "mine.txt")).headers["Location"]

    folder = other.settings.data / "tmp"
    folder.touch()  # as on a disk that takes no copy
    refused = await second.get(path)
    folder.unlink()
    page = await (await second.get(path)).text()
    chosen = {"tags": "new"}
    done = await second.post(path, data=chosen, allow_redirects=False)
    status = await read(other, int(done.headers["Location"].removeprefix("/import/")))

    assert refused.status == 503
    assert "The file is kept, but can" in await refused.text()
    assert "mine.txt" in page
    assert (status.name, status.added, status.error) == ("mine.txt", 3, "")
    assert [(await each.get(path)).status for each in (first, second)] == [404, 404]
    assert waiting(store) == lie_at(one) == lie_at(other) == []


async def test_a_file_that_was_thrown_away_at_one_front_end_is_gone_at_all(fronts, store):
    one, other, first, second = fronts
    path = (await send(first, LINKS, "mine.txt")).headers["Location"]
    assert (await second.get(path)).status == 200

    chosen = {"discard": "1"}
    await second.post(path, data=chosen, allow_redirects=False)

    assert [(await each.get(path)).status for each in (first, second)] == [404, 404]
    assert waiting(store) == lie_at(one) == lie_at(other) == []


async def test_of_two_who_import_a_file_at_once_one_does(fronts):
    one, other, first, _ = fronts
    token = (await send(first, LINKS, "mine.txt")).headers["Location"].rpartition("/")[2]

    async def imported(archive):
        kept = await archive.imports.looked_at.find(token)
        path = await archive.imports.looked_at.to_be_imported(kept)
        return await archive.imports.start(path, name=kept.name, was_looked_at=True)

    made = await asyncio.gather(imported(one), imported(other), return_exceptions=True)

    (begun,) = (each for each in made if not isinstance(each, NotFound))
    assert (await read(one, begun.id)).added == 3
    assert len(await one.imports.recent()) == 1


async def test_what_a_machine_took_that_died_for_good_is_read_by_another(
    here, there, address, store, tmp_path
):
    given = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": here.store}
    async with (
        archiver("serve", "--port", "0", "--data", str(here.data), **given) as service,
        ClientSession() as web,
    ):
        origin = (await service.stdout.readline()).decode().split()[-1].rstrip("/")
        with closing(connect(read_address(address))) as held:
            held.cursor().execute("LOCK TABLE archiver.entry IN EXCLUSIVE MODE")
            url, headers = f"{origin}/api/v1/imports", {"Content-Type": "application/octet-stream"}
            async with web.post(f"{url}?name=a.txt", data=LINKS, headers=headers) as answer:
                number = (await answer.json())["id"]
            service.kill()
            await service.wait()
    here.data.rename(tmp_path / "gone")
    as_owner(address, "DELETE FROM writer")

    async with open_runtime(there) as archive:
        assert (await archive.imports.status(number)).paused
        await archive.imports.resume()
        status = await read(archive, number)

    assert (status.read, status.added, status.error) == (3, 3, "")
    assert waiting(store) == lie_at(archive) == []


async def test_of_what_a_dead_machine_had_read_no_row_comes_twice(here, store):
    async with open_runtime(here) as archive:
        number = await left_by_a_dead_machine(archive, LINKS, name="a.txt", read=2)

        assert (await archive.imports.status(number)).paused
        await archive.imports.resume()
        status = await read(archive, number)
        found = await archive.receipts.reasons(number)
        told = as_owner(here.index, "SELECT url FROM entry")

    assert (status.read, status.added, status.merged, status.known) == (3, 3, 0, 0)
    assert (found, told) == ([], [("http://a.example/3",)])
    assert waiting(store) == []


async def test_what_a_machine_took_onto_another_disk_is_read_where_there_is_none(here, tmp_path):
    (tmp_path / "disk").touch()
    async with open_runtime(here) as archive:
        left = {"name": "a.txt", "at": tmp_path / "disk" / "tmp"}
        number = await left_by_a_dead_machine(archive, LINKS, **left)

        assert (await archive.imports.status(number)).paused
        await archive.imports.resume()
        status = await read(archive, number)

    assert (status.added, status.error) == (3, "")


async def test_captures_that_a_dead_machine_took_are_kept_by_another(here, store):
    warc = Warc()
    warc.response("http://a.example/", b"<p>kept</p>", "text/html")
    async with open_runtime(here) as archive:
        number = await left_by_a_dead_machine(archive, warc.bytes, name="a.warc.gz")

        assert (await archive.imports.status(number)).paused
        await archive.imports.resume()
        status = await read(archive, number)

    assert (status.read, status.merged, status.error) == (1, 1, "")
    assert waiting(store) == []


async def test_a_file_that_no_machine_can_have_now_waits(here, store):
    async with open_runtime(here) as archive:
        number = await left_by_a_dead_machine(archive, LINKS, name="a.txt")
        assert (await archive.imports.status(number)).paused

        store.fickle.failing = {"GET": 403}
        await archive.imports.resume()
        refused = await archive.imports.status(number)
        store.fickle.failing = {}
        await archive.imports.resume()
        status = await read(archive, number)

    assert (refused.paused, refused.error) == (True, "")
    assert status.added == 3


@pytest.mark.parametrize("look", [True, False])
async def test_a_file_that_the_store_does_not_take_is_not_acknowledged(fronts, store, look):
    one, _, first, _ = fronts
    store.fickle.failing = {"PUT": 403}

    sent = await send(first, LINKS, "mine.txt", look=look)

    assert sent.status == 503
    assert "object store" in await sent.text()
    assert await one.imports.recent() == []
    assert lie_at(one) == []


async def test_what_is_over_is_swept_and_what_waits_is_not(fronts, store, monkeypatch):
    one, other, first, second = fronts
    path = (await send(first, LINKS, "mine.txt")).headers["Location"]
    await second.get(path)
    number = await left_by_a_dead_machine(one, LINKS, name="a.txt")
    store.write(f"uploads/{HALF}/1-2", b"half")

    await other.imports._uploads.sweep()
    assert len(waiting(store)) == 3

    monkeypatch.setattr(kept_uploads, "STALE_SECONDS", -60)
    for each in (other, one):
        await each.imports._uploads.sweep()

    assert waiting(store) == [f"uploads/{TOKEN}/1-1"]
    assert lie_at(one) == lie_at(other) == []
    assert (
        as_owner(one.settings.index, "SELECT name FROM shared_file WHERE name LIKE 'tmp/%'") == []
    )
    assert not (await one.imports.status(number)).error


async def test_what_waits_in_the_store_goes_along_to_a_folder(here, store):
    async with open_runtime(here) as archive:
        number = await left_by_a_dead_machine(archive, LINKS, name="a.txt")

    await migrate(here, Places(), remove=True)

    async with open_runtime(replace(here, index=None, store=None)) as archive:
        await archive.imports.resume()
        status = await read(archive, number)
    assert (status.added, status.error) == (3, "")
    assert store.names() == []
