"""Parameters of lists and searches, and the search document of an entry."""

from dataclasses import dataclass
from enum import StrEnum


class Sort(StrEnum):
    """Sort orders of lists; *newest* and *oldest* refer to when an entry was saved."""

    BEST = "best"
    NEWEST = "newest"
    OLDEST = "oldest"
    CAPTURED = "captured"
    TITLE = "title"
    LENGTH = "length"
    SCORE = "score"
    LIST = "list"

    @classmethod
    def _missing_(cls, value: object) -> "Sort | None":
        """Map the name of an older version."""
        return cls.NEWEST if value == "added" else None


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """Parameters of a list of entries.

    Attributes:
        q: search query (``search.query_parser``); empty lists everything.
        tag, host: exact match; empty matches all.
        status: ``saved``, ``failed``, ``queued``, or an HTTP status; empty matches all.
        sort: one of ``Sort``; empty means best match for words, the list's order for one list, else
            newest.
        after: cursor of the previous page.
        limit: entries per page, 1 to 200.
    """

    q: str = ""
    tag: str = ""
    host: str = ""
    status: str = ""
    sort: str = ""
    after: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class FacetValue:
    """Value of a facet.

    Attributes:
        value: as shown.
        count: number of entries.
        query: query that adds this filter, or removes it if chosen; empty if not expressible.
        is_chosen: the filter is active.
        is_more: there are more than ``count``.
    """

    value: str
    count: int
    query: str = ""
    is_chosen: bool = False
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """Facet of a list of entries.

    Attributes:
        field: of the search language.
        values: the most frequent values first; the newest years first.
        is_of_all: whether all entries of the archive were counted, not only the newest.
    """

    field: str
    values: tuple[FacetValue, ...]
    is_of_all: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """Totals of a list of entries.

    Attributes:
        count: number of entries, or of those that were counted if ``has_more``.
        has_more: whether there are more entries, which the facets do not include.
        facets: facets of the counted entries, or of the newest.
        faceted: number of entries that the facets include, if not all; else 0.
    """

    count: int
    has_more: bool
    facets: tuple[Facet, ...] = ()
    faceted: int = 0


ARTICLE_WORDS = 100
"""A page with fewer words is not classified as an article."""


class Kind(StrEnum):
    """Type of an entry's newest snapshot."""

    ARTICLE = "article"
    PAGE = "page"
    PDF = "pdf"
    IMAGE = "image"
    VIDEO = "video"
    FILE = "file"
    NOTE = "note"


NOTES = ".invalid"
"""Top-level domain of notes without an address, which never exists (RFC 2606)."""


def kind_of(media_type: str, word_count: int, host: str = "") -> Kind:
    """Classify a media type, word count and host."""
    if host.endswith(NOTES):
        return Kind.NOTE
    main = media_type.partition("/")[0]
    if main in ("image", "video"):
        return Kind(main)
    if media_type == "application/pdf":
        return Kind.PDF
    if media_type in ("text/html", "application/xhtml+xml", "text/plain", "text/markdown", ""):
        return Kind.ARTICLE if word_count >= ARTICLE_WORDS else Kind.PAGE
    return Kind.FILE


MAX_EARLIER = 8
"""Earlier snapshots that are searchable besides the newest."""


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """What the full-text index has of an entry (made by ``search.search_document``).

    Attributes:
        title, url, note, tags, by, text: words of each column, separated by single spaces.
        keys: index keys (``search.words.key``), separated by single spaces.
        word_count: number of words of the text.
        language: BCP 47 tag in lower case; empty if unknown.
        published: publication date in Unix seconds; None if unknown.
        kind: kind of the entry; empty if it has no snapshot.
        revision: revision of the annotation from which it was built.
    """

    title: str = ""
    url: str = ""
    note: str = ""
    tags: str = ""
    by: str = ""
    text: str = ""
    keys: str = ""
    word_count: int = 0
    language: str = ""
    published: int | None = None
    kind: Kind | str = ""
    revision: int = 0
