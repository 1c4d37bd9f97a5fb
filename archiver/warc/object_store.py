"""Segments in an S3-compatible object store.

The one module that knows obstore; it is imported only where ``ARCHIVER_STORE`` is set. Endpoint,
region and credentials are read from the environment by obstore, by their usual names (``AWS_…``).
Every function blocks, with a bound. What the store answers is never passed on: the explanation of
a refused signature holds parts of what was signed.

A segment that is in a bucket is never changed, so what was read of it once holds for ever.

The folder of a file is its state: in ``warc/`` is what the bucket does not have for certain, in
``uploaded/`` copies of what it has, which anybody may delete. Functions here block.
"""

import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Lock
from typing import TypeVar

import obstore
from obstore import exceptions
from obstore.store import S3Store

from archiver.errors import ConfigurationError, StoreError, StoreUnavailable
from archiver.warc.durable_files import ReadOnly, SegmentBytes, make_directory, sync_directory
from archiver.warc.segment_inventory import PassedBy, SegmentFile, Survey
from archiver.warc.segment_storage import UploadingShelf
from archiver.warc.segment_versions import NextEdition, is_ours, remove_segment, superseded

LISTED_AT_ONCE = 1000
RETRIES = 2
RETRY_SECONDS = 10.0
CONNECT_SECONDS = 5.0
SILENT_SECONDS = 20.0
TRANSFER_SECONDS = 300.0
"""One request in all: the largest segment over a slow line."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REFUSALS = frozenset(
    {"AccessDenied", "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "ExpiredToken"}
)
_NO_BUCKET = "NoSuchBucket"
_OTHER_CLOCK = "RequestTimeTooSkewed"
_NO_RANGES = frozenset({"InvalidRange", "416"})
_CODE = re.compile(r"<Code>(\w{1,64})</Code>")
_STATUS = re.compile(r"\b(?:status|code):? ?(\d{3})\b")
_REFUSED = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)


class NoBucket(StoreUnavailable):
    """There is no bucket of that name, or no more."""


class _NoSuchRange(StoreUnavailable):
    """An object ends before what was asked for of it, or has nothing at all."""


class Bucket:
    """The objects below a prefix of a bucket, each by the rest of its name.

    Raises:
        StoreUnavailable: by every method; the store does not answer, or refuses.
        NoBucket: by every method, where the store says that there is no such bucket.
        FileNotFoundError: by those that name an object, if it is not there.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        name, _, prefix = address.removeprefix("s3://").partition("/")
        endpoint = next((os.environ[each] for each in _ENDPOINTS if os.environ.get(each)), "")
        self._objects = S3Store(
            name,
            prefix=prefix or None,
            config={"endpoint": endpoint} if endpoint else None,
            client_options={
                "allow_http": endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "read_timeout": timedelta(seconds=SILENT_SECONDS),
                "timeout": timedelta(seconds=TRANSFER_SECONDS),
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            },
        )

    def check(self) -> None:
        """See that the bucket is there and answers."""
        next(self.sizes(), None)

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Every object: its name and its bytes."""
        with _in_our_words():
            for some in obstore.list(self._objects, chunk_size=LISTED_AT_ONCE):
                yield from ((each["path"], each["size"]) for each in some)

    def size(self, name: str) -> int:
        """Bytes of an object."""
        with _in_our_words():
            return obstore.head(self._objects, name)["size"]

    def read(self, name: str, start: int, end: int) -> tuple[bytes, int]:
        """The bytes of an object from one to before another, and how many it has in all."""
        try:
            with _in_our_words():
                found = obstore.get(self._objects, name, options={"range": (start, end)})
                return bytes(found.bytes()), found.meta["size"]
        except _NoSuchRange:
            return b"", self.size(name)

    def create(self, name: str, path: Path) -> bool:
        """Put a file under a name that is free; whether it was. Nothing is ever overwritten."""
        try:
            with _in_our_words():
                obstore.put(self._objects, name, path, mode="create", use_multipart=False)
        except exceptions.AlreadyExistsError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Delete an object; nothing happens if there is none."""
        with _in_our_words():
            obstore.delete(self._objects, name)


@contextmanager
def _in_our_words() -> Iterator[None]:
    try:
        yield
    except exceptions.AlreadyExistsError:
        raise
    except (exceptions.BaseError, OSError, ValueError) as error:
        why = _why(str(error))
        if why == _NO_BUCKET:
            raise NoBucket("The bucket of the object store is gone. Make it again.") from None
        if isinstance(error, FileNotFoundError):
            raise
        if why in _NO_RANGES:
            raise _NoSuchRange(
                "The object store has less of an object than it should. Run `archiver verify`."
            ) from None
        if why == _OTHER_CLOCK:
            raise StoreUnavailable(
                "The object store refuses what this machine asks: their clocks differ. Set the "
                "clock of this machine right."
            ) from None
        if why in _REFUSALS or isinstance(error, _REFUSED):
            raise StoreUnavailable(
                "The object store refuses the credentials. Set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY to some that may list, read, write and delete in the bucket."
            ) from None
        raise StoreUnavailable(
            "The object store does not answer as it should ({why}). Try again later.", why=why
        ) from None


def _why(text: str) -> str:
    """What of an error may be told to anybody."""
    if found := _CODE.search(text) or _STATUS.search(text):
        return found[1]
    return "no answer in time" if "timed out" in text or "timeout" in text else "no connection"


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


BLOCK_BYTES = 256 << 10
BLOCKS = 128
WHOLE_BLOCK_BYTES = 8 << 20
_STRANGE = "It lies in the object store, and is no segment."
_OTHER_BYTES = (
    "The object store has other bytes under this name than this machine: nothing is uploaded over "
    "them. Move them away, if they are not wanted."
)


def open_bucket_shelf(address: str, directory: Path, uploaded: Path) -> "BucketShelf":
    """Open a bucket that is there and answers, by ``s3://bucket/prefix``.

    Raises:
        ConfigurationError: there is no such bucket.
        StoreUnavailable: it does not answer, or refuses.
    """
    bucket = Bucket(address)
    try:
        bucket.check()
    except NoBucket as error:
        raise ConfigurationError(
            f"There is no bucket for {address}. Make it, or set ARCHIVER_STORE to one that is."
        ) from error
    return BucketShelf(directory, uploaded, bucket)


class BucketShelf(UploadingShelf):
    """The segments of a bucket, and those of this machine that are not in it yet.

    Attributes:
        uploaded: the folder of copies.
        bucket: the bucket.
    """

    def __init__(self, directory: Path, uploaded: Path, bucket: Bucket) -> None:
        super().__init__(directory)
        self.uploaded = uploaded
        self.bucket = bucket
        self._blocks = Blocks(bucket, block_bytes=BLOCK_BYTES, most=BLOCKS)

    def open(self, name: str) -> SegmentBytes:
        """A segment, from wherever it lies nearest."""
        return self._open_here(name) or RemoteSegment(name, self._blocks)

    def open_whole(self, name: str) -> SegmentBytes:
        """A segment, to be read from its beginning to its end."""
        return self._open_here(name) or self._open_there(name)

    def copy(self, name: str, offset: int, length: int) -> Iterator[bytes]:
        """A stretch of a segment as it lies; one of a few records fills no large block."""
        is_short = length < WHOLE_BLOCK_BYTES
        return self.copy_of(self.open if is_short else self.open_whole, name, offset, length)

    def survey(self) -> Survey:
        """Every segment, here and in the bucket."""
        # What is uploaded just then must be met once at least.
        here = self.survey_here()
        there = dict(self.bucket.sizes())
        sizes = {name: size for name, size in there.items() if is_ours(name)}
        strange = [PassedBy(name, _STRANGE, is_loss=False) for name in there if not is_ours(name)]
        strange += [
            PassedBy(each.name, _OTHER_BYTES, is_loss=True)
            for each in here.segments
            if sizes.get(each.name, each.size) != each.size
        ]
        sizes |= {each.name: each.size for each in here.segments}
        earlier = superseded([*sizes, *here.superseded])
        read = tuple(
            SegmentFile(name, sizes[name]) for name in sorted(sizes) if name not in earlier
        )
        passed_by = sorted((*here.passed_by, *strange), key=lambda each: each.name)
        return Survey(read, here.torn, tuple(passed_by), earlier)

    def _put_file(self, path: Path, name: str) -> None:
        """Put a file into the bucket unless it is there, and compare what the bucket returns."""
        self.bucket.create(name, path)
        there = self._open_there(name)
        if there.size != path.stat().st_size or _digest(there) != _digest(ReadOnly(path)):
            raise StoreError(f"{name}: {_OTHER_BYTES}")

    def upload(self, name: str) -> None:
        """Put a segment of this machine into the bucket, prove that it is there, and mark it.

        Raises:
            StoreUnavailable: the bucket does not take it, or gives back other bytes; it stays.
        """
        path = self.directory / name
        try:
            self._put_file(path, name)
            self._mark(path, name)
        except FileNotFoundError:
            # A compaction replaced it meanwhile, and has removed what it knew of.
            if not (self.uploaded / name).exists():
                self.bucket.remove(name)

    def bring_here(self, name: str) -> None:
        """Have a segment in ``warc/``: read whole from the bucket, and compared once it is synced.

        Before it has its name it is no segment, so a kill leaves none that is half there.
        """
        path, begun = self.directory / name, self.directory / f".{name}.coming"
        if path.exists():
            return
        make_directory(self.directory)
        there, digest = self._open_there(name), hashlib.sha256()
        with begun.open("wb") as file:
            while piece := there.read(WHOLE_BLOCK_BYTES):
                digest.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if begun.stat().st_size != there.size or _digest(ReadOnly(begun)) != digest.digest():
            begun.unlink()
            raise StoreError(f"{name} could not be read whole from the object store. Try again.")
        begun.rename(path)
        sync_directory(self.directory)
        (self.uploaded / name).unlink(missing_ok=True)

    def empty(self) -> None:
        """Remove from the bucket what ``warc/`` has or compactions have replaced."""
        found = self.survey()
        here = {each.name: each.size for each in self.survey_here().segments}
        for name, size in [*self.bucket.sizes()]:
            if here.get(name) == size or name in found.superseded:
                self.bucket.remove(name)

    def forget(self, keep_bytes: int) -> None:
        """Remove the oldest copies of what the bucket has, down to so many bytes."""
        copies = [path for path in self.uploaded.glob("archiver-*") if is_ours(path.name)]
        sizes = {path: path.stat().st_size for path in sorted(copies, key=lambda each: each.name)}
        excess = sum(sizes.values()) - keep_bytes
        for path, size in sizes.items():
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= size

    def take_place(self, edition: NextEdition) -> None:
        """Put an edition where its earlier one lies: into the bucket too, if that is there."""
        if not self._has(edition.earlier):
            super().take_place(edition)
        else:
            self._put_file(edition.path, edition.name)
            self._mark(edition.path, edition.name)

    def remove(self, name: str) -> int:
        """Remove a segment from everywhere."""
        freed = super().remove(name)
        freed = remove_segment(self.uploaded, name) or freed
        try:
            freed = freed or self.bucket.size(name)
            self.bucket.remove(name)
        except FileNotFoundError:
            pass
        return freed

    def _has(self, name: str) -> bool:
        """Whether the bucket has a segment, or may have it."""
        if not (self.directory / name).exists():
            return True
        try:
            return self.bucket.size(name) >= 0
        except FileNotFoundError:
            return False

    def _open_here(self, name: str) -> SegmentBytes | None:
        for folder in (self.directory, self.uploaded):
            try:
                return ReadOnly(folder / name)
            except FileNotFoundError:
                continue
        return None

    def _open_there(self, name: str) -> SegmentBytes:
        return RemoteSegment(name, Blocks(self.bucket, block_bytes=WHOLE_BLOCK_BYTES, most=1))

    def _mark(self, path: Path, name: str) -> None:
        make_directory(self.uploaded)
        path.rename(self.uploaded / name)
        sync_directory(self.uploaded)
        sync_directory(self.directory)


def _digest(file: SegmentBytes) -> bytes:
    found = hashlib.sha256()
    while piece := file.read(WHOLE_BLOCK_BYTES):
        found.update(piece)
    return found.digest()
