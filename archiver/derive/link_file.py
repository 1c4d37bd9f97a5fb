"""The service's side of reading a file of links: bytes go to a child, batches of seeds come back.

The child parses while the index takes in what it read before; a hostile file costs a child.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO

from archiver.child_process import child_command, child_environment, end_child
from archiver.derive.messages import PREFIX, read_seeds, unpack, write_choices
from archiver.errors import UnreadableFile
from archiver.logs import get_log
from archiver.model.choices import Choices
from archiver.model.importing import Rejected
from archiver.model.seed import Seed

PIECE = 256 << 10
MOST_MESSAGE_BYTES = 1 << 30
NO_CHOICES = Choices()

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some links of a file: those that can be kept, those that can't, in order."""

    seeds: list[Seed]
    rejected: list[Rejected]

    def __bool__(self) -> bool:
        return bool(self.seeds or self.rejected)


class LinkFile:
    """A file of links that is being read.

    Attributes:
        form: what a person calls its kind.
        encoding: what its text is read as; empty if it is none.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, head: dict[str, str], name: str
    ) -> None:
        self.form = head["form"]
        self.encoding = head["encoding"]
        self._process = process
        self._name = name

    async def next_batch(self) -> Batch:
        """The next links, up to some thousands; an empty batch at the end.

        Raises:
            UnreadableFile: reading broke off.
        """
        message = await _receive(self._process, self._name)
        return Batch(*await asyncio.to_thread(read_seeds, message))


@asynccontextmanager
async def open_links(
    source: BinaryIO,
    name: str,
    *,
    memory_bytes: int,
    skip: int = 0,
    choices: Choices = NO_CHOICES,
) -> AsyncIterator[LinkFile]:
    """Read a file of links from where it stands, in a child that may use so much memory.

    Args:
        source: need not be seekable; it is not closed.
        name: as the person knows it.
        memory_bytes: address space of the child.
        skip: how many links to pass over first.
        choices: what is chosen for all of them.

    Raises:
        UnreadableFile: the file is empty, or of a kind that is not read.
    """
    arguments = str(memory_bytes), str(skip), write_choices(choices), name
    process = await asyncio.create_subprocess_exec(
        *child_command("archiver.derive.link_file_worker", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=child_environment(),
    )
    feeding = asyncio.create_task(_feed(source, process), name="feed-links")
    try:
        head, _ = unpack(await _receive(process, name))
        if "refused" in head:
            raise UnreadableFile(head["refused"])
        yield LinkFile(process, head, name)
    finally:
        feeding.cancel()
        await end_child(process)
        await asyncio.wait([feeding])


async def _feed(source: BinaryIO, process: asyncio.subprocess.Process) -> None:
    sink: Any = process.stdin
    with suppress(ConnectionError):
        while piece := await _read(source, process):
            sink.write(piece)
            await sink.drain()
        sink.close()


async def _read(source: BinaryIO, process: asyncio.subprocess.Process) -> bytes:
    """The next piece; where there is none to be had the child ends, and so does the import."""
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
            raise UnreadableFile(f"{name} holds more than can be read at once.")
        message: bytes = await answers.readexactly(size)
    except asyncio.IncompleteReadError as error:
        raise UnreadableFile(
            f"Reading {name} broke off. It may need more than ARCHIVER_EXTRACT_MEMORY_BYTES."
        ) from error
    return message
