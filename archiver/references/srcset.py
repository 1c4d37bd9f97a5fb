"""The URLs in a ``srcset`` (HTML §4.8.4.2.1)."""

import re
from collections.abc import Iterator

_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS = re.compile(r"(?>(?:[^,(]++|\([^)]*+\)?)*)")


_BETWEEN = "\t\n\f\r ,"


def read_candidates(value: str) -> list[tuple[str, str]]:
    """The candidates: each one's URL and its descriptors."""
    places = [*find_candidates(value)]
    ends = [start for start, _ in places[1:]] + [len(value)] * bool(places)
    return [
        (value[start:url_end], value[url_end:end].strip(_BETWEEN))
        for (start, url_end), end in zip(places, ends, strict=True)
    ]


def find_candidates(value: str) -> Iterator[tuple[int, int]]:
    """Where each candidate's URL starts and ends; what stands between are its descriptors."""
    at = 0
    while found := _CANDIDATE.match(value, at):
        start, end = found.span(1)
        url_end = start + len(value[start:end].rstrip(","))
        yield start, url_end
        at = end
        if url_end == end and (descriptors := _DESCRIPTORS.match(value, at)):
            at = descriptors.end()
