"""Several machines that share an archive: an index in PostgreSQL and an object store."""

import asyncio
import shutil
import signal
from pathlib import Path

import pytest
from aiohttp import web

from archiver.warc.locks import machine_of
from tests.cluster.commands import archiver, ran, refused
from tests.cluster.owner_access import as_owner

ENDED = "SELECT state, attempts, (SELECT count(*) FROM snapshot) FROM job ORDER BY id"
LOCKS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'archiver {}%'"""


@pytest.fixture
def here(address, store, tmp_path):
    shared = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": store.address}
    return shared | {"ARCHIVER_DATA": str(tmp_path / "a")}


@pytest.fixture
def there(here, tmp_path):
    """Another machine at the same archive."""
    (tmp_path / "b").mkdir()
    return here | {"ARCHIVER_DATA": str(tmp_path / "b")}


@pytest.fixture
def held(live):
    """A page whose response waits for an event."""
    page = asyncio.Event()

    async def answer(request):
        await page.wait()
        return web.Response(text="<title>held</title>", content_type="text/html")

    page.url = live.answer("/held", answer)
    return page


def machines(output: str) -> list[str]:
    return [line.split("\t")[1] for line in output.splitlines()]


async def test_a_working_machine_is_listed_and_prevents_a_rebuild(live, here, there, held):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    assert await ran("machines", **here) == (0, "")
    async with archiver("crawl", **here) as running:
        await live.asked_for("/held")

        assert machines((await ran("machines", **here))[1]) == ["here"]
        assert machines((await ran("machines", **there))[1]) == ["elsewhere"]
        code, message = await refused("reindex", **there)
        assert (code, "Another machine uses the archive" in message) == (1, True), message

        held.set()
        await running.communicate()
    assert await ran("machines", **here) == (0, "")
    assert (await ran("reindex", **there))[0] == 0
    assert held.url in (await ran("list", "--status", "saved", **here))[1]


async def test_a_page_saved_on_one_machine_is_shown_on_another(live, here, there):
    url = live.article("page")
    assert (await ran("add", url, **here))[0] == 0

    code, shown = await ran("show", url, **there)
    _, listed = await ran("list", **there)
    _, checked = await ran("verify", **there)

    assert (code, "clever" in shown) == (0, True)
    assert url in listed
    assert "problems\t0" in checked


@pytest.mark.parametrize("how", ["killed", "cut off", "stopped and cut off"])
async def test_a_job_of_a_worker_that_lost_its_lock_is_done_once(
    live, address, here, there, held, how
):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    async with archiver("crawl", **here) as first, archiver("crawl", **there) as second:
        await live.asked_for("/held")
        ((leased_by,),) = as_owner(address, "SELECT owner FROM job")
        owner = first if _name_of(here, address) == leased_by else second
        other = second if owner is first else first
        if how == "killed":
            owner.kill()
        else:
            if how == "stopped and cut off":
                owner.send_signal(signal.SIGSTOP)
            as_owner(address, LOCKS.format(leased_by))
        held.set()
        await other.communicate()
        if how != "cut off":  # a worker that still runs may lease its job again itself
            assert as_owner(address, ENDED) == [("saved", 1, 1)]
        if how == "stopped and cut off":
            owner.send_signal(signal.SIGCONT)
        await owner.communicate()

    assert other.returncode == 0
    assert owner.returncode == (-signal.SIGKILL if how == "killed" else 0)
    assert as_owner(address, ENDED) == [("saved", 1, 1)]
    for variables in (here, there):
        assert (await ran("crawl", **variables))[0] == 0
    assert as_owner(address, ENDED) == [("saved", 1, 1)]
    assert "problems\t0" in (await ran("verify", **here))[1]


def _name_of(variables, address):
    machine = (Path(variables["ARCHIVER_DATA"]) / "machine").read_text().split()[0]
    sessions = as_owner(address, "SELECT application_name FROM pg_stat_activity")
    names = [name.split()[1] for (name,) in sessions if name.endswith(machine)]
    return names[0] if names else None


async def test_two_workers_never_have_one_host(live, address, here, there):
    at_once = most = 0

    async def answer(request):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.05)
        at_once -= 1
        return web.Response(text=f"<title>{request.path}</title>", content_type="text/html")

    urls = [live.answer(f"/{number}", answer) for number in range(30)]
    await ran("import", "-", "--no-crawl", said="\n".join(urls), **here)
    one = {"ARCHIVER_HOST_CONCURRENCY": "1"}

    async with (
        archiver("crawl", **here, **one) as first,
        archiver("crawl", **there, **one) as other,
    ):
        for each in (first, other):
            _, said = await each.communicate()
            assert each.returncode == 0, said.decode()

    assert most == 1
    assert {each for (each,) in as_owner(address, "SELECT attempts FROM job")} == {1}
    assert {live.asked[f"/{number}"] for number in range(30)} == {1}


async def test_a_job_that_another_worker_ended_is_not_stored_twice(live, address, here, held):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    async with archiver("crawl", **here) as running:
        await live.asked_for("/held")
        as_owner(
            address, "UPDATE job SET state = 'saved', owner = NULL, timestamp = 20260301000000"
        )
        held.set()
        await running.communicate()

    assert running.returncode == 0
    assert as_owner(address, "SELECT url FROM live_capture") == []
    assert as_owner(address, "SELECT id FROM live_snapshot") == []
    assert (held.url,) in as_owner(address, "SELECT url FROM capture WHERE deleted_at IS NOT NULL")
    assert "problems\t0" in (await ran("verify", **here))[1]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"ARCHIVER_STORE": ""}, "for all machines that share the index"),
        ({"ARCHIVER_STORE": "s3://other/kept"}, "Set ARCHIVER_STORE to this value"),
    ],
)
async def test_a_folder_without_the_same_store_is_refused(here, there, server, more, reason):
    if more["ARCHIVER_STORE"]:
        server.make_bucket("other")
    await ran("import", "-", "--no-crawl", said="https://a.example/", **here)

    code, message = await refused("import", "-", "--no-crawl", **(there | more))

    assert (code, reason in message) == (1, True), message


async def test_a_folder_with_a_separate_archive_is_refused(here, there):
    await ran("import", "-", "--no-crawl", said="https://a.example/", **here)
    own = {"ARCHIVER_INDEX": "", "ARCHIVER_STORE": ""}
    await ran("import", "-", "--no-crawl", said="https://b.example/", **(there | own))

    code, message = await refused("reindex", **there)

    assert (code, "contains a separate archive" in message) == (1, True), message


async def test_user_settings_are_shared_and_survive_a_rebuild(here, there, tmp_path):
    cookie = "a.example\tFALSE\t/\tFALSE\t0\tname\tvalue\n"
    assert (await ran("password", said="a good pass phrase\n", **here))[0] == 0
    assert (await ran("cookies", "import", "-", said=cookie, **here))[0] == 0
    assert (await ran("reindex", **there))[0] == 0

    assert "a.example" in (await ran("cookies", "list", **there))[1]
    code, _ = await ran("password", "--remove", **here)
    assert code == 0
    names = {each.name for folder in ("a", "b") for each in (tmp_path / folder).iterdir()}
    assert not names & {"access.json", "cookies.txt", "feeds.opml"}


async def test_user_settings_survive_the_rebuild_of_an_index_of_another_version(here, address):
    cookie = "a.example\tFALSE\t/\tFALSE\t0\tname\tvalue\n"
    assert (await ran("password", said="a good pass phrase\n", **here))[0] == 0
    assert (await ran("cookies", "import", "-", said=cookie, **here))[0] == 0
    as_owner(address, "UPDATE alembic_version SET version_num = '0038'")

    code, message = await refused("reindex", **here)
    assert (code, "--accept-missing" in message) == (1, True), message
    assert (await ran("reindex", "--accept-missing", **here))[0] == 0

    assert "a.example" in (await ran("cookies", "list", **here))[1]
    assert (await ran("password", "--remove", **here))[0] == 0


async def test_an_index_whose_user_settings_are_unreadable_is_not_replaced(live, here, address):
    await ran("add", live.article("page"), **here)
    assert (await ran("password", said="a good pass phrase\n", **here))[0] == 0
    as_owner(address, "UPDATE alembic_version SET version_num = '9999'")
    as_owner(address, "ALTER TABLE shared_file RENAME COLUMN content TO contents")

    code, message = await refused("reindex", **here)

    assert (code, "--accept-missing" in message) == (1, True), message
    as_owner(address, "ALTER TABLE shared_file RENAME COLUMN contents TO content")
    assert (await ran("reindex", "--accept-missing", **here))[0] == 0
    assert (await ran("password", "--remove", **here))[0] == 0


def test_a_copy_of_a_data_directory_is_another_machine(tmp_path):
    (tmp_path / "a").mkdir()
    name = machine_of(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    assert machine_of(tmp_path / "a") == name
    assert machine_of(tmp_path / "b") != name
