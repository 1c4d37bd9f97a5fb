"""A permanently lost machine: its data is reported as lost, and everything else continues."""

import json

import pytest
from aiohttp import ClientSession
from aiohttp.web import HTTPNotFound

from tests.cluster.commands import archiver, run, run_expecting_error


@pytest.fixture
async def _lost_machine(live, variables_a, variables_b, store, tmp_path):
    """Leave the remains of a machine with a page and a job."""
    store.proxy.failing = {"PUT": 503}
    live.page = live.article("page")
    live.twin = live.put("/twin", await _body(live.page))
    live.held = live.add_handler("/held", _hang_until(live.closing))
    assert (await run("add", live.page, **variables_a))[0] == 0
    assert (await run("add", live.twin, **variables_b))[0] == 0
    await run("import", "-", "--no-crawl", input_data=live.held, **variables_a)
    async with archiver("crawl", **variables_a) as running:
        await live.wait_for_request("/held")
        running.kill()
        await running.wait()
    (tmp_path / "a").rename(tmp_path / "gone")
    store.proxy.failing = {}


async def _body(url):
    async with ClientSession() as web, web.get(url) as answer:
        return await answer.text()


@pytest.mark.usefixtures("_lost_machine")
async def test_data_of_a_lost_machine_is_reported_and_its_jobs_are_done_by_others(
    live, variables_a, variables_b, tmp_path
):
    code, message = await run_expecting_error("reindex", **variables_b)
    assert (code, "--accept-missing" in message) == (1, True), message
    assert (await run("reindex", "--accept-missing", **variables_b))[0] == 0

    live.put("/held", "<title>held</title>")
    assert (await run("crawl", **variables_b))[0] == 0
    shown = [await _shown(url, **variables_b) for url in (live.page, live.twin, live.held)]
    assert [each["state"] for each in shown] == ["failed", "saved", "saved"]
    assert "run `archiver reindex`" in shown[0]["failure"]["message"]
    # The payload of the second page was stored for the first one; its article was stored for both.
    assert "clever" in shown[1]["text"]
    assert "problems\t0" in (await run("verify", **variables_b))[1]

    # A lost page can be saved again.
    assert (await run("add", live.twin, **variables_b))[0] == 0
    assert "clever" in (await run("show", live.twin, **variables_b))[1]
    assert "problems\t0" in (await run("verify", **variables_b))[1]

    # A machine that returns brings its pages.
    (tmp_path / "gone").rename(tmp_path / "a")
    assert live.page in (await run("list", "--status", "saved", **variables_a))[1]
    assert "clever" in (await run("show", live.page, **variables_a))[1]


async def _shown(url, **variables):
    return json.loads((await run("show", "--json", url, **variables))[1])


def _hang_until(closing):
    async def answer(_):
        await closing.wait()
        raise HTTPNotFound

    return answer
