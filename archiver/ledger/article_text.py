"""The text of an article as it is stored."""

from collections.abc import Callable

from archiver.html.document import read_article_document
from archiver.html.text import to_text
from archiver.model.capture import Location
from archiver.warc.reader import StoredRecord


def article_text(read: Callable[[Location], StoredRecord], article: Location) -> str:
    """The text of an article that is stored; blocking.

    Args:
        read: gives the record at a place, as ``SegmentStore.read`` does.
        article: the place of the article's record.

    Raises:
        StoreError: its record can't be read.
    """
    return to_text(article_html(read, article))


def article_html(read: Callable[[Location], StoredRecord], article: Location) -> str:
    """The article itself, likewise."""
    return read_article_document(read(article).block.read())[1]
