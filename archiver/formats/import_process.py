"""Client of the child process that reads files of links.

The child's memory is limited, so a hostile file can only kill the child. The child reads ahead
while the service indexes earlier batches. It sends a ``FileHead``, then each ``Batch``.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from msgspec.msgpack import Decoder

from archiver.errors import UnreadableFile
from archiver.helpers import end_child, scratch_directory, start_child
from archiver.logs import get_log
from archiver.model.entry_list import ListsInFile
from archiver.model.imports import (
    NO_CHOICES,
    Choices,
    ColumnRole,
    Rejected,
    as_message,
)
from archiver.model.seed import ArchivedPage, Seed
from archiver.pages.worker_messages import PREFIX

NO_LISTS = ListsInFile()


@dataclass(slots=True)
class FileSeed:
    """A seed and its row in the file, counted from 1."""

    row: int
    seed: Seed


@dataclass(frozen=True, slots=True)
class PageOfSeed:
    """Page that was included with a link.

    Attributes:
        place: index of its link among the seeds of the batch.
        page: the page and its parts.
        is_dated: whether the file states when the link was saved.
    """

    place: int
    page: ArchivedPage
    is_dated: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive links of a file; empty at the end of the file.

    Attributes:
        seeds: the links that can be saved.
        rejected: the rows that are invalid or were not chosen.
        pages: pages included with seeds.
        lists: lists named in the file, with or without entries.
        saved: the earliest and the latest date (Unix seconds) on which a link was saved; empty if
            the file states none.
    """

    seeds: Sequence[FileSeed] = ()
    rejected: Sequence[Rejected] = ()
    pages: Sequence[PageOfSeed] = ()
    lists: ListsInFile = NO_LISTS
    saved: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.seeds or self.rejected or self.lists)

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.seeds) + len(self.rejected)


@dataclass(frozen=True, slots=True)
class FileHead:
    """First message of the child.

    Attributes:
        form, encoding, columns: see ``LinkFile``.
        refused: why the file can't be read, with placeholders; empty if it can.
        values: values of the placeholders.
    """

    form: str = ""
    encoding: str = ""
    columns: tuple[tuple[str, ColumnRole], ...] = ()
    refused: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


_HEADS, _BATCHES = Decoder(FileHead), Decoder(Batch)

BATCH = 4_000
"""Links per message and transaction.

A larger transaction writes fewer pages of the index per link, but other writers wait longer for it:
about 0.4 s with this number.
"""
PIECE = 256 << 10
READ_AHEAD = 4 << 20
"""Bytes of messages buffered for the index; the child pauses when there are more."""
MAX_MESSAGE_BYTES = 1 << 30

log = get_log(__name__)


class LinkFile:
    """File of links that is being read.

    Attributes:
        name: the user's name for the file.
        form: the name of its format.
        encoding: the encoding of its text; empty if it is not text.
        columns: the roles of the columns of a generic table; empty otherwise.
        choices: the user's choices for all links.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, head: FileHead, name: str, choices: Choices
    ) -> None:
        self.name = name
        self.choices = choices
        self.form = head.form
        self.encoding = head.encoding
        self.columns = head.columns
        self._process = process
        self._following = asyncio.create_task(self._read_batch(), name="read-links")

    async def first_batch(self) -> Batch:
        """Return the first links.

        Raises:
            UnreadableFile: the file contains no link, or the child stopped.
        """
        batch = await self.next_batch()
        if not batch:
            raise UnreadableFile("{name} contains no links. Is it the right file?", name=self.name)
        return batch

    async def next_batch(self) -> Batch:
        """Return the next links; an empty batch at the end of the file.

        The batch after it is read while the caller stores this one.

        Raises:
            UnreadableFile: the child stopped before the end of the file.
        """
        batch = await self._following
        if batch:
            self._following = asyncio.create_task(self._read_batch(), name="read-links")
        return batch

    async def stop(self) -> None:
        """Stop reading; further batches are dropped."""
        self._following.cancel()
        await asyncio.gather(self._following, return_exceptions=True)

    async def _read_batch(self) -> Batch:
        return _BATCHES.decode(await _receive(self._process, self.name))


@asynccontextmanager
async def open_links(
    source: BinaryIO,
    name: str,
    *,
    memory_bytes: int,
    skip: int = 0,
    choices: Choices = NO_CHOICES,
    url: str = "",
) -> AsyncIterator[LinkFile]:
    """Read a file of links from its current position, in a child process.

    Args:
        source: the file. It need not be seekable, and it is not closed.
        name: the user's name for the file.
        memory_bytes: limit of the child's address space.
        skip: the number of rows to skip first.
        choices: the user's choices for all links.
        url: the URL of the file, for relative links in it.

    Raises:
        UnreadableFile: the file is empty, or no importer recognises it.
    """
    arguments = str(memory_bytes), str(BATCH), str(skip), choices.write(), name, url
    # The child may be killed with copies of the file open, so its parent deletes them.
    async with scratch_directory() as scratch:
        process = await start_child(
            "archiver.formats.import_worker", *arguments, limit=READ_AHEAD, TMPDIR=scratch
        )
        feeding = asyncio.create_task(_feed(source, process), name="feed-links")
        try:
            head = _HEADS.decode(await _receive(process, name))
            if head.refused:
                raise _refusal_of(head)
            links = LinkFile(process, head, name, choices)
            try:
                yield links
            finally:
                await links.stop()
        finally:
            feeding.cancel()
            await end_child(process)
            await asyncio.wait([feeding])


def _refusal_of(head: FileHead) -> UnreadableFile:
    """Return the error that the child reported; the problem of a row in it is made translatable."""
    values: dict[str, Any] = {**head.values}
    if "problem" in values:
        values["problem"] = as_message(values["problem"])
    return UnreadableFile(head.refused, **values)


async def _feed(source: BinaryIO, process: asyncio.subprocess.Process) -> None:
    sink: Any = process.stdin
    with suppress(ConnectionError):
        while piece := await _read(source, process):
            sink.write(piece)
            await sink.drain()
        sink.close()


async def _read(source: BinaryIO, process: asyncio.subprocess.Process) -> bytes:
    """Return the next piece; if the source cannot be read, kill the child to end the import."""
    try:
        return await asyncio.to_thread(source.read, PIECE)
    except OSError:
        log.exception("cannot read the file of links")
        process.kill()
        return b""


async def _receive(process: asyncio.subprocess.Process, name: str) -> bytes:
    messages: Any = process.stdout
    try:
        (size,) = PREFIX.unpack(await messages.readexactly(PREFIX.size))
        if size > MAX_MESSAGE_BYTES:
            raise UnreadableFile(
                "{name} is too complex to read. Split it into several files, or export it in "
                "another format.",
                name=name,
            )
        message: bytes = await messages.readexactly(size)
    except asyncio.IncompleteReadError as error:
        raise UnreadableFile(
            "Reading {name} failed, possibly because it needs too much memory. Split it into "
            "several files, or allow more: archiver config extract_memory_bytes 2GB",
            name=name,
        ) from error
    return message
