"""Editions of a segment: what is rewritten is called as before, with a number that is higher.

``archiver-….warc.gz`` is the first, ``archiver-….2.warc.gz`` the second. A later edition holds all
that is still wanted of an earlier one, and takes its place from the moment it has its name: an
earlier one that lies beside it, left by a kill or put there by somebody, is never read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

_NAME = re.compile(
    r"(?P<stem>archiver-(?P<created>\d{14})-(?P<writer>[0-9a-f]{12})-(?P<serial>\d{5,}))"
    r"(?:\.(?P<edition>[1-9]\d{0,8}))?\.warc\.gz"
)


def is_ours(name: str) -> bool:
    """Whether a file is called as segments of ours are."""
    return _NAME.fullmatch(name) is not None


def writer_of(name: str) -> str:
    """The process that wrote a segment; empty if the name is not one of ours."""
    named = _NAME.fullmatch(name)
    return named["writer"] if named else ""


def created_of(name: str) -> datetime | None:
    """When a segment was begun; None if the name is not one of ours, or names no moment."""
    named = _NAME.fullmatch(name)
    try:
        return datetime.strptime(f"{named['created']}Z", "%Y%m%d%H%M%S%z") if named else None
    except ValueError:
        return None


def serial_of(name: str) -> int:
    """Which of its writer's segments it is, from 1; 0 if the name is not one of ours."""
    named = _NAME.fullmatch(name)
    return int(named["serial"]) if named else 0


def next_edition(name: str) -> str:
    """What the next edition of a segment of ours is called.

    >>> next_edition("archiver-20260301120000-0123456789ab-00001.warc.gz")
    'archiver-20260301120000-0123456789ab-00001.2.warc.gz'
    """
    named = _NAME.fullmatch(name)
    if named is None:
        raise ValueError(f"{name} is not called as segments are")
    return f"{named['stem']}.{_edition(name) + 1}.warc.gz"


def superseded(names: Iterable[str]) -> dict[str, str]:
    """The earlier editions among some names, each with the last one that is there."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if named := _NAME.fullmatch(name):
            by_stem[named["stem"]].append(name)
    found: dict[str, str] = {}
    for editions in by_stem.values():
        *earlier, last = sorted(editions, key=_edition)
        found |= dict.fromkeys(earlier, last)
    return found


def _edition(name: str) -> int:
    named = _NAME.fullmatch(name)
    return int(named["edition"] or 1) if named else 0
