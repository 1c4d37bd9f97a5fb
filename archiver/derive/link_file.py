"""The service's side of reading a file of links: bytes go to a child, batches of seeds come back.

The child parses while the index takes in what it read before; a hostile file costs a child.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

from archiver.child_process import child_command, child_environment, end_child
from archiver.derive.messages import PREFIX, unpack
from archiver.derive.seed_messages import PageOfSeed, read_seeds
from archiver.errors import UnreadableFile
from archiver.logs import get_log
from archiver.model.choices import NO_CHOICES, Choices, ColumnRole
from archiver.model.entry_list import GivenLists
from archiver.model.importing import Rejected
from archiver.model.row_problems import as_message
from archiver.model.seed_columns import SeedColumns
from archiver.model.survey import Sign, ends_of

PIECE = 256 << 10
MOST_MESSAGE_BYTES = 1 << 30

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some links of a file, in order.

    Attributes:
        seeds: those that can be kept, each made when it is asked for.
        rejected: those that can't.
        pages: what came with some of the seeds.
        lists: those that the file tells of, entries or not.
        saved: when links were saved, where the file says it: the earliest and the latest moment, in
            Unix seconds; none if it says it of none.
        before: how many links stand before these.
    """

    seeds: SeedColumns
    rejected: list[Rejected]
    pages: list[PageOfSeed]
    lists: GivenLists
    saved: tuple[int, ...] = ()
    before: int = 0

    @classmethod
    def joined(cls, parts: "Sequence[Batch]") -> "Batch":
        """Batches that follow one another, without pages, as one."""
        return cls(
            SeedColumns.joined([each.seeds for each in parts]),
            [*chain.from_iterable(each.rejected for each in parts)],
            [],
            GivenLists(
                tuple(chain.from_iterable(each.lists.found for each in parts)),
                sum(each.lists.left_out for each in parts),
            ),
            ends_of(chain.from_iterable(each.saved for each in parts)),
            parts[0].before,
        )

    def __bool__(self) -> bool:
        return bool(self.seeds or self.rejected or self.lists)

    @property
    def size(self) -> int:
        """How many links these are."""
        return len(self.seeds) + len(self.rejected)

    @property
    def numbers(self) -> Sequence[int]:
        """The places of the seeds in the file, from 1."""
        rows = range(self.before + 1, self.before + self.size + 1)
        others = {each.row for each in self.rejected}
        return [row for row in rows if row not in others] if others else rows


class LinkFile:
    """A file of links that is being read.

    Attributes:
        form: what a person calls its kind.
        encoding: what its text is read as; empty if it is none.
        told_by: what told that, and the names that were seen there.
        columns: what the columns of a table of an unknown kind are taken for; empty otherwise.
        choices: what is chosen for all links.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        head: dict[str, Any],
        name: str,
        *,
        read: int,
        choices: Choices,
    ) -> None:
        self.choices = choices
        self.form: str = head["form"]
        self.encoding: str = head["encoding"]
        sign, names = head["told_by"]
        self.told_by = Sign(sign), str(names)
        self.columns = tuple((name, ColumnRole(role)) for name, role in head["columns"])
        self._process = process
        self.name = name
        self._read = read

    async def next_batch(self) -> Batch:
        """The next links, up to some thousands; an empty batch at the end.

        Raises:
            UnreadableFile: reading broke off.
        """
        message = await _receive(self._process, self.name)
        batch = Batch(*await asyncio.to_thread(read_seeds, message), before=self._read)
        self._read += batch.size
        return batch


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
    """Read a file of links from where it stands, in a child that may use so much memory.

    Args:
        source: need not be seekable; it is not closed.
        name: as the person knows it.
        memory_bytes: address space of the child.
        skip: how many links to pass over first.
        choices: what is chosen for all of them.
        url: where the file was fetched from, for relative links in it.

    Raises:
        UnreadableFile: the file is empty, or of a kind that is not read.
    """
    arguments = str(memory_bytes), str(skip), choices.write(), name, url
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
            raise _refusal_of(head["refused"], head["values"])
        yield LinkFile(process, head, name, read=skip, choices=choices)
    finally:
        feeding.cancel()
        await end_child(process)
        await asyncio.wait([feeding])


def _refusal_of(text: str, values: dict[str, str]) -> UnreadableFile:
    """Why the child does not read it; what is wrong with a row is worded like the rest."""
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
            raise UnreadableFile("{name} holds more than can be read at once.", name=name)
        message: bytes = await answers.readexactly(size)
    except asyncio.IncompleteReadError as error:
        raise UnreadableFile(
            "Reading {name} broke off. It may need more than ARCHIVER_EXTRACT_MEMORY_BYTES.",
            name=name,
        ) from error
    return message
