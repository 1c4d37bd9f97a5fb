"""Several machines that share an archive: an index in PostgreSQL and an object store."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from socket import gethostname

import pytest
from aiohttp import web

from archiver.app import open_app
from archiver.config import Settings
from tests.cluster.commands import archiver, run, run_expecting_error
from tests.cluster.owner_access import as_owner

ENDED = "SELECT state, attempts, (SELECT count(*) FROM snapshot) FROM job ORDER BY id"
LOCKS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'archiver {}%'"""


@pytest.fixture
def waiting_page(live):
    """A page whose response waits for an event."""
    page = asyncio.Event()

    async def answer(request):
        await page.wait()
        return web.Response(text="<title>held</title>", content_type="text/html")

    page.url = live.add_handler("/held", answer)
    return page


def settings_of(settings: Settings, address: str, machine: dict[str, str]) -> Settings:
    data = Path(machine["ARCHIVER_DATA"])
    return replace(settings, index=address, data=data, crawl_processes=1)


@asynccontextmanager
async def working(settings: Settings) -> AsyncIterator[None]:
    """Open an archive and crawl while the block runs, and until everything is captured."""
    async with open_app(settings) as archive, asyncio.TaskGroup() as group:
        group.create_task(archive.crawling.work())
        yield


async def test_a_working_machine_is_listed_and_prevents_a_rebuild(
    live, settings, address, variables_a, variables_b, waiting_page
):
    await run("import", "-", "--no-crawl", input_data=waiting_page.url, **variables_a)
    assert await run("machines", **variables_a) == (0, "")
    async with working(settings_of(settings, address, variables_a)):
        await live.wait_for_request("/held")

        ((machine, _, address_of_a, _),) = (
            line.split("\t") for line in (await run("machines", **variables_b))[1].splitlines()
        )
        assert (machine, address_of_a) == (gethostname(), "127.0.0.1")
        code, message = await run_expecting_error("reindex", **variables_b)
        assert (code, "Another machine uses the archive" in message) == (1, True), message

        waiting_page.set()
    assert await run("machines", **variables_a) == (0, "")
    assert (await run("reindex", **variables_b))[0] == 0
    assert waiting_page.url in (await run("list", "--status", "saved", **variables_a))[1]


async def test_a_page_saved_on_one_machine_is_shown_on_another(live, variables_a, variables_b):
    url = live.article("page")
    assert (await run("add", url, **variables_a))[0] == 0

    code, shown = await run("show", url, **variables_b)
    _, listed = await run("list", **variables_b)
    _, checked = await run("verify", **variables_b)

    assert (code, "clever" in shown) == (0, True)
    assert url in listed
    assert "problems\t0" in checked


@pytest.mark.parametrize("how", ["killed", "stopped and cut off"])
async def test_a_job_of_a_worker_that_lost_its_lock_is_done_once(
    live, address, variables_a, variables_b, waiting_page, how
):
    await run("import", "-", "--no-crawl", input_data=waiting_page.url, **variables_a)
    async with archiver("crawl", **variables_a) as owner:
        await live.wait_for_request("/held")
        ((leased_by,),) = as_owner(address, "SELECT owner FROM job")
        other = asyncio.create_task(run("crawl", **variables_b))
        if how == "killed":
            owner.kill()
        else:
            owner.send_signal(signal.SIGSTOP)
            as_owner(address, LOCKS.format(leased_by))
        waiting_page.set()
        assert (await other)[0] == 0
        assert as_owner(address, ENDED) == [("saved", 1, 1)]
        if how != "killed":
            owner.send_signal(signal.SIGCONT)
        await owner.communicate()

    assert owner.returncode == (-signal.SIGKILL if how == "killed" else 0)
    assert as_owner(address, ENDED) == [("saved", 1, 1)]
    assert (await run("crawl", **variables_b))[0] == 0
    assert as_owner(address, ENDED) == [("saved", 1, 1)]
    assert "problems\t0" in (await run("verify", **variables_a))[1]


async def test_two_workers_never_have_one_host(live, settings, address, variables_a, variables_b):
    at_once = most = 0

    async def answer(request):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.05)
        at_once -= 1
        return web.Response(text=f"<title>{request.path}</title>", content_type="text/html")

    urls = [live.add_handler(f"/{number}", answer) for number in range(12)]
    await run("import", "-", "--no-crawl", input_data="\n".join(urls), **variables_a)

    both = [settings_of(settings, address, each) for each in (variables_a, variables_b)]
    first, other = [working(replace(each, host_concurrency=1)) for each in both]
    async with first, other:
        pass

    assert most == 1
    assert {each for (each,) in as_owner(address, "SELECT attempts FROM job")} == {1}
    assert {live.requests[f"/{number}"] for number in range(12)} == {1}


async def test_a_job_that_another_worker_ended_is_not_stored_twice(
    live, settings, address, variables_a, waiting_page
):
    await run("import", "-", "--no-crawl", input_data=waiting_page.url, **variables_a)
    async with working(settings_of(settings, address, variables_a)):
        await live.wait_for_request("/held")
        as_owner(
            address, "UPDATE job SET state = 'saved', owner = NULL, timestamp = 20260301000000"
        )
        waiting_page.set()

    assert as_owner(address, "SELECT url FROM live_capture") == []
    assert as_owner(address, "SELECT id FROM live_snapshot") == []
    assert (waiting_page.url,) in as_owner(
        address, "SELECT url FROM capture WHERE deleted_at IS NOT NULL"
    )
    assert "problems\t0" in (await run("verify", **variables_a))[1]


@pytest.mark.parametrize("address_b", ["", "s3://other/kept"])
async def test_a_folder_without_the_same_store_is_refused(
    variables_a, variables_b, server, address_b
):
    if address_b:
        server.make_bucket("other")
    await run("import", "-", "--no-crawl", input_data="https://a.example/", **variables_a)

    variables = variables_b | {"ARCHIVER_STORE": address_b}
    code, message = await run_expecting_error("import", "-", "--no-crawl", **variables)

    assert (code, "Set ARCHIVER_STORE to this value" in message) == (1, True), message


async def test_a_folder_with_a_separate_archive_is_refused(variables_a, variables_b):
    await run("import", "-", "--no-crawl", input_data="https://a.example/", **variables_a)
    variables = {"ARCHIVER_INDEX": "", "ARCHIVER_STORE": ""}
    await run(
        "import", "-", "--no-crawl", input_data="https://b.example/", **(variables_b | variables)
    )

    code, message = await run_expecting_error("reindex", **variables_b)

    assert (code, "contains a separate archive" in message) == (1, True), message


async def test_user_settings_and_imports_survive_rebuilds_also_from_another_version(
    variables_a, variables_b, address, tmp_path
):
    cookie = "a.example\tFALSE\t/\tFALSE\t0\tname\tvalue\n"
    assert (await run("password", input_data="a good pass phrase\n", **variables_a))[0] == 0
    assert (await run("cookies", "import", "-", input_data=cookie, **variables_a))[0] == 0
    await run("import", "-", "--no-crawl", input_data="http://a.example/\n", **variables_a)
    assert (await run("reindex", **variables_b))[0] == 0

    assert "a.example" in (await run("cookies", "list", **variables_b))[1]
    reports = [[*(tmp_path / folder / "receipts").iterdir()] for folder in ("a", "b")]
    assert reports[0][0].name == reports[1][0].name
    as_owner(address, "UPDATE alembic_version SET version_num = '0038'")
    code, message = await run_expecting_error("reindex", **variables_a)
    assert (code, "--accept-missing" in message) == (1, True), message
    assert (await run("reindex", "--accept-missing", **variables_a))[0] == 0

    assert "a.example" in (await run("cookies", "list", **variables_a))[1]
    code, _ = await run("password", "--remove", **variables_a)
    assert code == 0
    names = {each.name for folder in ("a", "b") for each in (tmp_path / folder).iterdir()}
    assert not names & {"access.json", "cookies.txt", "feeds.opml"}
