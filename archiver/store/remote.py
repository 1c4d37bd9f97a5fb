"""Reads segments that lie in a bucket, by position, in blocks of which some are kept.

A segment that is in a bucket is never changed, so what was read of it once holds for ever.
"""

from collections import OrderedDict
from threading import Lock
from typing import TypeVar

from archiver.errors import StoreUnavailable
from archiver.store.bucket import Bucket

MOST_SIZES = 10_000
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Blocks:
    """Blocks of objects, the last of which are kept; for any number of threads.

    Args:
        bucket: where the objects lie.
        block_bytes: how much is asked for at once.
        most: how many blocks are kept.
    """

    def __init__(self, bucket: Bucket, *, block_bytes: int, most: int) -> None:
        self.block_bytes = block_bytes
        self._bucket = bucket
        self._most = most
        self._lock = Lock()
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._sizes: OrderedDict[str, int] = OrderedDict()

    def block(self, name: str, number: int) -> bytes:
        """A block of an object; empty behind its end.

        Raises:
            StoreUnavailable: it is not there, or the store does not answer.
        """
        with self._lock:
            if (name, number) in self._blocks:
                self._blocks.move_to_end((name, number))
                return self._blocks[name, number]
            size = self._sizes.get(name)
        start = number * self.block_bytes
        if size is not None and start >= size:
            return b""
        try:
            data, size = self._bucket.read(name, start, start + self.block_bytes)
        except FileNotFoundError:
            raise not_there(name) from None
        if len(data) != min(self.block_bytes, size - start):
            raise StoreUnavailable(
                "The object store gave less of {name} than it has. Try again later.", name=name
            )
        with self._lock:
            _keep(self._blocks, (name, number), data, self._most)
            _keep(self._sizes, name, size, MOST_SIZES)
        return data

    def size(self, name: str) -> int:
        """Bytes of an object.

        Raises:
            StoreUnavailable: it is not there, or the store does not answer.
        """
        with self._lock:
            size = self._sizes.get(name)
        if size is None:
            try:
                size = self._bucket.size(name)
            except FileNotFoundError:
                raise not_there(name) from None
            with self._lock:
                _keep(self._sizes, name, size, MOST_SIZES)
        return size


class RemoteSegment:
    """A segment in a bucket, read by position; nothing is asked for before it is read."""

    def __init__(self, name: str, blocks: Blocks) -> None:
        self._name = name
        self._blocks = blocks
        self._position = 0

    @property
    def size(self) -> int:
        """Its bytes; it does not grow."""
        return self._blocks.size(self._name)

    def seek(self, offset: int) -> int:
        """Go to a byte."""
        self._position = offset
        return offset

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end."""
        data = self.read_at(self._position, size)
        self._position += len(data)
        return data

    def read_at(self, offset: int, size: int) -> bytes:
        """Up to ``size`` bytes from a byte on."""
        number, start = divmod(offset, self._blocks.block_bytes)
        found = []
        while size > 0 and (data := self._blocks.block(self._name, number)[start : start + size]):
            found.append(data)
            number, start, size = number + 1, 0, size - len(data)
        return b"".join(found)


def not_there(name: str) -> StoreUnavailable:
    """A segment that is neither here nor in the store."""
    return StoreUnavailable(
        "{name} is neither on this machine nor in the object store yet: the machine that writes it "
        "has it still. Try again in some minutes.",
        name=name,
    )


def _keep(kept: OrderedDict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)
