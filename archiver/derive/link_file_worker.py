"""A child that reads one file of links: bytes on its standard input, seeds on its output.

Run as ``python -m archiver.derive.link_file_worker MEMORY_BYTES SKIP CHOICES NAME URL``, CHOICES as
``model.choices`` writes them. It first says what kind of file it is, or why it can't be read; then
come batches, and an empty one at the end.
"""

import gc
import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from archiver.derive.link_chunks import Chunk, read_chunks
from archiver.derive.messages import COLLECT, pack
from archiver.derive.packed_seeds import pack_columns
from archiver.derive.seed_messages import PageOfSeed, pack_seeds
from archiver.errors import InvalidUrl, UnreadableFile
from archiver.formats.generic import ANY_TABLE, file_columns
from archiver.formats.given_file import GivenFile
from archiver.formats.importers import importer_of, read_all
from archiver.formats.seeds import bounded
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.choices import Choices
from archiver.model.entry_list import GivenLists
from archiver.model.importing import Rejected
from archiver.model.message import marked
from archiver.model.survey import ends_of
from archiver.urls.parse import hash_url, host, parse_url
from archiver.wire.text import well_formed

MOST_SHOWN = 500
NOT_CHOSEN = marked("It lies in none of the folders that were chosen.")
_PIECE = 1 << 20


def main() -> None:
    """Read to the end, or until the other side closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory, skip = int(sys.argv[1]), int(sys.argv[2])
    choices, name, url = Choices.read(sys.argv[3]), sys.argv[4], sys.argv[5]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.set_threshold(*COLLECT)
    try:
        file = GivenFile(
            sys.stdin.buffer, name, spool=_spooled, columns_as=choices.columns, url=url
        )
        importer = importer_of(file)
        if importer.says_all_tags:
            choices = choices.with_tags_stated()
        found = read_all(file, importer)
        for _ in islice(found, skip):
            pass
        chunks = read_chunks(file, found)
        chunk = next(chunks)
        batch = _first_batch(chunk, choices, skip, name)
    except UnreadableFile as error:
        values = {name: str(value) for name, value in error.sentence.values.items()}
        _say(pack({"refused": error.sentence.text, "values": values}))
        return
    head = {"form": importer.name, "encoding": file.encoding, "told_by": file.told_by}
    columns = file_columns(file) if importer is ANY_TABLE else {}
    _say(pack({**head, "columns": [*columns.items()]}))
    _say_batch(batch, chunk, choices, name)
    _say_batches(chunks, choices, name, skip + batch.size)


def _first_batch(chunk: Chunk, choices: Choices, skip: int, name: str) -> "_Batch":
    """Make seeds of the first links behind those that are skipped.

    Raises:
        UnreadableFile: it is what it seemed to be by how it begins, and yet can't be read.
    """
    first = _batch_of(chunk, choices, skip)
    if first.is_broken and not (skip or chunk.lists):
        raise UnreadableFile(
            "{name} holds no link that can be read. {problem}",
            name=name,
            problem=first.rejected[0].reason,
        )
    return first


def _say_batches(chunks: Iterator[Chunk], choices: Choices, name: str, row: int) -> None:
    """Hand all other links over, the last batch an empty one."""
    for chunk in chunks:
        batch = _batch_of(chunk, choices, row)
        _say_batch(batch, chunk, choices, name)
        row += batch.size


def _say_batch(batch: "_Batch", chunk: Chunk, choices: Choices, name: str) -> None:
    """Hand some links over, with the lists that were met."""
    lists = GivenLists(choices.arranged(chunk.lists), chunk.lists_left_out)
    seeds = pack_columns(batch.addresses, batch.annotations, f"import:{name}")
    _say(pack_seeds(seeds, batch.rejected, batch.pages, lists, ends_of(batch.saved)))


def _batch_of(chunk: Chunk, choices: Choices, row: int) -> "_Batch":
    """Make seeds of some links, which stand behind so many others."""
    batch, now = _Batch(), datetime.now(UTC)
    for bookmark in chunk.bookmarks:
        row += 1
        given = bookmark.annotation
        if bookmark.problem:
            batch.reject(given.url_given, bookmark.problem, row)
            batch.broken += bookmark.is_broken
        elif not choices.takes(given):
            batch.leave_out(given.url_given, row)
        else:
            annotation = bounded(choices.applied(given, "")).dated(now)
            try:
                url = parse_url(annotation.url_given)
            except InvalidUrl as error:
                batch.reject(given.url_given, str(error), row)
            else:
                batch.add(url, annotation, bookmark)
    return batch


class _Batch:
    """What was read of a file, to be handed over at once."""

    def __init__(self) -> None:
        self.addresses: list[tuple[str, str, str]] = []
        self.annotations: list[Annotation] = []
        self.rejected: list[Rejected] = []
        self.pages: list[PageOfSeed] = []
        self.saved: list[int] = []
        """As the file says it, in Unix seconds; those of which it says nothing are saved now."""
        self.broken = 0

    @property
    def is_broken(self) -> bool:
        """Whether nothing was read but that the file can't be read."""
        return 0 < self.broken == self.size

    @property
    def size(self) -> int:
        return len(self.annotations) + len(self.rejected)

    def add(self, url: str, annotation: Annotation, bookmark: Bookmark) -> None:
        is_dated = bookmark.annotation.added_at is not None
        if is_dated:
            self.saved.append(int(annotation.saved_at.timestamp() // 1))
        if bookmark.page:
            self.pages.append(PageOfSeed(len(self.annotations), bookmark.page, is_dated))
        self.addresses.append((hash_url(url), url, host(url)))
        self.annotations.append(annotation)

    def reject(self, given: str, reason: str, row: int) -> None:
        shown = well_formed(given[:MOST_SHOWN])
        self.rejected.append(Rejected(shown, well_formed(reason), row))

    def leave_out(self, given: str, row: int) -> None:
        shown = well_formed(given[:MOST_SHOWN])
        left_out = Rejected(shown, NOT_CHOSEN, row, is_left_out=True)
        self.rejected.append(left_out)


def _spooled(stream: BinaryIO) -> BinaryIO:
    """A stream's content as a file that nobody else finds, for kinds that can't be read in order.

    It has a name, for who reads SQLite, and is gone with this process.
    """
    spooled = NamedTemporaryFile(prefix="archiver-")  # noqa: SIM115 - open until this process ends
    shutil.copyfileobj(stream, spooled, _PIECE)
    spooled.seek(0)
    return cast("BinaryIO", spooled)


def _say(message: bytes) -> None:
    try:
        sys.stdout.buffer.write(message)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    try:
        main()
    except MemoryError:
        os._exit(1)  # whoever started it says so, in words
