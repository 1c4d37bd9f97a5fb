"""Memento Link headers and TimeMaps (RFC 7089).

The JSON format is that of pywb and MemGator. TimeMaps are streamed, so their length is not limited.
A memento is written when the next one is known, because the last one must be marked ``last``.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from archiver.http.timestamps import http_date, write_iso


@dataclass(frozen=True, slots=True)
class Link:
    """Link-value of a ``Link`` header.

    Attributes:
        target: URI reference.
        relations: relation types in order, such as ``("first", "memento")``.
        attributes: further parameters as (name, value).
    """

    target: str
    relations: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...] = ()


def write_links(links: Iterable[Link], *, separator: str = ", ") -> str:
    """Return links as a header value, or with a newline in ``separator`` as a TimeMap's body.

    >>> write_links([Link("https://example.com/", ("original",))])
    '<https://example.com/>; rel="original"'
    """
    return separator.join(_write(link) for link in links)


def original(url: str) -> Link:
    """Return the link to the URI-R (RFC 7089 §2.2.1)."""
    return Link(url, ("original",))


def timegate(path: str) -> Link:
    """Return the link to the URI-G (RFC 7089 §2.2.2)."""
    return Link(path, ("timegate",))


def timemap(path: str) -> Link:
    """Return the link to the URI-T (RFC 7089 §2.2.3), in link format."""
    return Link(path, ("timemap",), (("type", "application/link-format"),))


def memento(path: str, moment: datetime, *also: str) -> Link:
    """Return the link to a URI-M (RFC 7089 §2.2.4), with relations such as ``first``."""
    return Link(path, (*also, "memento"), (("datetime", http_date(moment)),))


def _write(link: Link) -> str:
    parameters = (("rel", " ".join(link.relations)), *link.attributes)
    written = "".join(f'; {name}="{_quoted(value)}"' for name, value in parameters)
    # Other characters are not allowed in a URI, and could end the header.
    return f"<{quote(link.target, safe=_URI, errors='replace')}>{written}"


def _quoted(value: str) -> str:
    printable = "".join(character for character in value if character.isprintable())
    return printable.replace("\\", "\\\\").replace('"', '\\"')


LINK_FORMAT = "application/link-format"
_URI = "!#$%&'()*+,/:;=?@[\\]^`{|}"
"""Characters of link targets that are written as they are, besides letters, digits and _.-~"""


@dataclass(frozen=True, slots=True)
class Addresses:
    """URIs of the resources of one original.

    Attributes:
        original: URI-R.
        timegate: URI-G.
        link_timemap, json_timemap: URI-T of the TimeMap in link format and in JSON.
    """

    original: str
    timegate: str
    link_timemap: str
    json_timemap: str


@dataclass(frozen=True, slots=True)
class Memento:
    """A URI-M and its datetime (aware, UTC)."""

    uri: str
    at: datetime


async def link_timemap(
    addresses: Addresses, mementos: AsyncIterator[Memento]
) -> AsyncGenerator[str, None]:
    """Yield a TimeMap in link format (RFC 7089 §5, RFC 6690)."""
    head = (
        original(addresses.original),
        Link(addresses.link_timemap, ("self",), (("type", LINK_FORMAT),)),
        Link(addresses.json_timemap, ("timemap",), (("type", "application/json"),)),
        timegate(addresses.timegate),
    )
    yield write_links(head, separator=",\n")
    async for each, also in _with_relations(mementos):
        yield ",\n" + write_links([memento(each.uri, each.at, *also)])
    yield "\n"


async def json_timemap(
    addresses: Addresses, mementos: AsyncIterator[Memento]
) -> AsyncGenerator[str, None]:
    """Yield a TimeMap as one JSON object."""
    head = {
        "original_uri": addresses.original,
        "self": addresses.json_timemap,
        "timegate_uri": addresses.timegate,
        "timemap_uri": {
            "link_format": addresses.link_timemap,
            "json_format": addresses.json_timemap,
        },
    }
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "mementos": {"list": ['
    ends: dict[str, object] = {}
    separator = "\n"
    async for each, also in _with_relations(mementos):
        fields = {"datetime": write_iso(each.at), "uri": each.uri}
        ends |= dict.fromkeys(also, fields)
        yield separator + json.dumps(fields, ensure_ascii=False)
        separator = ",\n"
    after_links = json.dumps(ends, ensure_ascii=False)[1:-1]
    yield f"\n]{', ' if after_links else ''}{after_links}}}}}\n"


async def _with_relations(
    mementos: AsyncIterator[Memento],
) -> AsyncGenerator[tuple[Memento, tuple[str, ...]], None]:
    """Yield mementos with their relations ``first`` and ``last``."""
    before: Memento | None = None
    place: tuple[str, ...] = ("first",)
    async for each in mementos:
        if before is not None:
            yield before, place
            place = ()
        before = each
    if before is not None:
        yield before, (*place, "last")
