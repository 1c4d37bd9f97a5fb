"""Which segments are settled: closed, and all of them indexed, so that they may be moved."""

from collections.abc import Mapping, Sequence

from archiver.store.editions import is_ours, serial_of
from archiver.store.segments import SegmentStore
from archiver.store.survey import SegmentFile


def why_unsettled(
    segment: SegmentFile,
    found: Sequence[SegmentFile],
    indexed: Mapping[str, int],
    store: SegmentStore,
) -> str:
    """Why a segment may change yet; empty if it can be replaced, or uploaded.

    Args:
        segment: that is asked about.
        found: all segments of this machine at least.
        indexed: how many bytes of each the index has read.
        store: of this process.
    """
    if not is_ours(segment.name):
        return "It has another name than archiver's segments have."
    if indexed.get(segment.name, 0) != segment.size:
        return "It is being written, or holds what the index has not read."
    if store.lock.is_alive(segment.writer):
        last = max(serial_of(each.name) for each in found if each.writer == segment.writer)
        # Whose file was made a moment ago is no process's open segment yet, and has no byte.
        own = segment.size and segment.writer == store.writer and not store.is_open(segment.name)
        if serial_of(segment.name) == last and not own:
            return "A running process writes it."
    return ""
