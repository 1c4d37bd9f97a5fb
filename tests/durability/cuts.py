"""States of the disk of a recorded run after a power cut at each relevant moment."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.system_calls import SYNCS, Disk

FRAME_HEAD = 24
LOSES: dict[str, Callable[[Disk], dict[str, bytes]]] = {
    "all that is not synced": Disk.without_what_is_not_synced,
    "half of the segments and the rest of the index": lambda disk: disk.with_half_of_it(
        segments=True
    ),
    "half of the index and the rest of the segments": lambda disk: disk.with_half_of_it(
        segments=False
    ),
    "content but not sizes": Disk.with_sizes_only,
    "nothing, for only the process died": Disk.with_everything,
}


def moments(recorded, lose) -> Iterator[tuple[dict[str, bytes], list]]:
    """Yield each distinct state of the disk, with the acknowledgements until then."""
    disk, told, seen = Disk(recorded.data), [], b""
    pending = [*recorded.acknowledged]
    for call in recorded.calls:
        is_acknowledged = [each for each in pending if each.call is call]
        if call.name in SYNCS or is_acknowledged or _ends_a_transaction(call):
            # # Just before a sync most data is unsynced, just after it least.
            seen = yield from differing(lose(disk), told, seen)
        told += is_acknowledged
        disk.apply(call)
        if call.name in SYNCS or is_acknowledged:
            seen = yield from differing(lose(disk), told, seen)
    yield from differing(lose(disk), told, b"")


def _ends_a_transaction(call) -> bool:
    """Return whether a call writes the header of a transaction's last frame into the index's WAL.

    Only the last transaction of an import is synced separately. (SQLite file format §4.1: this
    header contains the number of pages; in other frames it is 0.)
    """
    is_head = call.path.endswith("-wal") and len(call.data) == FRAME_HEAD
    return is_head and any(call.data[4:8])


def differing(files, told, seen):
    state = hashlib.sha256(b"%d" % len(told))
    for name in sorted(files):
        state.update(name.encode() + b"\0" + files[name])
    if state.digest() != seen:
        yield files, [*told]
    return state.digest()


def put_back(files: dict[str, bytes], data: Path) -> None:
    """Replace the files of a directory by these."""
    shutil.rmtree(data, ignore_errors=True)
    for name, content in files.items():
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
