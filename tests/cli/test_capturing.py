"""Capturing commands: options, progress, extraction, recapture and recovery."""

import asyncio
from dataclasses import replace

import click
import pytest

from archiver.app import App, open_app
from archiver.cli.crawl import _showing_progress, recapture
from archiver.cli.main import cli, run
from archiver.cli.terminal import Bar
from archiver.config import Settings
from archiver.db import crawl_status, queue
from archiver.model.job import QueueCounts
from archiver.model.listing import ListingQuery
from archiver.services.crawling import Crawling


async def test_only_missing_resources_are_fetched(tmp_path, live):

    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    whole = live.article("whole")
    incomplete = live.article("torn", head="<link rel=stylesheet href=/late.css>")
    async with open_app(settings) as runtime:
        await runtime.entries.save([whole, incomplete], source="cli")
        await runtime.crawling.work()
        before = await runtime.entries.snapshot(incomplete)
    live.put("/late.css", "p { color: red }", kind="text/css")

    assert await recapture(settings, refs=(), below=None) == 0

    async with open_app(settings) as runtime:
        after = await runtime.entries.snapshot(incomplete)
    assert [each.status for each in before.requisites] == [404]
    assert [each.status for each in after.requisites] == [200]
    assert live.requests["/whole"] == 1
    assert after.charset.used == "utf-8"


async def test_a_resource_missing_twice_is_requested_again_only_explicitly(tmp_path, live, capsys):
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    incomplete = live.article("torn", head="<link rel=stylesheet href=/never.css>")
    async with open_app(settings) as runtime:
        await runtime.entries.save([incomplete], source="cli")
        await runtime.crawling.work()

    output = []
    for refs in ((), (), (incomplete,)):
        await recapture(settings, refs=refs, below=None)
        output.append(capsys.readouterr().out.split()[:4])

    assert output[0][:2] == ["queued", "1"]
    assert output[1] == ["queued", "0", "gone", "1"]
    assert output[2][:2] == ["queued", "1"]
    assert live.requests["/torn"] == 3


async def test_low_quality_captures_are_queued_for_a_browser(tmp_path, live):
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    whole = live.article("whole")
    shell = live.put(
        "/shell", "<div id=root></div><script>root.textContent = 'Shown by a script.'</script>"
    )
    async with open_app(replace(settings, render="never")) as runtime:
        await runtime.entries.save([whole, shell], source="cli")
        await runtime.crawling.work()
        assert await scores_found(runtime, "score:<0.5") == [shell]
        assert await scores_found(runtime, "score:>=0.9") == [whole]

        assert await runtime.recaptures.below(50, render=True) == 1

        async with runtime.db.read() as conn:
            (lease,) = await queue.as_leases(conn, await crawl_status.queued(conn, limit=9))
    assert (lease.entry.url, lease.render) == (shell, True)


async def test_failures_of_named_entries_are_printed_with_their_reason(tmp_path, live, capsys):
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    missing = live.article("gone")
    async with open_app(settings) as runtime:
        await runtime.entries.save([missing], source="cli")
        await runtime.crawling.work()
    live.put("/gone", "no more", status=410)

    status = await recapture(settings, refs=(missing,), below=None)

    last_line = capsys.readouterr().out.splitlines()[-1]
    assert (status, "failed" in last_line, f"{missing}: " in last_line, "410" in last_line) == (
        1,
        True,
        True,
        True,
    )


async def scores_found(runtime: App, q: str) -> list[str]:
    listing = await runtime.search.listing(ListingQuery(q=q))
    return [each.entry.url for each in listing.items]


URL = "https://example.org/"


def test_render_can_have_a_value_or_none():
    # The parent context sets the names of the help option, which click caches at first use.
    program = click.Context(cli, info_name="archiver", **cli.context_settings)
    for arguments, render, urls in (
        (["--render", URL], "always", (URL,)),
        ([URL, "--render"], "always", (URL,)),
        (["--render", "--tag", "t", URL], "always", (URL,)),
        (["--render", "-"], "always", ("-",)),
        (["--render", "always", URL], "always", (URL,)),
        (["--render", "never", URL], "never", (URL,)),
        (["--render=auto", URL], "auto", (URL,)),
        (["--", URL, "--render"], None, (URL, "--render")),
        ([URL], None, (URL,)),
    ):
        with cli.commands["add"].make_context("add", [*arguments], parent=program) as read:
            assert (read.params["render"], read.params["urls"]) == (render, urls), arguments


class SeenBar(Bar):
    """A visible progress bar."""

    is_shown = True

    def __init__(self) -> None:
        self.seen: asyncio.Future[tuple[float, float | None, str]] = asyncio.Future()

    def show(self, *, done: float, total: float | None = None, now: str = "") -> None:
        if not self.seen.done():
            self.seen.set_result((done, total, now))


async def test_a_bar_shows_the_progress_of_the_queue(crawl):
    await crawl.queue("http://a.example/", "http://b.example/")
    bar = SeenBar()

    async with _showing_progress(
        Crawling(crawl.context), bar, QueueCounts(), ["http://a.example/"]
    ):
        assert await asyncio.wait_for(bar.seen, 60) == (0, 2, "http://a.example/")


@pytest.fixture
def data_option(tmp_path):
    (tmp_path / "data").mkdir()
    return ["--data", str(tmp_path / "data")]


def test_an_unknown_archive_is_refused_with_the_known_names(data_option, capsys):
    assert run(["rescue", "--rescue", "waybak", *data_option]) == 2
    assert "aggregator" in capsys.readouterr().err
