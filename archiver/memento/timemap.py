"""TimeMaps (RFC 7089 §5): all mementos of an original, in link format and in JSON, piece by piece.

The JSON is that of the field's tools (pywb, MemGator). Both are written as the mementos come, so
a TimeMap can be as long as it likes; the last memento is known when the next one does not come.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from archiver.memento.links import Link, memento, original, timegate, write_links
from archiver.memento.timestamps import to_timestamp

LINK_FORMAT = "application/link-format"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the things of one original are, as URIs.

    Attributes:
        original: URI-R.
        timegate: URI-G.
        link_timemap, json_timemap: URI-T in either format.
    """

    original: str
    timegate: str
    link_timemap: str
    json_timemap: str


@dataclass(frozen=True, slots=True)
class Memento:
    """URI-M and its moment (aware, UTC)."""

    uri: str
    at: datetime


async def link_timemap(
    addresses: Addresses, mementos: AsyncIterator[Memento]
) -> AsyncGenerator[str, None]:
    """A TimeMap in link format (RFC 7089 §5, RFC 6690)."""
    head = (
        original(addresses.original),
        Link(addresses.link_timemap, ("self",), (("type", LINK_FORMAT),)),
        Link(addresses.json_timemap, ("timemap",), (("type", "application/json"),)),
        timegate(addresses.timegate),
    )
    yield write_links(head, separator=",\n")
    async for each, also in _placed(mementos):
        yield ",\n" + write_links([memento(each.uri, each.at, *also)])
    yield "\n"


async def json_timemap(
    addresses: Addresses, mementos: AsyncIterator[Memento]
) -> AsyncGenerator[str, None]:
    """A TimeMap as one JSON object."""
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
    async for each, also in _placed(mementos):
        fields = {"datetime": _iso(each.at), "uri": each.uri}
        ends |= dict.fromkeys(also, fields)
        yield separator + json.dumps(fields, ensure_ascii=False)
        separator = ",\n"
    rest = json.dumps(ends, ensure_ascii=False)[1:-1]
    yield f"\n]{', ' if rest else ''}{rest}}}}}\n"


async def _placed(
    mementos: AsyncIterator[Memento],
) -> AsyncGenerator[tuple[Memento, tuple[str, ...]], None]:
    """Mementos with what they are of all: ``first``, ``last``, both, or nothing."""
    before: Memento | None = None
    place: tuple[str, ...] = ("first",)
    async for each in mementos:
        if before is not None:
            yield before, place
            place = ()
        before = each
    if before is not None:
        yield before, (*place, "last")


def _iso(moment: datetime) -> str:
    digits = to_timestamp(moment)
    date, time = "-".join((digits[:4], digits[4:6], digits[6:8])), digits[8:]
    return f"{date}T{time[:2]}:{time[2:4]}:{time[4:]}Z"
