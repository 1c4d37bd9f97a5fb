"""Conditional and range requests."""

import re
from dataclasses import dataclass

_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)
_TAG = re.compile(r'(W/)?("[!#-~\x80-\xff]*")')
_LONGEST = 8192


@dataclass(frozen=True, slots=True)
class Conditions:
    """The fields of a request that its answer depends on; empty where they are missing."""

    if_match: str = ""
    if_none_match: str = ""
    if_range: str = ""
    range: str = ""


UNCONDITIONAL = Conditions()


@dataclass(frozen=True, slots=True)
class Selection:
    """What is sent of a representation that would be sent whole, with 200.

    Attributes:
        status: 200, 206, 304, 412 or 416.
        first, end: its bytes from the one on and before the other.
        content_range: the field of that name; empty if there is none.
    """

    status: int
    first: int
    end: int
    content_range: str = ""


def select(conditions: Conditions, etag: str, length: int, *, in_parts: bool) -> Selection:
    """Apply the conditions of a GET or HEAD in their order (RFC 9110 §13.2.2).

    More ranges than one, and what is no range, are passed over: the whole is sent (§14.2).

    Args:
        conditions: of the request.
        etag: a strong entity tag, with its quotes.
        length: bytes of the whole.
        in_parts: whether a part of it can be sent; it can't in answer to HEAD.
    """
    if conditions.if_match and not _lists(conditions.if_match, etag, is_weak=False):
        return Selection(412, 0, 0)
    if conditions.if_none_match and _lists(conditions.if_none_match, etag, is_weak=True):
        return Selection(304, 0, 0)
    whole = Selection(200, 0, length)
    if not in_parts or (conditions.if_range and conditions.if_range.strip() != etag):
        return whole
    return _part(conditions.range, length) or whole


def _lists(field: str, etag: str, *, is_weak: bool) -> bool:
    """Whether a list of entity tags, or ``*``, has one that matches (§8.8.3.2)."""
    if field.strip() == "*":
        return True
    tags = _TAG.findall(field[:_LONGEST])
    return any(tag == etag and (is_weak or not weak) for weak, tag in tags)


def _part(field: str, length: int) -> Selection | None:
    """What one range selects (§14.1.2); None if there is none."""
    found = _RANGE.fullmatch(field.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        first, end = max(length - int(found[2]), 0), length
    else:
        first, end = int(found[1]), int(found[2]) + 1 if found[2] else length
        if found[2] and end <= first:
            return None
    if first >= length:
        return Selection(416, 0, 0, f"bytes */{length}")
    end = min(end, length)
    return Selection(206, first, end, f"bytes {first}-{end - 1}/{length}")
