"""With which status a capture is sent, and which bytes of it."""

import re
from dataclasses import dataclass

from archiver.model.capture import Capture
from archiver.replay.asked import Asked
from archiver.replay.conditional_requests import select
from archiver.wire.head import ResponseHead

_OK = 200
_PARTIAL = 206
_BAD_GATEWAY = 502
_WITHOUT_CONTENT = frozenset({204, 205, 304})
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/(?:[0-9]{1,15}|\*)")


@dataclass(frozen=True, slots=True)
class Delivery:
    """What of the content is sent, and the fields that say so.

    Attributes:
        status: a final one (RFC 9110 §15).
        part: the bytes that are sent, from the one on and before the other; None for all.
        length: how many those are; None where they have yet to be made.
        headers: ``ETag``, ``Accept-Ranges`` and ``Content-Range``, where they hold.
    """

    status: int
    part: tuple[int, int] | None
    length: int | None
    headers: tuple[tuple[str, str], ...] = ()


def deliver(capture: Capture, head: ResponseHead, asked: Asked, *, is_as_stored: bool) -> Delivery:
    """Apply what the request says of ranges and of copies that it has.

    What is decoded or rewritten has no entity tag: its bytes depend on this program, too.

    Args:
        capture: with digest and length of the payload that is sent.
        head: of its response.
        asked: what is asked for.
        is_as_stored: whether the payload is sent byte for byte.
    """
    length = capture.payload_length
    status = _status(head, length)
    if status in _WITHOUT_CONTENT:
        return Delivery(status, (0, 0), 0)
    if not is_as_stored:
        return Delivery(status, None, None)
    whole = (0, length)
    if status == _PARTIAL:
        return Delivery(status, whole, length, (("Content-Range", _range_of(head, length)),))
    if status != _OK:
        return Delivery(status, whole, length)
    etag = f'"{capture.payload_digest.rpartition(":")[2]}"'
    chosen = select(asked.conditions, etag, length, in_parts=not asked.is_head)
    fields = [("ETag", etag), ("Accept-Ranges", "bytes")]
    if chosen.content_range:
        fields.append(("Content-Range", chosen.content_range))
    part = (chosen.first, chosen.end)
    return Delivery(chosen.status, part, chosen.end - chosen.first, tuple(fields))


def _status(head: ResponseHead, length: int) -> int:
    """A status that ends an exchange: what can't is an invalid answer of the server (§15.6.3)."""
    if not 200 <= head.status < 600:
        return _BAD_GATEWAY
    return 200 if head.status == _PARTIAL and not _range_of(head, length) else head.status


def _range_of(head: ResponseHead, length: int) -> str:
    """The Content-Range of a captured part, where it is one of so many bytes."""
    value = head.header("content-range") or ""
    found = _CONTENT_RANGE.fullmatch(value)
    return value if found and int(found[2]) - int(found[1]) + 1 == length else ""
