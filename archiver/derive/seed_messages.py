"""Links of a file, as a child sends them: columns of JSON, with the pages that came behind them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from archiver.derive.messages import as_json, pack, unpack
from archiver.derive.packed_seeds import read_columns
from archiver.model.entry_list import EntryList, GivenLists
from archiver.model.importing import Rejected
from archiver.model.kept_page import KeptPage, KeptPart
from archiver.model.seed_columns import SeedColumns

NO_LISTS = GivenLists()


@dataclass(frozen=True, slots=True)
class PageOfSeed:
    """A page that came with a link.

    Attributes:
        place: of its link among the seeds.
        page: what was kept.
        is_dated: whether the file tells when the link was saved.
    """

    place: int
    page: KeptPage
    is_dated: bool


def pack_seeds(
    seeds: Sequence[Any],
    rejected: Sequence[Rejected],
    pages: Sequence[PageOfSeed] = (),
    lists: GivenLists = NO_LISTS,
    saved: Sequence[int] = (),
) -> bytes:
    """Some links of a file, for the service; ``seeds`` as ``pack_columns`` made them.

    ``saved``: moments at which the file says that some were, the earliest and the latest.

    Each column is JSON of its own: whoever reads one of thousands of links keeps Python's lock to
    its end, and other threads wait.
    """
    columns = [*map(as_json, seeds)]
    return pack(
        {
            "columns": [*map(len, columns)],
            "lists": [[each.path, each.query] for each in lists.found],
            "lists_left_out": lists.left_out,
            "saved": [*saved],
            "rejected": [
                [each.given, each.reason, each.row, each.is_left_out] for each in rejected
            ],
            "pages": [*map(_page_head, pages)],
        },
        b"".join(
            (
                *columns,
                *(
                    content
                    for each in pages
                    for content in (each.page.content, *(part.content for part in each.page.parts))
                ),
            )
        ),
    )


def read_seeds(
    message: bytes,
) -> tuple[SeedColumns, list[Rejected], list[PageOfSeed], GivenLists, tuple[int, ...]]:
    """What ``pack_seeds`` packed."""
    head, payload = unpack(message)
    rejected = [Rejected(*each) for each in head["rejected"]]
    contents = BytesIO(payload)
    columns = [json.loads(contents.read(length)) for length in head["columns"]]
    pages = [_page(each, contents) for each in head["pages"]]
    found = tuple(EntryList(*each) for each in head["lists"])
    lists = GivenLists(found, head["lists_left_out"])
    return read_columns(columns), rejected, pages, lists, tuple(head["saved"])


def _page_head(each: PageOfSeed) -> list[Any]:
    parts = [[part.url, part.media_type, len(part.content)] for part in each.page.parts]
    return [each.place, each.is_dated, each.page.media_type, len(each.page.content), parts]


def _page(head: Sequence[Any], contents: BytesIO) -> PageOfSeed:
    place, is_dated, media_type, length, parts = head
    content = contents.read(length)
    kept = tuple(KeptPart(url, kind, contents.read(size)) for url, kind, size in parts)
    return PageOfSeed(place, KeptPage(content, media_type, kept), is_dated)
