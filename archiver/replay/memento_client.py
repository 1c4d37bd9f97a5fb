"""Mementos of other archives.

Addresses of the form ``…/{14 digits}{modifier}/{URL}`` are the Wayback Machine's, pywb's and ours;
with the modifier ``id_`` they give what was archived, as it was.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from archiver.errors import InputError, InvalidUrl
from archiver.http.headers import link_values
from archiver.http.timestamps import parse_accept_datetime, to_datetime, to_timestamp
from archiver.http.urls import host, join, parse_url
from archiver.model.capture import Timestamp

FIRST_YEAR = 1990
"""Before the first page there was."""
MOST_LINK = 16 << 10
_ADDRESS = re.compile(r"(https?://[^/]+/(?:[^/]+/){0,6}?)([0-9]{14})(?:[a-z]{2}_)?/(https?:/.+)")
_WITHOUT_RAW_FORM = frozenset(
    f"archive.{each}" for each in ("today", "ph", "is", "md", "li", "vn", "fo")
)
"""The hosts of archive.today."""
_ORIGINAL = "x-archive-orig-"
_OF_TRANSFER = frozenset(
    {
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *("content-encoding", "content-length", "set-cookie", "set-cookie2", "location"),
    }
)
_AS_SENT = frozenset({"content-type", "content-language", "last-modified"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class PublicMemento:
    """A memento that some archive says it has.

    Attributes:
        address: its URI-M.
        at: what moment it is of (aware, UTC).
    """

    address: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MementoAddress:
    """A URI-M in its parts: what stands before the digits, the digits, the original's URL."""

    prefix: str
    timestamp: Timestamp
    url: str

    @property
    def raw(self) -> str:
        """Where what was archived is, as it was; as it is shown where an archive has no such."""
        modifier = "id_" if self.has_raw_form else ""
        return f"{self.prefix}{self.timestamp}{modifier}/{self.url}"

    @property
    def has_raw_form(self) -> bool:
        """Whether that is as it was."""
        return host(self.prefix).removeprefix("www.") not in _WITHOUT_RAW_FORM

    def of(self, url: str) -> "MementoAddress":
        """The same moment of another URL."""
        return replace(self, url=url)


def read_address(uri: str) -> MementoAddress | None:
    """The parts of a URI-M; None where it is of no form that is known.

    >>> read_address("https://web.archive.org/web/20130508055413im_/http://a.example/").raw
    'https://web.archive.org/web/20130508055413id_/http://a.example/'
    """
    found = _ADDRESS.fullmatch(uri)
    if found is None:
        return None
    try:
        to_datetime(Timestamp(found[2]))
        # Some archives leave one slash of two: the URL is within a path.
        url = parse_url(re.sub("^(https?:)/(?!/)", r"\1//", found[3]))
    except (InputError, InvalidUrl):
        return None
    return MementoAddress(found[1], Timestamp(found[2]), url)


def moment_of(headers: Iterable[tuple[str, str]], now: datetime) -> datetime | None:
    """The moment that an answer says it is a memento of (RFC 7089 §2.1.1).

    None where it is none: an archive's own pages do not say so, and no page is of the future.

    Args:
        headers: (name, value), names lower case.
        now: aware.
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
) -> Iterator[PublicMemento]:
    """The mementos that the ``Link`` fields of an answer name, with their moments (§2.2.4)."""
    field = ", ".join(value for name, value in headers if name == "link")[:MOST_LINK]
    for reference, parameters in link_values(field):
        if "memento" not in parameters.get("rel", "").lower().split():
            continue
        address = join(base, reference)
        moment = moment_of([("memento-datetime", parameters.get("datetime", ""))], now)
        if address and moment:
            yield PublicMemento(address, moment)


def original_head(
    status: int, headers: Iterable[tuple[str, str]], *, length: int | None, location: str | None
) -> bytes:
    """The head of the original response, as far as an archive tells of it.

    What describes the bytes as they came (codings, length) is as they came.

    Args:
        status: of the original.
        headers: of the archive's answer, names lower case, values latin-1.
        length: of the body; None where it carries chunk framing.
        location: where the original led.
    """
    headers = [*headers]
    given = {name: value for name, value in headers if name in _AS_SENT}
    original = {
        name.removeprefix(_ORIGINAL): value
        for name, value in headers
        if name.startswith(_ORIGINAL) and name.removeprefix(_ORIGINAL) not in _OF_TRANSFER
    }
    fields = [*(given | original).items()]
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


def nearest_first(found: Iterable[PublicMemento], moment: datetime) -> list[PublicMemento]:
    """Mementos, each once, those nearest to a moment first; of two as near the first."""
    once = {to_timestamp(each.at) + each.address: each for each in found}
    return sorted(once.values(), key=lambda each: abs(each.at - moment))
