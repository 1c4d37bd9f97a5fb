"""A permanently lost machine: its data is reported as lost, and everything else continues."""

import json

import pytest
from aiohttp import ClientSession
from aiohttp.web import HTTPNotFound

from tests.cluster.commands import archiver, ran, refused


@pytest.fixture
def here(address, store, tmp_path):
    """A machine that can't upload its segments."""
    store.proxy.failing = {"PUT": 503}
    shared = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": store.address}
    return shared | {"ARCHIVER_DATA": str(tmp_path / "a")}


@pytest.fixture
def there(here, tmp_path):
    (tmp_path / "b").mkdir()
    return here | {"ARCHIVER_DATA": str(tmp_path / "b")}


@pytest.fixture
async def lost(live, here, there, address, store, tmp_path):
    """Leave the remains of a machine with a page and a job; return its name."""
    live.page = live.article("page")
    live.twin = live.put("/twin", await _body(live.page))
    live.held = live.answer("/held", _hang_until(live.closing))
    assert (await ran("add", live.page, **here))[0] == 0
    assert (await ran("add", live.twin, **there))[0] == 0
    await ran("import", "-", "--no-crawl", said=live.held, **here)
    async with archiver("crawl", **here) as running:
        await live.asked_for("/held")
        running.kill()
        await running.wait()
    (tmp_path / "a").rename(tmp_path / "gone")
    store.proxy.failing = {}
    return (tmp_path / "gone" / "machine").read_text().split()[0]


async def _body(url):
    async with ClientSession() as web, web.get(url) as answer:
        return await answer.text()


async def test_data_of_a_lost_machine_is_reported_and_its_jobs_are_done_by_others(
    live, here, there, lost, tmp_path
):
    code, message = await refused("machines", "--forget", "another", **there)
    assert (code, "The machine another has no segments" in message) == (1, True), message
    _, unsealed = await ran("machines", "--unsealed", **there)
    ((machine, place, segment, _),) = (
        line.split() for line in unsealed.splitlines() if line.startswith(lost)
    )
    assert (machine, place) == (lost, "elsewhere")
    _, report = await ran("machines", "--forget", lost, **there)

    assert report.splitlines()[0].split() == ["lost", segment]
    live.put("/held", "<title>held</title>")
    assert (await ran("crawl", **there))[0] == 0
    shown = [await _shown(url, **there) for url in (live.page, live.twin, live.held)]
    assert [each["state"] for each in shown] == ["failed", "failed", "saved"]
    assert all(lost in each["failure"]["message"] for each in shown[:2])
    assert await ran("machines", "--unsealed", **there) == (0, "")
    assert "problems\t0" in (await ran("verify", **there))[1]

    # A lost page can be saved again.
    assert (await ran("add", live.twin, **there))[0] == 0
    assert "clever" in (await ran("show", live.twin, **there))[1]
    # Its payload is stored again, so a reindex would restore the lost snapshot, too.
    _, checked = await ran("verify", **there)
    assert f"{live.twin} " in checked.splitlines()[0]
    assert "The index lacks this snapshot" in checked.splitlines()[0]
    assert "problems\t1" in checked

    # A machine that returns brings its pages.
    (tmp_path / "gone").rename(tmp_path / "a")
    assert live.page in (await ran("list", "--status", "saved", **here))[1]
    assert "clever" in (await ran("show", live.page, **here))[1]
    assert (await ran("machines", "--forget", lost, **here))[0] == 1


async def _shown(url, **variables):
    return json.loads((await ran("show", "--json", url, **variables))[1])


def _hang_until(closing):
    async def answer(_):
        await closing.wait()
        raise HTTPNotFound

    return answer
