"""Changes an archive until somebody ends it: a program that tests kill.

``python -m tests.durability.changing DATA`` loads the program once. For each line that it reads, a
seed, it forks a process that opens the archive, says what it finds, and then edits, throws away
and compacts, saying before each of them what it begins, and after it that it is done.
"""

import asyncio
import json
import os
import sys
from itertools import count
from pathlib import Path
from random import Random

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.model.annotation import AnnotationChange
from archiver.model.listing import ListingQuery

LEAST = 20
"""So many entries are left, however many a seed would throw away."""


def settings_of(data: Path) -> Settings:
    """Those of the archive that is changed."""
    return Settings(data=data, host_delay=0)


def say(**what: object) -> None:
    """Tell whoever listens; a line is whole or not there."""
    os.write(1, json.dumps(what).encode() + b"\n")


async def found(archive: App) -> dict[str, str]:
    """The note of each entry, by its address."""
    listing = await archive.search.listing(ListingQuery(limit=200))
    return {each.entry.url: each.entry.annotation.note for each in listing.items}


async def change(data: Path, seed: int) -> None:
    """Change what there is, again and again."""
    chance = Random(seed)
    async with open_app(settings_of(data)) as archive:
        held = await found(archive)
        say(held=held)
        urls = sorted(held)
        for number in count():
            kind = chance.choice(("edit", "edit", "delete", "compact"))
            if kind == "delete" and len(urls) <= LEAST:
                kind = "edit"
            url = chance.choice(urls)
            note = f"{seed}-{number}"
            say(begun=kind, url=url, note=note)
            if kind == "edit":
                await archive.editing.change([url], AnnotationChange(note=note))
            elif kind == "delete":
                urls.remove(url)
                await archive.deleting.entries([url])
            else:
                await archive.crawling.close_segment()
                await archive.compacting.compact(empty_bin=True)
            if chance.random() < 1 / 2:
                await archive.crawling.write_down_changes()
            say(done=kind, url=url, note=note)


def main(data: Path) -> None:
    """Fork a process for each seed; the next one when it has ended."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            asyncio.run(change(data, int(line)))
        say(child=child)
        os.waitpid(child, 0)
        say(ended=child)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
