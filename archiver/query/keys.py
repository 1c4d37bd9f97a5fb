"""Conditions as words of the index, so that it can look for them together with words.

A key begins with a character that no text can bring into the index, and is of one length.
"""

from collections.abc import Iterator
from hashlib import blake2b

from archiver.query.tree import Condition
from archiver.query.words import fold

_START = "\ue000"
"""Of a private use area: ``words_of`` lets none of those through."""
MOST_LABELS = 10


def key(condition: Condition, value: str) -> str:
    """The word that stands for a condition and its value."""
    digest = blake2b(f"{condition}:{fold(value)}".encode("utf-8", "replace"), digest_size=8)
    return _START + digest.hexdigest()


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
