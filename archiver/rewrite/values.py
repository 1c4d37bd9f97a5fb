"""Attribute values that hold more than one URL and nothing else: srcset and refresh."""

from collections.abc import Callable

from archiver.references.refresh import find_refresh_url
from archiver.references.srcset import find_candidates
from archiver.rewrite.url_rewriter import BLOCKED


def rewrite_srcset(value: str, lead: Callable[[str], str | None]) -> str:
    """Lead each candidate of a srcset; what stands between stays as it is.

    A candidate that must not stay is left out: its URL becomes ``data:,``.
    """
    out: list[str] = []
    done = 0
    for start, end in find_candidates(value):
        led = lead(value[start:end])
        if led is not None:
            out += value[done:start], led or "data:,"
            done = end
    out.append(value[done:])
    return "".join(out)


def rewrite_refresh(value: str, lead: Callable[[str], str | None]) -> str:
    """Lead the URL of a refresh, in meta or header.

    Returns:
        The value as it was where it names no URL; ``BLOCKED`` where its URL must not stay.
    """
    place = find_refresh_url(value)
    led = lead(value[slice(*place)]) if place else None
    if led is None or place is None:
        return value
    return f"{value[: place[0]]}{led}{value[place[1] :]}" if led else BLOCKED
