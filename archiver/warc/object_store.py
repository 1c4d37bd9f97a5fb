"""Segments in an S3-compatible object store.

Only this module uses obstore; it is imported only if ``ARCHIVER_STORE`` is set. obstore reads the
endpoint, region and credentials from the usual environment variables (``AWS_…``).

Every function blocks, with a timeout. Responses of the store are never shown to users, because the
response to a wrong signature contains parts of the signed request.

A segment in a bucket never changes, so its data can be cached without expiry. Local files are in
two folders: files in ``warc/`` may be missing from the bucket, and files in ``uploaded/`` are
copies of objects in the bucket and can be deleted at any time.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import obstore
from obstore import exceptions
from obstore.store import S3Store

from archiver.errors import StoreError, StoreUnavailable
from archiver.helpers import make_directory, sync_directory
from archiver.model.message import marked
from archiver.warc.reader import ReadOnly, SegmentBytes
from archiver.warc.segment_inventory import SegmentFile, Survey, UnusableFile
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.segment_versions import (
    NextVersion,
    is_segment_name,
    remove_segment,
    replaced_segments,
)

BLOCK_BYTES = 1 << 20
MAX_BLOCKS = 32
MAX_SIZES = 10_000
LISTED_AT_ONCE = 1000
RETRIES = 2
RETRY_SECONDS = 10.0
CONNECT_SECONDS = 5.0
READ_TIMEOUT_SECONDS = 20.0
TRANSFER_SECONDS = 300.0
"""Time limit of one request, sufficient for the largest segment over a slow connection."""
_WRONG_CREDENTIALS = marked(
    "The object store rejected the credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to "
    "credentials that may list, read, write and delete in the bucket."
)
_NO_RESPONSE = marked("The object store is not responding correctly ({why}). Try again later.")
_MESSAGES = {
    "NoSuchBucket": marked(
        "The bucket of {address} does not exist. Create it, or set ARCHIVER_STORE to an existing "
        "bucket."
    ),
    "RequestTimeTooSkewed": marked(
        "The object store rejects requests because the clock of this machine is wrong. Set the "
        "clock."
    ),
    **dict.fromkeys(("AccessDenied", "SignatureDoesNotMatch"), _WRONG_CREDENTIALS),
    **dict.fromkeys(("InvalidAccessKeyId", "InvalidToken", "ExpiredToken"), _WRONG_CREDENTIALS),
}
"""Messages by error code of the store."""
_CODE = re.compile(r"<Code>(\w{1,64})</Code>")
_STATUS = re.compile(r"\b(?:status|code):? ?(\d{3})\b")
_REFUSED = (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError)


class Bucket:
    """Objects below a prefix of a bucket; names are relative to the prefix.

    Attributes:
        size: function that returns the size of an object in bytes; the result is cached.
        block: function that returns the bytes of an object from ``number * BLOCK_BYTES`` on, at
            most ``BLOCK_BYTES``; some of the results are cached.

    Args:
        address: ``s3://bucket`` or ``s3://bucket/prefix``.

    Raises:
        StoreUnavailable: by every method: the store does not respond, or refuses the request.
        FileNotFoundError: by methods that take a name: the object does not exist.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._objects = objects = S3Store.from_url(
            address,
            client_options={
                "allow_http": True,  # only if the endpoint is http://
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "read_timeout": timedelta(seconds=READ_TIMEOUT_SECONDS),
                "timeout": timedelta(seconds=TRANSFER_SECONDS),
            },
            retry_config={
                "max_retries": RETRIES,
                "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            },
        )

        # These functions do not refer to ``self``, so that blocks are freed without a garbage
        # collection.
        @lru_cache(MAX_SIZES)
        def size(name: str) -> int:
            with _user_errors(address):
                return obstore.head(objects, name)["size"]

        @lru_cache(MAX_BLOCKS)
        def block(name: str, number: int) -> bytes:
            start = number * BLOCK_BYTES
            length = min(BLOCK_BYTES, size(name) - start)
            if length <= 0:
                return b""
            with _user_errors(address):
                data = bytes(obstore.get_range(objects, name, start=start, length=length))
            if len(data) != length:
                raise StoreUnavailable(
                    "The object store returned only part of {name}. Try again later.", name=name
                )
            return data

        self.size, self.block = size, block

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Iterate over all objects as (name, size in bytes)."""
        with _user_errors(self.address):
            for batch in obstore.list(self._objects, chunk_size=LISTED_AT_ONCE):
                yield from ((each["path"], each["size"]) for each in batch)

    def stream(self, name: str) -> Iterator[bytes]:
        """Iterate over the bytes of an object, without a cache."""
        with _user_errors(self.address):
            yield from map(bytes, obstore.get(self._objects, name).stream(BLOCK_BYTES))

    def create(self, name: str, path: Path) -> None:
        """Upload a file unless an object with the name exists."""
        with suppress(exceptions.AlreadyExistsError), _user_errors(self.address):
            obstore.put(self._objects, name, path, mode="create", use_multipart=False)

    def remove(self, name: str) -> None:
        """Delete an object, if it exists."""
        with _user_errors(self.address):
            obstore.delete(self._objects, name)


@contextmanager
def _user_errors(address: str) -> Iterator[None]:
    try:
        yield
    except exceptions.AlreadyExistsError:
        raise
    except (exceptions.BaseError, OSError, ValueError) as error:
        why = _error_code(str(error))
        if isinstance(error, FileNotFoundError) and why not in _MESSAGES:
            raise
        if isinstance(error, _REFUSED) and why not in _MESSAGES:
            why = "AccessDenied"
        message = _MESSAGES.get(why, _NO_RESPONSE)
        raise StoreUnavailable(message, address=address, why=why) from None


def _error_code(text: str) -> str:
    """Return the error code or status in an error message, which is safe to show to users."""
    if match := _CODE.search(text) or _STATUS.search(text):
        return match[1]
    return "timed out" if "timed out" in text or "timeout" in text else "no connection"


class RemoteSegment(SegmentBytes):
    """Segment in a bucket, which can be read at any position; creating it sends no request.

    Raises:
        StoreUnavailable: the object does not exist, or the store does not respond.
    """

    def __init__(self, name: str, bucket: Bucket) -> None:
        self._name = name
        self._bucket = bucket

    @property
    def size(self) -> int:
        """Size in bytes, which never changes."""
        with _missing_segment(self._name):
            return self._bucket.size(self._name)

    def read_at(self, offset: int, size: int) -> bytes:
        """Read up to ``size`` bytes at ``offset``."""
        number, start = divmod(offset, BLOCK_BYTES)
        pieces = []
        with _missing_segment(self._name):
            while size > 0 and (block := self._bucket.block(self._name, number)):
                pieces.append(block[start : start + size])
                number, start, size = number + 1, 0, size - len(pieces[-1])
        return b"".join(pieces)


@contextmanager
def _missing_segment(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise StoreUnavailable(
            "{name} is neither on this machine nor in the object store: another machine has not "
            "uploaded it yet. Try again in a few minutes.",
            name=name,
        ) from None


_NOT_A_SEGMENT = "It is in the object store, but is not a segment."
_OTHER_BYTES = (
    "The object store has different content under this name, so nothing was uploaded. Move the "
    "other object away if you do not need it."
)


def open_bucket_storage(address: str, directory: Path, uploaded: Path) -> "BucketStorage":
    """Open the bucket at ``s3://bucket/prefix`` and check that it responds.

    Raises:
        StoreUnavailable: the bucket does not exist, or the store does not respond or refuses the
            request.
    """
    bucket = Bucket(address)
    next(bucket.sizes(), None)
    return BucketStorage(directory, uploaded, bucket)


class BucketStorage(SegmentStorage):
    """Segments of a bucket, and local segments that are not uploaded yet.

    Attributes:
        uploaded: folder with local copies of uploaded segments.
        bucket: the bucket.
    """

    is_uploaded = True

    def __init__(self, directory: Path, uploaded: Path, bucket: Bucket) -> None:
        super().__init__(directory)
        self.uploaded = uploaded
        self.bucket = bucket

    def open(self, name: str) -> SegmentBytes:
        """Open a segment: the local file if there is one, else the object."""
        for folder in (self.directory, self.uploaded):
            with suppress(FileNotFoundError):
                return ReadOnly(folder / name)
        return RemoteSegment(name, self.bucket)

    def survey(self) -> Survey:
        """List every segment, local and in the bucket."""
        # List local files first, so that a segment uploaded in between is in at least one listing.
        local = self.survey_local()
        objects = dict(self.bucket.sizes())
        sizes = {name: size for name, size in objects.items() if is_segment_name(name)}
        unusable = [
            UnusableFile(name, _NOT_A_SEGMENT, has_lost_data=False)
            for name in objects
            if name not in sizes
        ]
        unusable += [
            UnusableFile(each.name, _OTHER_BYTES, has_lost_data=True)
            for each in local.segments
            if sizes.get(each.name, each.size) != each.size
        ]
        sizes |= {each.name: each.size for each in local.segments}
        earlier = replaced_segments([*sizes, *local.superseded])
        read = tuple(
            SegmentFile(name, sizes[name]) for name in sorted(sizes) if name not in earlier
        )
        unusable_files = sorted((*local.unusable_files, *unusable), key=lambda each: each.name)
        return Survey(read, local.truncated, tuple(unusable_files), earlier)

    def _put_file(self, path: Path, name: str) -> None:
        """Upload a file unless an object with this name exists; then compare both.

        Raises:
            StoreError: the object has other content.
        """
        self.bucket.create(name, path)
        if _digest(self.bucket.stream(name)) != _digest_of_file(path):
            raise StoreError(f"{name}: {_OTHER_BYTES}")

    def upload(self, name: str) -> None:
        """Upload a local segment, verify it, and move the file to ``uploaded/``.

        Raises:
            StoreUnavailable: the upload failed; the file stays in ``warc/``.
            StoreError: an object with other content exists; the file stays in ``warc/``.
        """
        path = self.directory / name
        try:
            self._put_file(path, name)
            self._move_to_uploaded(path, name)
        except FileNotFoundError:
            # A compaction removed the segment during the upload, so the new object is removed too.
            if not (self.uploaded / name).exists():
                self.bucket.remove(name)

    def download(self, name: str) -> None:
        """Download a segment to ``warc/`` and verify its digest after fsync.

        The file gets its final name at the end, so an interrupted download leaves no partial
        segment.
        """
        path, partial = self.directory / name, self.directory / f".{name}.coming"
        if path.exists():
            return
        make_directory(self.directory)
        with partial.open("wb") as file:
            digest = _digest(self.bucket.stream(name), file.write)
            file.flush()
            os.fsync(file.fileno())
        if digest != _digest_of_file(partial):
            partial.unlink()
            raise StoreError(f"Cannot read all of {name} from the object store. Try again.")
        partial.rename(path)
        sync_directory(self.directory)
        (self.uploaded / name).unlink(missing_ok=True)

    def empty(self) -> None:
        """Remove objects that compactions have replaced, or of which ``warc/`` has a whole copy."""
        replaced = self.survey().superseded
        local = {each.name: each.size for each in self.survey_local().segments}
        for name, size in [*self.bucket.sizes()]:
            if local.get(name) == size or name in replaced:
                self.bucket.remove(name)

    def forget(self, keep_bytes: int) -> None:
        """Remove the oldest local copies until at most ``keep_bytes`` remain."""
        copies = sorted(self.uploaded.glob("archiver-*.warc.gz"), reverse=True)
        totals = accumulate(path.stat().st_size for path in copies)
        for path, total in [*zip(copies, totals, strict=True)]:
            if total > keep_bytes:
                path.unlink(missing_ok=True)

    def publish(self, version: NextVersion) -> None:
        """Upload a new version of a segment."""
        self._put_file(version.path, version.name)
        self._move_to_uploaded(version.path, version.name)

    def remove(self, name: str) -> int:
        """Remove a segment locally and from the bucket; return its size."""
        sizes = [super().remove(name), remove_segment(self.uploaded, name)]
        with suppress(FileNotFoundError):
            sizes.append(self.bucket.size(name))
            self.bucket.remove(name)
        return max(sizes)

    def _move_to_uploaded(self, path: Path, name: str) -> None:
        make_directory(self.uploaded)
        path.rename(self.uploaded / name)
        sync_directory(self.uploaded)
        sync_directory(self.directory)


def _digest(pieces: Iterable[bytes], write: Callable[[bytes], object] = len) -> bytes:
    """Return the SHA-256 of pieces, after passing each of them to ``write``."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
        write(piece)
    return digest.digest()


def _digest_of_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
