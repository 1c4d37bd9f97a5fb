"""Where payloads go whose records were thrown away and that other captures revisit: pure.

Of those captures one becomes a response that holds the payload, and the others refer to it. A
payload in chunk framing is referred to from its own URL alone (docs/decisions/0003), so one whose
head says chunked is taken only where there is no other.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Capture, PayloadDigest, RecordId
from archiver.warc.build import Original


@dataclass(slots=True)
class Moves:
    """What becomes of revisits, by record id.

    Attributes:
        whole: those that get their payload, with the record that has it so far.
        refer: those that name another original.
    """

    whole: dict[RecordId, Capture] = field(default_factory=dict)
    refer: dict[RecordId, Original] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Revisit:
    """A capture without a payload of its own.

    Attributes:
        capture: as the index has it.
        refers_to: the record that it names for its payload.
        is_chunked: whether its own head says that the body is in chunks.
    """

    capture: Capture
    refers_to: str
    is_chunked: bool


def plan_moves(
    revisits: Sequence[Revisit],
    living: Callable[[PayloadDigest], Iterable[Capture]],
    holder: Callable[[PayloadDigest], Capture | None],
    gone: frozenset[str],
) -> Moves:
    """Decide for all revisits of payloads that a withheld record holds.

    Args:
        revisits: all captures that have such a payload and no record with it of their own.
        living: response records that hold a payload and stay.
        holder: the record that holds a payload and goes.
        gone: record ids that must not be referred to.
    """
    moves = Moves()
    by_payload: dict[PayloadDigest, list[Revisit]] = {}
    for each in revisits:
        by_payload.setdefault(each.capture.payload_digest, []).append(each)
    for digest, some in by_payload.items():
        originals = [*living(digest)]
        source = holder(digest)
        for each in sorted(some, key=lambda each: each.is_chunked):
            found = _within_reach(originals, each.capture.url)
            if found is None and source is not None:
                moves.whole[each.capture.record_id] = source
                originals.append(_made_whole(each))
            elif found is not None and each.refers_to in gone:
                moves.refer[each.capture.record_id] = _original(found)
    return moves


def _within_reach(originals: Sequence[Capture], url: str) -> Capture | None:
    plain = (each for each in originals if not each.is_chunked)
    own = (each for each in originals if each.url == url)
    return next(plain, None) or next(own, None)


def _made_whole(revisit: Revisit) -> Capture:
    was = revisit.capture
    return Capture(
        url=was.url,
        timestamp=was.timestamp,
        status=was.status,
        media_type=was.media_type,
        payload_digest=was.payload_digest,
        payload_length=was.payload_length,
        record_id=was.record_id,
        location=was.location,
        is_chunked=revisit.is_chunked,
    )


def _original(capture: Capture) -> Original:
    return Original(capture.record_id, capture.url, to_datetime(capture.timestamp))
