"""Killed at each step of a compaction, an archive loses nothing, and nothing deleted returns."""

import asyncio
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.services.reindex import reindex
from tests.conftest import live_web
from tests.system_calls import killing

STEPS = [
    ("rename", ".{first}.new"),
    ("unlink", "{was}"),
    ("rename", ".{second}.new"),
]
"""The system call at which the program is killed, and its file or directory.

The first version adds a payload, the second one removes the record that had it.
"""


def settings_of(data: Path) -> Settings:
    return Settings(data=data, allow_networks=("127.0.0.0/8",), host_delay=0, retries=0)


async def prepare(data: Path) -> None:
    """Add four pages, two of them equal; of those the one with the payload is deleted."""
    async with live_web() as live, open_app(settings_of(data)) as archive:
        same = "<title>Twin</title><p>the same bytes"
        urls = [live.put("/twin", same), live.put("/other", same)]
        urls += [live.article("a"), live.article("b")]
        await archive.entries.save(urls[:1], source="cli")
        await archive.crawling.work()
        await archive.entries.save(urls[1:], source="cli", tags=("said",))
        await archive.crawling.work()
        await archive.deleting.entries([urls[0], urls[2]])
        await archive.crawling.write_pending_records()
        await archive.crawling.close_segment()


async def content_of(data: Path) -> tuple[object, ...]:
    """Return the content of the archive, including payloads and problems found by `verify`."""
    async with open_app(settings_of(data)) as archive:
        listing = await archive.search.listing(ListingQuery())
        entries = sorted((each.entry for each in listing.items), key=lambda entry: entry.url)
        texts = [(await archive.entries.snapshot(each.url)).text for each in entries]
        captured = [
            (len(await archive.replay.captures_of(f"{origin(entries)}/{name}")), name)
            for name in ("twin", "other", "a", "b")
        ]
        wrong = [each async for each in archive.fixity.verify() if each.is_wrong]
    return entries, texts, captured, wrong


def origin(entries: list) -> str:
    return entries[0].url.rpartition("/")[0]


def killed_compaction(data: Path, *strace: str) -> int:
    """Run the program under strace; return the signal that ended it, or 0."""
    program = (sys.executable, "-m", "archiver", "compact", "--empty-bin", "--data", str(data))
    ended = subprocess.run([*strace, *program], capture_output=True, check=False)
    return max(-ended.returncode, ended.returncode - 128, 0)


async def compact(data: Path) -> None:
    async with open_app(settings_of(data)) as archive:
        await archive.compacting.compact(empty_bin=True)


def test_an_archive_is_complete_at_whichever_step_a_compaction_was_killed(tmp_path, subtests):
    source = tmp_path / "prepared" / "data"
    asyncio.run(prepare(source))
    before = asyncio.run(content_of(source))
    for number, (call, file) in enumerate(STEPS):
        with subtests.test(call=call, file=file):
            shutil.copytree(source, data := tmp_path / str(number) / "data")
            check_step(data, before, call, file)


def check_step(data: Path, before: tuple[object, ...], call: str, file: str) -> None:
    """Kill a compaction at a step; check the archive, a later compaction and a reindex."""
    (segment,) = (
        path.name
        for path in sorted((data / "warc").glob("*.warc.gz"))
        if b"twin" in b"".join(_targets(path))
    )
    stem = segment.removesuffix(".warc.gz")
    names = {
        "was": segment,
        "first": f"{stem}.2.warc.gz",
        "second": f"{stem}.3.warc.gz",
    }
    about = data / "warc" / file.format(**names)
    assert killed_compaction(data, *killing(call, about)) == signal.SIGKILL

    shutil.copytree(data, again := data.with_name("again"))
    assert asyncio.run(content_of(data)) == before
    asyncio.run(compact(data))
    assert asyncio.run(content_of(data)) == before
    check(data)
    asyncio.run(reindex(settings_of(again)))
    assert asyncio.run(content_of(again)) == before


def _targets(path: Path):
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            yield (record.rec_headers.get_header("WARC-Target-URI") or "").encode()


def check(data: Path) -> None:
    """Check every digest with another implementation, and that there is one file per segment."""
    paths = [path for path in (data / "warc").iterdir() if not path.name.endswith(".torn")]
    for path in paths:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
    stems = [path.name.split(".")[0] for path in paths]
    assert sorted(stems) == sorted(set(stems))
    assert [path.name for path in paths if not path.name.startswith("archiver-")] == []
