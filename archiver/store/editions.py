"""Which segments are read, by their names alone: their last editions, and those that are joined.

``archiver-….warc.gz`` is the first edition, ``archiver-….2.warc.gz`` the second. A later edition
holds all that is still wanted of an earlier one, and takes its place from the moment it has its
name: an earlier one that lies beside it, left by a kill or put there by somebody, is never read.

``archiver-…-00003-00009.warc.gz`` holds the first editions of its writer's segments 3 to 9, and
takes the place of all of them. Where one of them has a later edition, and the others are there
still, the joining never came to its end: then it is the joined one that is not read. Where others
are gone, it was the compaction that made the edition which did not, and the joined one is read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

_NAME = re.compile(
    r"(?P<stem>archiver-(?P<created>\d{14})-(?P<writer>[0-9a-f]{12})-(?P<first>\d{5,})"
    r"(?:-(?P<last>\d{5,}))?)"
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
    """The last of its writer's segments that it holds, from 1; 0 if the name is not one of ours."""
    return serials_of(name)[1]


def serials_of(name: str) -> tuple[int, int]:
    """The first and the last of its writer's segments that it holds: one, unless it is joined."""
    named = _NAME.fullmatch(name)
    return (int(named["first"]), int(named["last"] or named["first"])) if named else (0, 0)


def is_joined(name: str) -> bool:
    """Whether a segment holds several of its writer's."""
    first, last = serials_of(name)
    return first < last


def edition_of(name: str) -> int:
    """Which edition of a segment it is, from 1; 0 if the name is not one of ours."""
    named = _NAME.fullmatch(name)
    return int(named["edition"] or 1) if named else 0


def is_made_of(joined: str, names: Iterable[str]) -> bool:
    """Whether all that a joined segment holds is there in others, so that it may go."""
    first, last = serials_of(joined)
    due = first
    for begin, end in sorted(map(serials_of, names)):
        if begin > due:
            return False
        due = max(due, end + 1)
    return due == last + 1


def joined_name(first: str, last: str) -> str:
    """What those from one segment to another of its writer are called once they are joined.

    >>> joined_name(
    ...     "archiver-20260301120000-0123456789ab-00003.warc.gz",
    ...     "archiver-20260301120500-0123456789ab-00009.warc.gz",
    ... )
    'archiver-20260301120000-0123456789ab-00003-00009.warc.gz'
    """
    return f"{first.removesuffix('.warc.gz')}-{serial_of(last):05d}.warc.gz"


def next_edition(name: str) -> str:
    """What the next edition of a segment of ours is called.

    >>> next_edition("archiver-20260301120000-0123456789ab-00001.warc.gz")
    'archiver-20260301120000-0123456789ab-00001.2.warc.gz'
    """
    named = _NAME.fullmatch(name)
    if named is None:
        raise ValueError(f"{name} is not called as segments are")
    return f"{named['stem']}.{edition_of(name) + 1}.warc.gz"


def superseded(names: Iterable[str]) -> dict[str, str]:
    """Those among some names that are not read, each with the one that is there in its place."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if named := _NAME.fullmatch(name):
            by_stem[named["stem"]].append(name)
    found: dict[str, str] = {}
    by_writer: dict[str, list[str]] = defaultdict(list)
    for editions in by_stem.values():
        *earlier, last = sorted(editions, key=edition_of)
        found |= dict.fromkeys(earlier, last)
        by_writer[writer_of(last)].append(last)
    for of_writer in by_writer.values():
        if any(map(is_joined, of_writer)):
            found |= _within(of_writer)
    return found


def _within(names: list[str]) -> dict[str, str]:
    """Of one writer's last editions, those that another one holds, or that were never joined."""
    edited = [each for each in names if edition_of(each) > 1]
    found: dict[str, str] = {}
    widest = ""
    for name in sorted(names, key=lambda each: (serials_of(each)[0], -serial_of(each))):
        later = next((each for each in edited if _holds(name, each)), None)
        if later and is_made_of(name, (each for each in names if _holds(name, each))):
            found[name] = later
        elif _holds(widest, name):
            found[name] = widest
        elif is_joined(name):
            widest = name
    return found


def _holds(joined: str, name: str) -> bool:
    """Whether a segment holds another one, and more."""
    (first, last), (begin, end) = serials_of(joined), serials_of(name)
    return first <= begin and end <= last and (first, last) != (begin, end)
