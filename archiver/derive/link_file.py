"""Reads a file of links in a child process: bytes go in, batches of seeds come back.

The child is bounded in memory, so a hostile file costs no more than the child. It reads ahead while
the index takes in what it sent before.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO

from archiver.child_process import child_command, child_environment, end_child
from archiver.derive.link_messages import Batch, read_batch
from archiver.derive.messages import PREFIX, unpack
from archiver.errors import UnreadableFile
from archiver.logs import get_log
from archiver.model.choices import NO_CHOICES, Choices, ColumnRole
from archiver.model.row_problems import as_message
from archiver.model.survey import Sign

BATCH = 1_000
"""Links of one message and of one transaction."""
PIECE = 256 << 10
READ_AHEAD = 4 << 20
"""Bytes of messages that wait in memory for the index; the child waits when there are more."""
MOST_MESSAGE_BYTES = 1 << 30

log = get_log(__name__)


class LinkFile:
    """A file of links that is being read.

    Attributes:
        name: as the person knows it.
        form: the name of its format.
        encoding: the encoding of its text; empty if it is not text.
        told_by: how the format was recognised, and the names that were found there.
        columns: the roles of the columns of a table of an unknown kind; empty otherwise.
        choices: what the person chose for all links.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        head: dict[str, Any],
        name: str,
        choices: Choices,
    ) -> None:
        self.name = name
        self.choices = choices
        self.form: str = head["form"]
        self.encoding: str = head["encoding"]
        sign, names = head["told_by"]
        self.told_by = Sign(sign), str(names)
        self.columns = tuple((column, ColumnRole(role)) for column, role in head["columns"])
        self._process = process

    async def next_batch(self) -> Batch:
        """Return the next links; an empty batch at the end of the file.

        Raises:
            UnreadableFile: the child stopped before the end of the file.
        """
        return read_batch(await _receive(self._process, self.name))


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
        source: need not be seekable; it is not closed.
        name: as the person knows it.
        memory_bytes: address space of the child.
        skip: how many rows to skip first.
        choices: what the person chose for all links.
        url: where the file was fetched from, for relative links in it.

    Raises:
        UnreadableFile: the file is empty, or no reader recognises it.
    """
    arguments = str(memory_bytes), str(BATCH), str(skip), choices.write(), name, url
    process = await asyncio.create_subprocess_exec(
        *child_command("archiver.derive.link_file_worker", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=READ_AHEAD,
        env=child_environment(),
    )
    feeding = asyncio.create_task(_feed(source, process), name="feed-links")
    try:
        head, _ = unpack(await _receive(process, name))
        if "refused" in head:
            raise _refusal_of(head["refused"], head["values"])
        yield LinkFile(process, head, name, choices)
    finally:
        feeding.cancel()
        await end_child(process)
        await asyncio.wait([feeding])


def _refusal_of(text: str, values: dict[str, str]) -> UnreadableFile:
    """Return the child's reason, with the problem of a row as a translatable message."""
    if "problem" in values:
        return UnreadableFile(text, **{**values, "problem": as_message(values["problem"])})
    return UnreadableFile(text, **values)


async def _feed(source: BinaryIO, process: asyncio.subprocess.Process) -> None:
    sink: Any = process.stdin
    with suppress(ConnectionError):
        while piece := await _read(source, process):
            sink.write(piece)
            await sink.drain()
        sink.close()


async def _read(source: BinaryIO, process: asyncio.subprocess.Process) -> bytes:
    """Return the next piece; kill the child if there is none, so that the import ends with it."""
    try:
        return await asyncio.to_thread(source.read, PIECE)
    except OSError:
        log.exception("the file of links can't be read")
        process.kill()
        return b""


async def _receive(process: asyncio.subprocess.Process, name: str) -> bytes:
    answers: Any = process.stdout
    try:
        (size,) = PREFIX.unpack(await answers.readexactly(PREFIX.size))
        if size > MOST_MESSAGE_BYTES:
            raise UnreadableFile("{name} holds more than can be read at once.", name=name)
        message: bytes = await answers.readexactly(size)
    except asyncio.IncompleteReadError as error:
        raise UnreadableFile(
            "Reading {name} broke off. It may need more than ARCHIVER_EXTRACT_MEMORY_BYTES.",
            name=name,
        ) from error
    return message
