"""States of the disk of a recorded run after a power cut at each relevant moment."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.system_calls import SYNCS, Disk

FRAME_HEAD = 24
CONTENT = "content but not sizes"
LOSES: dict[str, Callable[[Disk], dict[str, bytes]]] = {
    "all that is not synced": Disk.synced_files,
    "half of the segments and the rest of the index": lambda disk: disk.half_of_unsynced(
        segments=True
    ),
    "half of the index and the rest of the segments": lambda disk: disk.half_of_unsynced(
        segments=False
    ),
    CONTENT: Disk.zeros_for_unsynced,
}
"""Functions that return the files after a power cut, by what the cut loses."""


def moments(recorded, lose, states: set[bytes]) -> Iterator[tuple[dict[str, bytes], list]]:
    """Yield (files after a power cut, acknowledgements until then) for each relevant moment.

    The moments are just before each sync, when most changes can be lost. States in ``states`` were
    yielded before. An acknowledgement changes no file, so the next state is checked against it.
    """
    disk, acknowledged = Disk(recorded.data), []
    for call in recorded.calls:
        if call.name in SYNCS or _ends_a_transaction(call):
            yield from _if_new(lose(disk), acknowledged, states)
        acknowledged += [each for each in recorded.acknowledged if each.call is call]
        disk.apply(call)
    yield from _if_new(lose(disk), acknowledged, states)


def _ends_a_transaction(call) -> bool:
    """Return whether a call writes the header of a transaction's last frame into the index's WAL.

    Only the last transaction of an import is synced separately. (SQLite file format §4.1: this
    header contains the number of pages; in other frames it is 0.)
    """
    is_head = call.path.endswith("-wal") and len(call.data) == FRAME_HEAD
    return is_head and any(call.data[4:8])


def _if_new(files, acknowledged, states):
    digest = hashlib.sha256(b"%d" % len(acknowledged))
    for name, content in sorted(files.items()):
        digest.update(b"%s %d " % (name.encode(), len(content)) + content)
    if digest.digest() not in states:
        states.add(digest.digest())
        yield files, [*acknowledged]


def put_back(files: dict[str, bytes], data: Path) -> None:
    """Replace the files of a directory by these."""
    shutil.rmtree(data, ignore_errors=True)
    for name, content in files.items():
        path = data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
