"""Killed at random times during edits, deletions and compaction, an archive keeps its promises.

Each process opens the archive and recovers what the previous one left.
"""

import asyncio
import json
import logging
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from archiver.app import open_app
from tests.durability.changing import settings_of
from tests.prepared_archives import import_warc
from tests.processes import Archive
from tests.warcs import Warc

log = logging.getLogger(__name__)

KILLS = 4
PAGES = 50
MAX_SPARED = 3
"""Number of changes that a process completes before it is killed."""
MAX_SECONDS = 0.15
"""Seconds until it is killed after that."""


class Acknowledged:
    """Acknowledged content of an archive. After a kill, the last started change may be missing."""

    def __init__(self, initial: dict[str, str]) -> None:
        self.notes = {url: {note} for url, note in initial.items()}
        self.deleted: set[str] = set()
        self.kill_counts: Counter[str] = Counter()
        self._started_change: dict[str, str] = {}

    def update(self, message: dict[str, str]) -> None:
        if "begun" in message:
            self._started_change = message
        elif message.get("done") == "delete":
            self.notes.pop(message["url"])
            self.deleted.add(message["url"])
        elif message.get("done") == "edit":
            self.notes[message["url"]] = {message["note"]}
        if "done" in message:
            self._started_change = {}

    def end(self) -> None:
        """Handle the kill: the started change is either done or not."""
        kind, url = (
            self._started_change.get("begun", "nothing"),
            self._started_change.get("url", ""),
        )
        self.kill_counts[kind] += 1
        if kind == "edit":
            self.notes[url].add(self._started_change["note"])
        if kind == "delete":
            self.notes[url].add("deleted")
        self._started_change = {}

    def check(self, stored: dict[str, str]) -> None:
        assert not self.deleted & stored.keys(), "a deleted entry came back"
        for url, notes in self.notes.items():
            assert stored.get(url, "deleted") in notes, "an acknowledged note is lost"
        assert stored.keys() <= self.notes.keys()
        self.deleted |= self.notes.keys() - stored.keys()
        self.notes = {url: {note} for url, note in stored.items()}


async def prepare(data: Path) -> dict[str, str]:
    """Add pages of another archive, some with equal bytes."""
    warc = Warc()
    for number in range(PAGES):
        body = f"<title>{number}</title><p>Words of page {number // 2}."
        warc.response(f"https://a.example/{number}", body.encode(), "text/html")
    async with open_app(settings_of(data)) as archive:
        await import_warc(archive, warc.bytes)
    return {f"https://a.example/{number}": "" for number in range(PAGES)}


@asynccontextmanager
async def changing(data: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.durability.changing", str(data)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    yield process
    process.stdin.close()
    await process.wait()


async def killed_once(program: asyncio.subprocess.Process, changes: Acknowledged, chance) -> None:
    """Run a process that changes the archive, and kill it."""
    program.stdin.write(b"%d\n" % chance.getrandbits(40))
    child, timer, spared = 0, None, chance.randint(0, MAX_SPARED)
    while True:
        acknowledged = json.loads(await program.stdout.readline())
        child = acknowledged.get("child", child)
        if "held" in acknowledged:
            changes.check(acknowledged["held"])
        if "done" in acknowledged:
            spared -= 1
        if "begun" in acknowledged and timer is None and spared <= 0:
            delay = chance.uniform(0, MAX_SECONDS)
            timer = asyncio.get_running_loop().call_later(delay, os.kill, child, signal.SIGKILL)
        if "ended" in acknowledged:
            assert timer, "it ended by itself"
            return changes.end()
        changes.update(acknowledged)


async def test_acknowledged_changes_and_deletions_survive_repeated_kills(tmp_path):
    archive = Archive(tmp_path)
    changes = Acknowledged(await prepare(archive.data))
    seed = random.SystemRandom().getrandbits(40)
    log.warning("seed %s", seed)  # shown with a failure
    chance = random.Random(seed)

    async with changing(archive.data) as program:
        for _ in range(KILLS):
            await killed_once(program, changes, chance)

    log.warning("killed at %s", changes.kill_counts)
    listing, texts = await archive.listing_and_texts()
    changes.check({each["url"]: each["note"] for each in listing})
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]
    assert await archive.warcio_check() == 0
    await archive.run("reindex")
    assert await archive.listing_and_texts() == (listing, texts)
    await archive.run("compact")
    assert await archive.listing_and_texts() == (listing, texts)
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]
    assert changes.deleted
