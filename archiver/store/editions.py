"""Segment names: writer, serial number and version.

``archiver-….warc.gz`` is the first version of a segment, ``archiver-….2.warc.gz`` the second.
Compaction writes a new version with everything that is still wanted. As soon as the new version has
its name it replaces the earlier one, which is never read again, even if it still exists.

Names that end in two serial numbers (``…-00003-00009.warc.gz``) were written by earlier versions of
the program, which merged several segments of a writer into one. They are read like any other.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime

_NAME = re.compile(
    r"(?P<stem>archiver-(?P<created>\d{14})-(?P<writer>[0-9a-f]{12})-(?P<first>\d{5,})"
    r"(?:-(?P<last>\d{5,}))?)"
    r"(?:\.(?P<edition>[1-9]\d{0,8}))?\.warc\.gz"
)


def is_ours(name: str) -> bool:
    """Return whether a file name is a segment name of this program."""
    return _NAME.fullmatch(name) is not None


def writer_of(name: str) -> str:
    """Return the writer of a segment; empty if the name is not one of ours."""
    named = _NAME.fullmatch(name)
    return named["writer"] if named else ""


def created_of(name: str) -> datetime | None:
    """Return when a segment was created; None if the name has no valid timestamp."""
    named = _NAME.fullmatch(name)
    try:
        return datetime.strptime(f"{named['created']}Z", "%Y%m%d%H%M%S%z") if named else None
    except ValueError:
        return None


def serial_of(name: str) -> int:
    """Return the serial number of a segment, from 1; 0 if the name is not one of ours."""
    named = _NAME.fullmatch(name)
    return int(named["last"] or named["first"]) if named else 0


def edition_of(name: str) -> int:
    """Return the version of a segment, from 1; 0 if the name is not one of ours."""
    named = _NAME.fullmatch(name)
    return int(named["edition"] or 1) if named else 0


def next_edition(name: str) -> str:
    """Return the name of the next version of a segment.

    >>> next_edition("archiver-20260301120000-0123456789ab-00001.warc.gz")
    'archiver-20260301120000-0123456789ab-00001.2.warc.gz'
    """
    named = _NAME.fullmatch(name)
    if named is None:
        raise ValueError(f"{name} is not called as segments are")
    return f"{named['stem']}.{edition_of(name) + 1}.warc.gz"


def is_replaced(name: str, names: Collection[str]) -> bool:
    """Return whether a later version of a segment is among some names."""
    named = _NAME.fullmatch(name)
    if named is None:
        return False
    versions = (_NAME.fullmatch(each) for each in names)
    return any(
        each is not None
        and each["stem"] == named["stem"]
        and edition_of(each.string) > edition_of(name)
        for each in versions
    )


def superseded(names: Iterable[str]) -> dict[str, str]:
    """Return the names that a later version replaces, each with the name of the last version."""
    by_stem: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if named := _NAME.fullmatch(name):
            by_stem[named["stem"]].append(name)
    found: dict[str, str] = {}
    for versions in by_stem.values():
        *earlier, last = sorted(versions, key=edition_of)
        found |= dict.fromkeys(earlier, last)
    return found
