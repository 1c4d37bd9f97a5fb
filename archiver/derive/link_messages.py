"""Batches of links as a child process sends them: one message of JSON for each batch.

The contents of pages that came with links follow the JSON as bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from archiver.derive.messages import pack, unpack
from archiver.model.capture import HashUrl
from archiver.model.entry_list import EntryList, GivenLists
from archiver.model.importing import Rejected
from archiver.model.kept_page import KeptPage, KeptPart
from archiver.model.seed import Seed
from archiver.warc.annotation import read_annotation, write_annotation

NO_LISTS = GivenLists()


@dataclass(frozen=True, slots=True)
class FileSeed:
    """A seed and its row in the file, counted from 1."""

    row: int
    seed: Seed


@dataclass(frozen=True, slots=True)
class PageOfSeed:
    """A page that came with a link.

    Attributes:
        place: index of its link among the seeds of the batch.
        page: the page and its parts.
        is_dated: the file tells when the link was saved.
    """

    place: int
    page: KeptPage
    is_dated: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Some links of a file, in order; empty at the end of the file.

    Attributes:
        seeds: the links that can be saved.
        rejected: the rows that cannot be used or were not chosen.
        pages: pages that came with seeds.
        lists: lists that the file names, with or without entries.
        saved: the earliest and the latest moment (Unix seconds) at which the file says that a link
            was saved; empty if it says none.
    """

    seeds: Sequence[FileSeed] = ()
    rejected: Sequence[Rejected] = ()
    pages: Sequence[PageOfSeed] = ()
    lists: GivenLists = NO_LISTS
    saved: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.seeds or self.rejected or self.lists)

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.seeds) + len(self.rejected)


def write_batch(batch: Batch) -> bytes:
    """Return the message for a batch."""
    head = {
        "seeds": [_write_seed(each) for each in batch.seeds],
        "rejected": [
            [each.given, each.reason, each.row, each.is_left_out, each.is_broken]
            for each in batch.rejected
        ],
        "pages": [_write_page(each) for each in batch.pages],
        "lists": [[each.path, each.query] for each in batch.lists.found],
        "lists_left_out": batch.lists.left_out,
        "saved": batch.saved,
    }
    contents = (
        content
        for each in batch.pages
        for content in (each.page.content, *(part.content for part in each.page.parts))
    )
    return pack(head, b"".join(contents))


def read_batch(message: bytes) -> Batch:
    """Read what `write_batch` wrote, without its length prefix.

    Raises:
        KeyError, TypeError, ValueError: the child sent something else.
    """
    head, payload = unpack(message)
    contents = BytesIO(payload)
    lists = tuple(EntryList(path, query) for path, query in head["lists"])
    return Batch(
        [_read_seed(*each) for each in head["seeds"]],
        [Rejected(*each) for each in head["rejected"]],
        [_read_page(each, contents) for each in head["pages"]],
        GivenLists(lists, head["lists_left_out"]),
        tuple(head["saved"]),
    )


def _write_seed(each: FileSeed) -> list[Any]:
    seed = each.seed
    return [each.row, seed.hash_url, seed.url, seed.host, write_annotation(seed.annotation)]


def _read_seed(row: int, key: str, url: str, host: str, said: dict[str, Any]) -> FileSeed:
    return FileSeed(row, Seed(HashUrl(key), url, host, read_annotation(said)))


def _write_page(each: PageOfSeed) -> list[Any]:
    parts = [[part.url, part.media_type, len(part.content)] for part in each.page.parts]
    return [each.place, each.is_dated, each.page.media_type, len(each.page.content), parts]


def _read_page(head: Sequence[Any], contents: BytesIO) -> PageOfSeed:
    place, is_dated, media_type, length, parts = head
    content = contents.read(length)
    kept = tuple(KeptPart(url, kind, contents.read(size)) for url, kind, size in parts)
    return PageOfSeed(place, KeptPage(content, media_type, kept), is_dated)
