"""Mementos of other archives.

Addresses of the form ``…/{14 digits}{modifier}/{URL}`` are used by the Wayback Machine, pywb and
this program; with the modifier ``id_`` they return the archived bytes unchanged.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.errors import InputError, InvalidUrl
from archiver.http.headers import link_values
from archiver.http.timestamps import parse_accept_datetime, to_datetime, to_timestamp
from archiver.http.urls import host, join, parse_url
from archiver.model.capture import Timestamp
from archiver.replay.memento import Memento

FIRST_YEAR = 1990
"""The year before the first web page was published."""
MAX_LINK_BYTES = 16 << 10
_ADDRESS = re.compile(r"(https?://[^/]+/(?:[^/]+/){0,6}?)([0-9]{14})(?:[a-z]{2}_)?/(https?:/.+)")
_WITHOUT_RAW_FORM = frozenset(
    f"archive.{each}" for each in ("today", "ph", "is", "md", "li", "vn", "fo")
)
"""Hosts of archive.today, which does not serve unmodified content."""
_ORIGINAL_PREFIX = "x-archive-orig-"
_TRANSFER_HEADERS = frozenset(
    {
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *("content-encoding", "content-length", "set-cookie", "set-cookie2", "location"),
    }
)
_UNPREFIXED_HEADERS = frozenset({"content-type", "content-language", "last-modified"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class MementoAddress:
    """A URI-M split into the prefix before the timestamp, the timestamp, and the original URL."""

    prefix: str
    timestamp: Timestamp
    url: str

    @property
    def raw(self) -> str:
        """Return the URI-M of the unmodified content.

        If the archive does not serve unmodified content, return the URI-M of the replayed page.
        """
        modifier = "id_" if self.has_raw_form else ""
        return f"{self.prefix}{self.timestamp}{modifier}/{self.url}"

    @property
    def has_raw_form(self) -> bool:
        """Return whether the archive serves unmodified content."""
        return host(self.prefix).removeprefix("www.") not in _WITHOUT_RAW_FORM


def read_address(uri: str) -> MementoAddress | None:
    """Split a URI-M; return None if its form is unknown.

    >>> read_address("https://web.archive.org/web/20130508055413im_/http://a.example/").raw
    'https://web.archive.org/web/20130508055413id_/http://a.example/'
    """
    match = _ADDRESS.fullmatch(uri)
    if match is None:
        return None
    try:
        to_datetime(Timestamp(match[2]))
        # Some archives merge the two slashes of the scheme, because the URL is part of a path.
        url = parse_url(re.sub("^(https?:)/(?!/)", r"\1//", match[3]))
    except (InputError, InvalidUrl):
        return None
    return MementoAddress(match[1], Timestamp(match[2]), url)


def moment_of(headers: Iterable[tuple[str, str]], now: datetime) -> datetime | None:
    """Return the Memento-Datetime of a response (RFC 7089 §2.1.1); None if it has no valid one.

    Dates before ``FIRST_YEAR`` and in the future are invalid. An archive's own pages have no such
    header.

    Args:
        headers: (name, value), names lower case.
        now: current time (aware).
    """
    for name, value in headers:
        if name == "memento-datetime":
            try:
                moment = parse_accept_datetime(value).astimezone(UTC)
            except InputError:
                return None
            return moment if moment.year >= FIRST_YEAR and moment <= now else None
    return None


def named_mementos(
    headers: Iterable[tuple[str, str]], base: str, now: datetime
) -> Iterator[Memento]:
    """Yield the mementos in the ``Link`` headers of a response (RFC 7089 §2.2.4)."""
    field = ", ".join(value for name, value in headers if name == "link")[:MAX_LINK_BYTES]
    for reference, parameters in link_values(field):
        if "memento" not in parameters.get("rel", "").lower().split():
            continue
        address = join(base, reference)
        moment = moment_of([("memento-datetime", parameters.get("datetime", ""))], now)
        if address and moment:
            yield Memento(address, moment)


def original_head(
    status: int, headers: Iterable[tuple[str, str]], *, length: int | None, location: str | None
) -> bytes:
    """Rebuild the head of the original response from the headers of the archive's response.

    Headers that describe the transferred bytes (codings, length) are those of the archive's
    response.

    Args:
        status: status of the original response.
        headers: headers of the archive's response, names lower case, values latin-1.
        length: length of the body in bytes; None if it is chunked.
        location: redirect target of the original response.
    """
    headers = [*headers]
    original_fields = {name: value for name, value in headers if name in _UNPREFIXED_HEADERS}
    original = {
        name.removeprefix(_ORIGINAL_PREFIX): value
        for name, value in headers
        if name.startswith(_ORIGINAL_PREFIX)
        and name.removeprefix(_ORIGINAL_PREFIX) not in _TRANSFER_HEADERS
    }
    fields = [*(original_fields | original).items()]
    fields += [each for each in headers if each[0] == "content-encoding"]
    fields += [("location", location)] if location else []
    is_chunked = length is None
    fields.append(
        ("transfer-encoding", "chunked") if is_chunked else ("content-length", str(length))
    )
    lines = [f"HTTP/1.1 {status} "]
    lines += [
        f"{name.title()}: {_CONTROL.sub(' ', value)}"
        for name, value in fields
        if _TOKEN.fullmatch(name)
    ]
    return "\r\n".join((*lines, "", "")).encode("latin-1", "replace")


def nearest_first(mementos: Iterable[Memento], moment: datetime) -> list[Memento]:
    """Return the mementos without duplicates, sorted by their distance from a time."""
    unique = {to_timestamp(each.at) + each.uri: each for each in mementos}
    return sorted(unique.values(), key=lambda each: abs(each.at - moment))
