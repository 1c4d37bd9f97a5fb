"""Recapturing fills the gaps of snapshots, and leaves alone what has none."""

from archiver.cli.recapture import _recapture
from archiver.config import Settings
from archiver.runtime import open_runtime


async def test_what_was_missing_is_there_afterwards_and_nothing_else_is_fetched(tmp_path, live):

    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    whole = live.article("whole")
    torn = live.article("torn", head="<link rel=stylesheet href=/late.css>")
    async with open_runtime(settings) as runtime:
        await runtime.entries.save([whole, torn], source="cli")
        await runtime.crawling.work()
        before = await runtime.entries.snapshot(torn)
    live.put("/late.css", "p { color: red }", kind="text/css")

    assert await _recapture(settings, ()) == 0

    async with open_runtime(settings) as runtime:
        after = await runtime.entries.snapshot(torn)
    assert [each.status for each in before.requisites] == [404]
    assert [each.status for each in after.requisites] == [200]
    assert live.asked["/whole"] == 1
    assert after.charset.used == "utf-8"


async def test_what_was_gone_twice_running_is_asked_for_again_only_by_name(tmp_path, live, capsys):
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    torn = live.article("torn", head="<link rel=stylesheet href=/never.css>")
    async with open_runtime(settings) as runtime:
        await runtime.entries.save([torn], source="cli")
        await runtime.crawling.work()

    told = []
    for refs in ((), (), (torn,)):
        await _recapture(settings, refs)
        told.append(capsys.readouterr().out.split()[:4])

    assert told[0][:2] == ["queued", "1"]
    assert told[1] == ["queued", "0", "gone", "1"]
    assert told[2][:2] == ["queued", "1"]
    assert live.asked["/torn"] == 3
