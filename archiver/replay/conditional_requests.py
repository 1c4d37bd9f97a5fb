"""Conditional and range requests."""

import re
from dataclasses import dataclass

_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)
_TAG = re.compile(r'(W/)?("[!#-~\x80-\xff]*")')
_MAX_LENGTH = 8192


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditional and range headers of a request; missing headers are empty strings."""

    if_match: str = ""
    if_none_match: str = ""
    if_range: str = ""
    range: str = ""


UNCONDITIONAL = Conditions()


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected part of a representation.

    Attributes:
        status: 200, 206, 304, 412 or 416.
        first, end: byte range; the end is exclusive.
        content_range: value of the ``Content-Range`` header; empty for none.
    """

    status: int
    first: int
    end: int
    content_range: str = ""


def select(conditions: Conditions, etag: str, length: int, *, in_parts: bool) -> Selection:
    """Evaluate the conditions of a GET or HEAD in the order of RFC 9110 §13.2.2.

    Multiple ranges and invalid ranges are ignored: the whole representation is sent (§14.2).

    Args:
        conditions: headers of the request.
        etag: a strong entity tag, with its quotes.
        length: bytes of the whole representation.
        in_parts: whether a range of the representation may be sent; False for HEAD.
    """
    if conditions.if_match and not _matches(conditions.if_match, etag, is_weak=False):
        return Selection(412, 0, 0)
    if conditions.if_none_match and _matches(conditions.if_none_match, etag, is_weak=True):
        return Selection(304, 0, 0)
    whole = Selection(200, 0, length)
    if not in_parts or (conditions.if_range and conditions.if_range.strip() != etag):
        return whole
    return _part(conditions.range, length) or whole


def _matches(field: str, etag: str, *, is_weak: bool) -> bool:
    """Return whether a header with entity tags, or with ``*``, matches ``etag`` (§8.8.3.2)."""
    if field.strip() == "*":
        return True
    tags = _TAG.findall(field[:_MAX_LENGTH])
    return any(tag == etag and (is_weak or not weak) for weak, tag in tags)


def _part(field: str, length: int) -> Selection | None:
    """Return the selection of a ``Range`` header (§14.1.2); None unless it is one valid range."""
    match = _RANGE.fullmatch(field.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        first, end = max(length - int(match[2]), 0), length
    else:
        first, end = int(match[1]), int(match[2]) + 1 if match[2] else length
        if match[2] and end <= first:
            return None
    if first >= length:
        return Selection(416, 0, 0, f"bytes */{length}")
    end = min(end, length)
    return Selection(206, first, end, f"bytes {first}-{end - 1}/{length}")
