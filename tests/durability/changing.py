"""Changes an archive until it is killed.

``python -m tests.durability.changing DATA`` imports the program once. For each line of input, a
seed, it forks a process that opens the archive, prints its content, and then edits, deletes and
compacts. It prints each change before it starts and after it is done.
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
"""Number of entries that are never deleted."""


def settings_of(data: Path) -> Settings:
    """Return the settings of the archive."""
    return Settings(data=data, host_delay=0)


def print_event(**what: object) -> None:
    """Print a line atomically."""
    os.write(1, json.dumps(what).encode() + b"\n")


async def notes_by_url(archive: App) -> dict[str, str]:
    """Return the note of each entry by URL."""
    listing = await archive.search.listing(ListingQuery(limit=200))
    return {each.entry.url: each.entry.annotation.note for each in listing.items}


async def change(data: Path, seed: int) -> None:
    """Change the archive repeatedly."""
    chance = Random(seed)
    async with open_app(settings_of(data)) as archive:
        entries = await notes_by_url(archive)
        print_event(held=entries)
        urls = sorted(entries)
        for number in count():
            kind = chance.choice(("edit", "edit", "delete", "compact")) if number else "delete"
            if kind == "delete" and len(urls) <= LEAST:
                kind = "edit"
            url = chance.choice(urls)
            note = f"{seed}-{number}"
            print_event(begun=kind, url=url, note=note)
            if kind == "edit":
                await archive.editing.change([url], AnnotationChange(note=note))
            elif kind == "delete":
                urls.remove(url)
                await archive.deleting.entries([url])
            else:
                await archive.crawling.close_segment()
                await archive.compacting.compact(empty_bin=True)
            if chance.random() < 1 / 2:
                await archive.crawling.write_pending_records()
            print_event(done=kind, url=url, note=note)


def main(data: Path) -> None:
    """Fork a process for each seed, one after the other."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            asyncio.run(change(data, int(line)))
        print_event(child=child)
        os.waitpid(child, 0)
        print_event(ended=child)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
