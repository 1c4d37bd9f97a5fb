"""The text of an article as it is stored."""

from archiver.html.document import read_article_document
from archiver.html.text import to_text
from archiver.model.capture import Location
from archiver.store.segments import SegmentStore


def article_text(store: SegmentStore, article: Location) -> str:
    """The text of an article that is stored; blocking.

    Raises:
        StoreError: its record can't be read.
    """
    return to_text(read_article_document(store.read(article).block.read())[1])
