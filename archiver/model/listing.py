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


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """Parameters of a list of entries.

    Attributes:
        q: search query (``search.query_parser``); empty lists everything.
        tag, host: tag and host that entries must have; empty matches all entries.
        status: ``saved``, ``failed``, ``queued``, or an HTTP status; empty matches all entries.
        sort: a value of ``Sort``. Empty means best match if ``q`` has words, the list's order if
            ``q`` names one list, and newest first otherwise.
        after: cursor of the previous page.
        limit: number of entries per page, 1 to 200.
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
        value: value as it is shown.
        count: number of entries with the value.
        query: search query with this filter added, or removed if the filter is active; empty if the
            search language cannot express it.
        is_chosen: whether the filter is active.
        is_more: whether there may be more than ``count`` entries.
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
        field: name of the field in the search language.
        values: values, the most frequent first; years are sorted from new to old.
        is_of_all: whether all entries of the archive were counted instead of only the newest.
    """

    field: str
    values: tuple[FacetValue, ...]
    is_of_all: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """Totals of a list of entries.

    Attributes:
        count: number of counted entries.
        has_more: whether there are more entries than were counted.
        facets: facets of the counted entries, or only of the newest of them.
        faceted: number of entries in the facets; 0 if the facets include all counted entries.
    """

    count: int
    has_more: bool
    facets: tuple[Facet, ...] = ()
    faceted: int = 0


ARTICLE_WORDS = 100
"""Minimum number of words of a page that is classified as an article."""


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
"""Top-level domain in the URLs of notes without an address; it never exists (RFC 2606)."""


def snapshot_kind(media_type: str, word_count: int, host: str = "") -> Kind:
    """Return the kind of a snapshot, given its media type, word count and host."""
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
"""Number of earlier snapshots that are searchable in addition to the newest."""


@dataclass(slots=True)
class SearchDocument:
    """Content of the full-text index for an entry; ``search.search_document`` makes it.

    Attributes:
        title, url, note, tags, by, text: words of each column, separated by single spaces.
        keys: index keys (``search.words.index_key``), separated by single spaces.
        word_count: number of words in the article.
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
