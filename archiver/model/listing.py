"""Parameters of lists and searches, and the search document of an entry."""

from dataclasses import dataclass
from enum import StrEnum


class Sort(StrEnum):
    """What comes first in a list; *newest* and *oldest* are by when it was saved."""

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
        """The order of an address that an older version gave."""
        return cls.NEWEST if value == "added" else None


@dataclass(frozen=True, slots=True)
class ListingQuery:
    """What a list is to show.

    Attributes:
        q: in the search language (``query.parse``); empty lists everything.
        tag, host: exact; empty leaves them open.
        status: ``saved``, ``failed``, ``queued``, or an HTTP status; empty leaves it open.
        sort: one of ``Sort``; empty is the best first where there are words, the order of the
            list where one is asked for, else the newest. ``list`` never is the best.
        after: the cursor of the page before.
        limit: entries on a page, 1 to 200.
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
    """A value of a facet.

    Attributes:
        value: as it is shown.
        count: entries that have it.
        query: what a list is narrowed by to those, or widened by again; empty if it can't be said.
        is_chosen: the list is narrowed by it already.
        is_more: more than were counted.
    """

    value: str
    count: int
    query: str = ""
    is_chosen: bool = False
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """What entries of a list are of.

    Attributes:
        field: of the search language.
        values: the most frequent first; years in their order, the newest first.
        is_of_all: its values are of the whole archive, where others are of its newest entries.
    """

    field: str
    values: tuple[FacetValue, ...]
    is_of_all: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list holds as a whole.

    Attributes:
        count: entries; at least so many, if there are more.
        has_more: there are more, which were neither counted nor put into facets.
        facets: of the entries that were counted, or of the newest.
        faceted: how many entries the facets are of, where those are not all.
    """

    count: int
    has_more: bool
    facets: tuple[Facet, ...] = ()
    faceted: int = 0


ARTICLE_WORDS = 100
"""A page of fewer words has no article worth the name."""


class Kind(StrEnum):
    """What an entry's newest snapshot is."""

    ARTICLE = "article"
    PAGE = "page"
    PDF = "pdf"
    IMAGE = "image"
    VIDEO = "video"
    FILE = "file"


def kind_of(media_type: str, word_count: int) -> Kind:
    """The kind of a thing of a media type whose article has so many words."""
    main = media_type.partition("/")[0]
    if main in ("image", "video"):
        return Kind(main)
    if media_type == "application/pdf":
        return Kind.PDF
    if media_type in ("text/html", "application/xhtml+xml", "text/plain", "text/markdown", ""):
        return Kind.ARTICLE if word_count >= ARTICLE_WORDS else Kind.PAGE
    return Kind.FILE


MOST_EARLIER = 8
"""Snapshots before the newest whose words are found."""


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """A document of the search index. ``query.findable`` makes it, so that queries find it.

    Attributes:
        title, url, note, tags, by, text: words, separated by single spaces.
        keys: one word for each thing that it is: of a site, with a tag, of a kind, in a language.
        word_count: of the text.
        language: as BCP 47 has it, lower case; empty if unknown.
        published: when the page says it is from, in Unix seconds; None if unknown.
        kind: what it is; empty if there is nothing yet.
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
