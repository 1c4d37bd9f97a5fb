"""A child that reads one file of links: bytes on its standard input, seeds on its output.

Run as ``python -m archiver.derive.link_file_worker MEMORY_BYTES SKIP NAME``. It first says what
kind of file it is, or why it can't be read; then come batches, and an empty one at the end.
"""

import gc
import os
import resource
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

from archiver.derive.messages import COLLECT, pack, pack_seeds
from archiver.errors import InvalidUrl, UnreadableFile
from archiver.formats.importers import open_bookmarks
from archiver.formats.seeds import bounded, seed_of
from archiver.model.bookmark import Bookmark
from archiver.model.importing import Rejected

BATCH = 5000


def main() -> None:
    """Read to the end, or until the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory, skip, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.set_threshold(*COLLECT)
    try:
        form, found = open_bookmarks(sys.stdin.buffer, name)
    except UnreadableFile as error:
        _say(pack({"refused": str(error)}))
        return
    _say(pack({"form": form}))
    for _ in islice(found, skip):
        pass
    while _say_batch(found, name):
        pass


def _say_batch(found: Iterator[Bookmark], name: str) -> bool:
    seeds, rejected, now = [], [], datetime.now(UTC)
    for bookmark in islice(found, BATCH):
        annotation = replace(bookmark.annotation, source=f"import:{name}")
        try:
            seeds.append(seed_of(bounded(annotation), now=now))
        except InvalidUrl as error:
            rejected.append(Rejected(annotation.url_given[:500], str(error)))
    _say(pack_seeds(seeds, rejected))
    return bool(seeds or rejected)


def _say(message: bytes) -> None:
    try:
        sys.stdout.buffer.write(message)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
