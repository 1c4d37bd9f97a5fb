"""Processes at one index in PostgreSQL know of each other by rows."""

import asyncio
import shutil
import signal

import pytest
from aiohttp import web

from archiver.store.machine import machine_of
from tests.cluster.commands import archiver, ran, refused
from tests.cluster.owner import all_rows, as_owner

LEASE = "3"
FENCED_OFF = 75


class Rows:
    """The rows of writers, as whoever owns the database sees them."""

    def __init__(self, address: str) -> None:
        self._address = address

    def names(self) -> list[str]:
        return [
            name for (name,) in as_owner(self._address, "SELECT name FROM writer ORDER BY name")
        ]

    def ended(self) -> list[tuple[str, int, int]]:
        """What became of each job, after how many attempts, and how many snapshots there are."""
        asked = "SELECT state, attempts, (SELECT count(*) FROM snapshot) FROM job ORDER BY id"
        return as_owner(self._address, asked)

    def remove(self) -> None:
        as_owner(self._address, "DELETE FROM writer")


@pytest.fixture
def here(address, tmp_path):
    folder = {"ARCHIVER_INDEX": address, "ARCHIVER_DATA": str(tmp_path / "a")}
    return folder | {"ARCHIVER_WRITER_LEASE": LEASE}


@pytest.fixture
def held(live):
    """A page that is answered once it may be."""
    page = asyncio.Event()

    async def answer(request):
        await page.wait()
        return web.Response(text="<title>held</title>", content_type="text/html")

    page.url = live.answer("/held", answer)
    return page


@pytest.mark.parametrize("command", [("crawl",), ("serve", "--port", "0")])
async def test_who_was_taken_for_dead_ends_with_a_sentence_and_changes_nothing(
    live, address, here, held, command
):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    rows = Rows(address)
    async with archiver(*command, **here) as running:
        await live.asked_for("/held")
        assert len(rows.names()) == 1
        told = (await ran("machines", **here))[1].split()
        assert told[1:] == ["here", rows.names()[0], "alive"]

        rows.remove()
        held.set()
        _, said = await running.communicate()

    assert running.returncode == FENCED_OFF
    assert "took this process for dead" in said.decode()
    # What it had written down of the page by then is taken up by the next one.
    assert [snapshots for _, _, snapshots in rows.ended()] == [0]
    assert rows.names() == []


async def test_what_a_killed_process_held_is_given_back_at_once_with_its_row(
    live, address, here, held
):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    rows = Rows(address)
    async with archiver("crawl", **here) as running:
        await live.asked_for("/held")
        running.kill()
        await running.wait()
    held.set()

    code, _ = await ran("crawl", **here)

    assert code == 0
    assert held.url in (await ran("list", "--status", "saved", **here))[1]
    assert rows.names() == []


async def test_who_only_reads_has_no_row(address, here):
    await ran("import", "-", "--no-crawl", said="https://a.example/", **here)
    rows = Rows(address)
    rows.remove()

    assert (await ran("list", **here))[0] == 0

    assert rows.names() == []


@pytest.fixture
def there(here, store, tmp_path):
    """Another machine at the same archive."""
    here["ARCHIVER_STORE"] = store.address
    (tmp_path / "b").mkdir()
    return here | {"ARCHIVER_DATA": str(tmp_path / "b")}


async def test_what_one_machine_kept_is_read_listed_and_checked_on_another(live, here, there):
    url = live.article("page")
    assert (await ran("add", url, **here))[0] == 0

    code, shown = await ran("show", url, **there)
    _, listed = await ran("list", **there)
    _, checked = await ran("verify", **there)

    assert (code, "clever" in shown) == (0, True)
    assert url in listed
    assert "problems\t0" in checked


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"ARCHIVER_STORE": ""}, "for several to share it"),
        ({"ARCHIVER_STORE": "s3://other/kept"}, "set ARCHIVER_STORE to that"),
    ],
)
async def test_a_folder_without_the_same_store_is_refused(here, there, server, more, reason):
    if more["ARCHIVER_STORE"]:
        server.make_bucket("other")
    await ran("import", "-", "--no-crawl", said="https://a.example/", **here)

    code, told = await refused("import", "-", "--no-crawl", **(there | more))

    assert (code, reason in told) == (1, True), told


async def test_a_folder_with_an_archive_of_its_own_is_refused(here, there):
    await ran("import", "-", "--no-crawl", said="https://a.example/", **here)
    own = {"ARCHIVER_INDEX": "", "ARCHIVER_STORE": ""}
    await ran("import", "-", "--no-crawl", said="https://b.example/", **(there | own))

    code, told = await refused("reindex", **there)

    assert (code, "holds an archive of its own" in told) == (1, True), told


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_what_a_machine_held_that_fell_silent_is_done_by_another_and_once(
    live, address, here, there, held, how
):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    async with archiver("crawl", **here) as silent:
        await live.asked_for("/held")
        silent.send_signal(how)
        held.set()

        code, _ = await ran("crawl", **there)
        ended, rows = Rows(address).ended(), all_rows(address)
        if how == signal.SIGSTOP:
            silent.send_signal(signal.SIGCONT)
        await silent.communicate()

    assert code == 0
    assert all_rows(address) == rows
    assert silent.returncode == (-how if how == signal.SIGKILL else FENCED_OFF)
    assert (await ran("crawl", **here))[0] == 0
    assert Rows(address).ended() == ended == [("saved", 1, 1)]
    assert "problems\t0" in (await ran("verify", **there))[1]


async def test_a_page_that_another_machine_had_saved_after_all_is_not_kept_twice(
    live, address, here, held
):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    async with archiver("crawl", **here) as running:
        await live.asked_for("/held")
        as_owner(
            address, "UPDATE job SET state = 'saved', owner = NULL, timestamp = 20260301000000"
        )
        held.set()
        await running.communicate()

    assert running.returncode == 0
    assert as_owner(address, "SELECT url FROM capture") == []
    assert as_owner(address, "SELECT id FROM snapshot") == []
    assert (held.url,) in as_owner(address, "SELECT url FROM withheld")
    assert "problems\t0" in (await ran("verify", **here))[1]


async def test_an_index_is_not_built_again_while_another_machine_writes(live, here, there, held):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    async with archiver("crawl", **here) as running:
        await live.asked_for("/held")
        code, told = await refused("reindex", **there)
        held.set()
        await running.communicate()

    assert (code, "Another machine uses the archive" in told) == (1, True), told
    assert (await ran("reindex", **there))[0] == 0
    assert held.url in (await ran("list", "--status", "saved", **here))[1]


async def test_the_password_is_the_archives_and_is_in_the_next_index(address, here, there):
    assert (await ran("password", said="a good pass phrase\n", **here))[0] == 0
    assert (await ran("reindex", **there))[0] == 0

    ((held,),) = as_owner(address, "SELECT content FROM shared_file WHERE name = 'access.json'")
    assert b"scrypt" in bytes(held)


def test_a_copy_of_a_data_directory_is_another_machine(tmp_path):
    (tmp_path / "a").mkdir()
    name = machine_of(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    assert machine_of(tmp_path / "a") == name
    assert machine_of(tmp_path / "b") != name
