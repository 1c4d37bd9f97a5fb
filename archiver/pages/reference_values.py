"""Parsers of attribute and header values that contain URLs: srcset, refresh and Link.

Used for discovery and replay.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from archiver.http.headers import link_values
from archiver.pages.reference_attributes import Use, link_use

_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS = re.compile(r"(?>(?:[^,(]++|\([^)]*+\)?)*)")


_BETWEEN = "\t\n\f\r ,"


def read_candidates(value: str) -> list[tuple[str, str]]:
    """Return the URL and the descriptors of each candidate."""
    places = [*find_candidates(value)]
    ends = [start for start, _ in places[1:]] + [len(value)] * bool(places)
    return [
        (value[start:url_end], value[url_end:end].strip(_BETWEEN))
        for (start, url_end), end in zip(places, ends, strict=True)
    ]


def find_candidates(value: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each candidate's URL; the text between them is the descriptors."""
    at = 0
    while found := _CANDIDATE.match(value, at):
        start, end = found.span(1)
        url_end = start + len(value[start:end].rstrip(","))
        yield start, url_end
        at = end
        if url_end == end and (descriptors := _DESCRIPTORS.match(value, at)):
            at = descriptors.end()


_REFRESH = re.compile(
    r"[\t\n\f\r ]*+([0-9]*+)[0-9.]*+(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"
    r"(?>(?:[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+)?)"
)


MAX_DELAY = 999_999_999
"""Maximum delay of a refresh in seconds; longer delays are capped."""


def read_refresh(value: str) -> tuple[int, str] | None:
    """Return the delay in seconds and the URL of a refresh ("shared declarative refresh steps").

    Return None if it has no URL: then it reloads its own page.

    >>> read_refresh("0; url='/next'")
    (0, '/next')
    """
    place, found = find_refresh_url(value), _REFRESH.match(value)
    if not (place and found):
        return None
    digits = found[1]
    if not digits and not value.lstrip("\t\n\f\r ").startswith("."):
        return None
    return min(int(digits[:10] or "0"), MAX_DELAY), value[slice(*place)]


def find_refresh_url(value: str) -> tuple[int, int] | None:
    """Return the start and end of the URL in a refresh; None without a URL."""
    found = _REFRESH.match(value)
    if not found or found.end() == len(value):
        return None
    start, end = found.end(), len(value)
    if value[start] in "\"'":
        quote = value[start]
        start += 1
        end = value.find(quote, start)
        end = len(value) if end < 0 else end
    return start, end


MAX_LINK_HEADER: Final = 8192
"""Maximum characters of a response's ``Link`` fields that are parsed."""

_LOADING = frozenset({"stylesheet", "preload", "modulepreload", "icon"})


@dataclass(frozen=True, slots=True)
class LoadingLink:
    """Link that loads a resource.

    Attributes:
        reference: the URI reference as found, decoded as latin-1.
        use: the use of the resource.
        relations: the loading relations, in lower case.
        parameters: all parameters of the link, with lower-case names.
    """

    reference: str
    use: Use
    relations: frozenset[str]
    parameters: dict[str, str]


def read_link_header(value: str) -> Iterator[LoadingLink]:
    """Yield the links of a field's value that load a resource, in order."""
    for reference, parameters in link_values(value[:MAX_LINK_HEADER]):
        rel = parameters.get("rel", "").lower()
        relations = frozenset(rel.split()) & _LOADING
        if relations:
            use = link_use(rel, parameters.get("as", ""))
            yield LoadingLink(reference, use, relations, parameters)
