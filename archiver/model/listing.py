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
        values: the most frequent first; years newest first.
        is_of_all: computed over the whole archive; else over its newest entries.
    """

    field: str
    values: tuple[FacetValue, ...]
    is_of_all: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """Totals of a list of entries.

    Attributes:
        count: number of entries; a lower bound if ``has_more``.
        has_more: there are more, which are not included in the facets.
        facets: of the counted or the newest entries.
        faceted: number of entries in the facets, if not all.
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
    """Search document of an entry, created by ``search.documents``.

    Attributes:
        title, url, note, tags, by, text: words, separated by single spaces.
        keys: one word per filter: site, tag, kind, language.
        word_count: of the text.
        language: BCP 47, lower case; empty if unknown.
        published: publication date in Unix seconds; None if unknown.
        kind: of the entry; empty if it has no snapshot.
        revision: of the annotation that its note and tags are from.
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
