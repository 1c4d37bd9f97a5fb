"""The stretches of articles where the words of a search stand."""

from collections.abc import Callable, Sequence

from archiver.errors import StoreError
from archiver.html.text import loose_text
from archiver.index.snapshots import ListedSnapshot
from archiver.ledger.article_text import article_html
from archiver.model.capture import Location, Timestamp
from archiver.query.snippet import Marked, snippet
from archiver.query.tree import Node
from archiver.store.segments import SegmentReader, SegmentStore
from archiver.warc.reader import StoredRecord

Excerpt = tuple[tuple[Marked, ...], Timestamp | None]
"""A stretch, and the earlier snapshot that it is of; None if it is of the newest."""


def excerpts_of(
    store: SegmentStore, snapshots: Sequence[Sequence[ListedSnapshot]], tree: Node
) -> list[Excerpt]:
    """Of each entry the stretch of its text where words stand; blocking.

    Args:
        store: where the articles lie.
        snapshots: of each entry, the newest first.
        tree: what was looked for.
    """
    read = SegmentReader(store).read
    return [_excerpt(read, each, tree) for each in snapshots]


def _excerpt(
    read: Callable[[Location], StoredRecord], snapshots: Sequence[ListedSnapshot], tree: Node
) -> Excerpt:
    """Where words stand in the newest article that has them; else how the newest begins."""
    begins: tuple[Marked, ...] = ()
    seen = set()
    for n, each in enumerate(snapshots):
        place = each.article
        if place is None or place in seen:
            continue
        seen.add(place)
        found = snippet(_text(read, place), tree)
        if any(piece.hit for piece in found):
            return found, each.timestamp if n else None
        begins = begins or found
    return begins, None


def _text(read: Callable[[Location], StoredRecord], place: Location) -> str:
    try:
        return loose_text(article_html(read, place))
    except StoreError:
        return ""
