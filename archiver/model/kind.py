"""What kind of thing a page is, to whoever looks for it."""

from enum import StrEnum

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
