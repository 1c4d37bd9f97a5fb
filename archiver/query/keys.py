"""Conditions as words of the index, so that it can look for them together with words.

A key begins with a character that no text can bring into the index, and is of one length.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from archiver.model.entry_list import unquoted
from archiver.query.dates import Dates
from archiver.query.tree import Condition
from archiver.query.words import fold

_START = "\ue000"
"""Of a private use area: ``words_of`` lets none of those through."""
MOST_LABELS = 10
MOST_YEARS, MOST_YEARS_BY_MONTH = 30, 2


@lru_cache(4096)
def key(condition: Condition, value: str) -> str:
    """The word that stands for a condition and its value."""
    digest = hashlib.blake2b(f"{condition}:{fold(value)}".encode("utf-8", "replace"), digest_size=8)
    return _START + digest.hexdigest()


def list_key(path: str) -> str:
    """What lists are looked for by: their paths, in any case, without what no query can hold."""
    return fold(unquoted(path))


def sites_of(host: str) -> Iterator[str]:
    """A host, with and without its port, and the domains that it is below."""
    yield host
    bare = _without_port(host)
    if bare != host:
        yield bare
    if _is_address(bare):
        return
    labels = bare.split(".")[-MOST_LABELS:]
    yield from (".".join(labels[n:]) for n in range(1, len(labels)))


def languages_of(tag: str) -> Iterator[str]:
    """A language tag, and each of its beginnings: pt-br and pt."""
    parts = tag.split("-")[:4]
    yield from ("-".join(parts[: n + 1]) for n in range(len(parts)))


def months_of(moment: datetime) -> tuple[str, str]:
    """The year of a moment, and its month."""
    return f"{moment.year:04}", f"{moment.year:04}-{moment.month:02}"


def dates_within(value: Dates) -> list[str]:
    """The months, or else the years, that cover a span; empty if they are too many to be named."""
    if value.first is None or value.last is None:
        return []
    first, beyond = value.first.begins, value.last.following.begins
    last = beyond - timedelta(seconds=1)
    years = range(first.year, last.year + 1)
    if len(years) > MOST_YEARS:
        return []
    if len(years) > MOST_YEARS_BY_MONTH:
        return [f"{year:04}" for year in years]
    months = [f"{year:04}-{month:02}" for year in years for month in range(1, 13)]
    return [each for each in months if months_of(first)[1] <= each <= months_of(last)[1]]


@lru_cache(16_384)
def reversed_host(host: str) -> str:
    """``org.example.www.`` of ``www.example.org:80``: what is below a domain begins as it does."""
    bare = _without_port(host)
    return f"={bare}=" if _is_address(bare) else ".".join(reversed(bare.split("."))) + "."


def site_range(site: str) -> tuple[str, str]:
    """The first of the reversed hosts that a site stands for, and what lies beyond the last.

    A site with a port is one host: its range is empty, and it is found by its name.
    """
    first = reversed_host(site)
    beyond = first[:-1] + chr(ord(first[-1]) + 1)
    return (first, first) if _without_port(site) != site else (first, beyond)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.replace(".", "").isdecimal()
