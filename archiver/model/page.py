"""What is derived from a page's bytes: its metadata and its article."""

from dataclasses import dataclass, field

from archiver.model.requisite import Requisite

EXTRACTOR_VERSION = "1"
"""Raised when the same bytes would give another article; kept with every conversion record."""


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """What a page says of itself; empty strings where it says nothing."""

    title: str = ""
    byline: str = ""
    site: str = ""
    excerpt: str = ""
    language: str = ""
    published: str = ""


@dataclass(frozen=True, slots=True)
class Article:
    """The article of a page.

    Attributes:
        metadata: what the page says of itself.
        html: sanitised HTML with absolute URLs, no document around it; empty if none was found.
        text: its plain text, paragraphs separated by newlines.
    """

    metadata: PageMetadata = field(default_factory=PageMetadata)
    html: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Charset:
    """A page's encoding: the one it was read in, and the one it declared; empty where unknown."""

    used: str = ""
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What the first look at a page gives: its requisites in document order, each once."""

    requisites: tuple[Requisite, ...] = ()
    charset: Charset = field(default_factory=Charset)
