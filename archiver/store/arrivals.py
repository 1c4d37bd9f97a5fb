"""Files on their way in that lie in a bucket, beside its segments, until they are read.

A file is some pieces, each put by one request and read back before the next. Their names say how
many there are, so it is there once all of them are, and half of one is none. Functions here block.
"""

import os
import re
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from archiver.errors import StoreUnavailable

if TYPE_CHECKING:  # whoever has no bucket loads no driver
    from archiver.store.bucket import Bucket

FOLDER = "uploads"
PIECE_BYTES = 16 << 20
"""So much of a file is held in memory while it goes there or comes back."""
UNFINISHED = ".part"
_PIECE = re.compile(FOLDER + r"/([0-9a-f]{32})/(\d{1,6})-(\d{1,6})")
"""What has another name in that folder is not ours, and never removed."""


class Arrivals:
    """The files of a bucket, each by a name of its own: 32 hexadecimal digits.

    Raises:
        StoreUnavailable: by every method; the bucket does not answer, or refuses.
    """

    def __init__(self, bucket: "Bucket") -> None:
        self._bucket = bucket

    def keep(self, name: str, path: Path) -> None:
        """Put a file there, and prove that it is."""
        count = max(-(-path.stat().st_size // PIECE_BYTES), 1)
        with path.open("rb") as file:
            for number in range(1, count + 1):
                piece, key = file.read(PIECE_BYTES), f"{FOLDER}/{name}/{number}-{count}"
                self._bucket.put(key, piece)
                if self._bucket.read(key, 0, max(len(piece), 1)) != (piece, len(piece)):
                    raise StoreUnavailable(
                        "The object store gave back other bytes of the file than it was given. "
                        "Try again later."
                    )

    def has(self, name: str) -> bool:
        """Whether a file is there, all of it."""
        return bool(self._pieces(name))

    def bring(self, name: str, path: Path) -> None:
        """Have a copy of a file here, which has its name once it is whole.

        Raises:
            FileNotFoundError: it is not there.
        """
        pieces = self._pieces(name)
        if not pieces:
            raise FileNotFoundError(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_name(f"{path.stem}.{token_hex(4)}{UNFINISHED}")
        try:
            with begun.open("xb") as file:
                begun.chmod(0o600)
                for key in pieces:
                    file.write(self._whole(key))
                file.flush()
                os.fsync(file.fileno())  # what has its name is taken for whole after a power cut
            begun.replace(path)
        finally:
            begun.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file; nothing happens where there is none."""
        for key, _ in [*self._bucket.within(f"{FOLDER}/{name}")]:
            if _PIECE.fullmatch(key):
                self._bucket.remove(key)

    def all(self) -> dict[str, datetime]:
        """Every file, and what is there of others: its name, and when the newest piece was put."""
        found: dict[str, datetime] = {}
        for key, put_at in self._bucket.within(FOLDER):
            if piece := _PIECE.fullmatch(key):
                found[piece[1]] = max(put_at, found.get(piece[1], put_at))
        return found

    def _pieces(self, name: str) -> list[str]:
        """The keys of a file's pieces in their order; none unless all are there."""
        keys = {key for key, _ in self._bucket.within(f"{FOLDER}/{name}")}
        some = next((piece for key in keys if (piece := _PIECE.fullmatch(key))), None)
        count = int(some[3]) if some else 0
        wanted = [f"{FOLDER}/{name}/{number}-{count}" for number in range(1, count + 1)]
        return wanted if keys.issuperset(wanted) else []

    def _whole(self, key: str) -> bytes:
        data, size = self._bucket.read(key, 0, PIECE_BYTES)
        if len(data) != size:
            raise StoreUnavailable(
                "The object store gave less of {name} than it has. Try again later.", name=key
            )
        return data
