"""An article as it is taken away, with the pictures that it shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from archiver.model.capture import Timestamp


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: what it is, and its bytes."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Chapter:
    """An article by itself.

    Attributes:
        title: the person's, else the page's, else the address.
        url: of the entry.
        captured: when the snapshot was taken.
        html: sanitised, with absolute URLs; empty where there is nothing to read.
        byline, site, published, language: what the page says of itself.
        note: the person's.
        pictures: by address, of those that the archive has.
    """

    title: str
    url: str
    captured: Timestamp | None
    html: str
    byline: str = ""
    site: str = ""
    published: str = ""
    language: str = ""
    note: str = ""
    pictures: Mapping[str, Picture] = field(default_factory=dict)
