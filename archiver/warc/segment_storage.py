"""Segment storage: the folder or object store that holds the segments.

Other modules need not know which of the two is used. Only ``warc.segments`` appends to segments.
Functions here block.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from archiver.errors import StoreError
from archiver.helpers import sync_directory
from archiver.warc.reader import ReadOnly, SegmentBytes
from archiver.warc.segment_inventory import Survey, UnusableFile, survey
from archiver.warc.segment_scanning import Damage, Scanned, scan_opened
from archiver.warc.segment_versions import NextVersion, remove_partial_versions, remove_segment
from archiver.warc.truncated_segments import cut_truncated_tail

COPIED_BYTES = 256 << 10


class SegmentStorage:
    """Segments in a folder, which are not uploaded; ``object_store.BucketStorage`` uploads them.

    Attributes:
        is_uploaded: whether closed segments are moved to an object store.
        directory: folder of this machine's segments.
        is_full: whether too many segments wait for their upload, so that no more may be written.
        unusable_files: unusable files found by the last recovery.
    """

    is_uploaded = False

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.is_full = False
        self.unusable_files: tuple[UnusableFile, ...] = ()

    def open(self, name: str) -> SegmentBytes:
        """Open a segment to be read by position.

        Raises:
            OSError, StoreError: the segment does not exist or can't be read.
        """
        return ReadOnly(self.directory / name)

    def survey(self) -> Survey:
        """List every segment of the archive.

        Raises:
            StoreError: the segments can't be listed.
        """
        return self.survey_local()

    def survey_local(self) -> Survey:
        """List the segments on this machine, including those being written.

        Raises:
            StoreError: the directory can't be read.
        """
        return survey(self.directory)

    def scan(self, name: str, *, from_offset: int = 0) -> Iterator[Scanned | Damage]:
        """Iterate over the records of a segment; see ``segment_scanning.scan``.

        Raises:
            StoreError: the segment can't be opened or read.
        """
        return scan_opened(partial(self.open, name), name, from_offset=from_offset)

    def copy(self, name: str, offset: int, length: int) -> Iterator[bytes]:
        """Iterate over the compressed bytes of a range of a segment.

        Raises:
            StoreError: the segment does not exist or is too short.
        """
        try:
            file = self.open(name)
            file.seek(offset)
            while length:
                piece = file.read(min(length, COPIED_BYTES))
                if not piece:
                    raise StoreError(f"{name} is truncated. Run `archiver verify`.")
                length -= len(piece)
                yield piece
        except OSError as error:
            raise StoreError(f"Cannot read {name}: {error.strerror}.") from error

    def size(self, name: str) -> int:
        """Return the current size of a segment in bytes; raises like ``open``."""
        return self.open(name).size

    def cut_truncated_tail(
        self, name: str, *, from_offset: int, is_writer_known: bool = False
    ) -> int:
        """Move the truncated tail of a local segment to a file; return the new size.

        See ``truncated_segments.cut_truncated_tail``.
        """
        path = self.directory / name
        return cut_truncated_tail(path, from_offset=from_offset, is_writer_known=is_writer_known)

    def next_version(self, segment: str, software: str) -> NextVersion:
        """Start the next version of a segment.

        Raises:
            OSError, StoreError: the segment can't be read, or the new version can't be written.
        """
        return NextVersion(self.directory, self.open(segment), segment, software)

    def publish(self, version: NextVersion) -> None:
        """Rename a finished version to its final name; readers use it from then on.

        Raises:
            OSError, StoreError: the version could not be published.
        """
        version.path.rename(self.directory / version.name)
        sync_directory(self.directory)

    def remove(self, name: str) -> int:
        """Remove a segment; return its size, or 0 if it does not exist.

        Raises:
            StoreError: the segment can't be removed.
        """
        return remove_segment(self.directory, name)

    def remove_partial_versions(self) -> None:
        """Remove partial versions that a killed process left."""
        remove_partial_versions(self.directory)

    def upload(self, name: str) -> None:
        """Upload a closed local segment to the object store, and verify it.

        Raises:
            StoreError: the upload failed or the uploaded bytes differ; the file stays.
        """

    def download(self, name: str) -> None:
        """Download an uploaded segment into ``warc/``; the uploaded object is not removed.

        Raises:
            OSError, StoreError: the segment can't be read or written; no partial file remains.
        """

    def empty(self) -> None:
        """Remove from the object store all segments that ``warc/`` has with the same size.

        Raises:
            StoreError: the store does not respond.
        """

    def forget(self, keep_bytes: int) -> None:
        """Remove the oldest local copies of uploaded segments if they exceed ``keep_bytes``."""
