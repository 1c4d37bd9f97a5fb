"""Segments that are written here and lie in a bucket once they are closed.

The folder of a file is its state: in ``warc/`` is what the bucket does not have for certain, in
``uploaded/`` copies of what it has, which anybody may delete. Functions here block.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from archiver.errors import ConfigurationError, StoreError
from archiver.store.bucket import Bucket, NoBucket
from archiver.store.editions import is_ours, superseded
from archiver.store.files import ReadOnly, SegmentBytes, make_directory, sync_directory
from archiver.store.remote import Blocks, RemoteSegment
from archiver.store.rewriting import NextEdition, remove_segment
from archiver.store.shelf import UploadingShelf
from archiver.store.survey import PassedBy, SegmentFile, Survey

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
