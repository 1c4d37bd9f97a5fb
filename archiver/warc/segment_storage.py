"""Segment storage: the folder or object store that holds the segments.

Nobody else knows of a folder. ``store.segments`` alone writes into one. Functions here block.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from archiver.errors import StoreError
from archiver.warc.durable_files import ReadOnly, SegmentBytes, sync_directory
from archiver.warc.segment_inventory import PassedBy, Survey, survey
from archiver.warc.segment_scanning import Damage, Scanned, scan_opened
from archiver.warc.segment_versions import NextEdition, remove_segment, remove_unready
from archiver.warc.truncated_segments import cut_torn_end

COPIED_BYTES = 256 << 10


class Shelf:
    """The segments in a folder.

    Attributes:
        directory: where this machine's lie.
        is_full: whether so much waits here to go elsewhere that no more is to come.
        passed_by: what lies there and can't be used, as ``ledger.recovery`` found it last.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.is_full = False
        self.passed_by: tuple[PassedBy, ...] = ()

    def open(self, name: str) -> SegmentBytes:
        """A segment, to be read by position.

        Raises:
            OSError, StoreError: it is missing, or can't be read.
        """
        return ReadOnly(self.directory / name)

    def open_whole(self, name: str) -> SegmentBytes:
        """A segment, to be read from its beginning to its end; raises as ``open`` does."""
        return self.open(name)

    def survey(self) -> Survey:
        """Every segment of the archive.

        Raises:
            StoreError: they can't be listed.
        """
        return self.survey_here()

    def survey_here(self) -> Survey:
        """The segments that lie on this machine, and so all that is being written on it.

        Raises:
            StoreError: the directory can't be read.
        """
        return survey(self.directory)

    def scan(self, name: str, *, from_offset: int = 0) -> Iterator[Scanned | Damage]:
        """Every record of a segment from a byte on; see ``scanning.scan``.

        Raises:
            StoreError: the segment can't be opened or read.
        """
        return scan_opened(partial(self.open_whole, name), name, from_offset=from_offset)

    def copy(self, name: str, offset: int, length: int) -> Iterator[bytes]:
        """A stretch of a segment as it lies, compressed, piece by piece.

        Raises:
            StoreError: the segment is missing, or ends before.
        """
        return self.copy_of(self.open_whole, name, offset, length)

    @staticmethod
    def copy_of(
        opened: Callable[[str], SegmentBytes], name: str, offset: int, length: int
    ) -> Iterator[bytes]:
        """As ``copy``, of what is opened so."""
        try:
            file = opened(name)
            file.seek(offset)
            while length:
                piece = file.read(min(length, COPIED_BYTES))
                if not piece:
                    raise StoreError(f"{name} ends too early. Run `archiver verify`.")
                length -= len(piece)
                yield piece
        except OSError as error:
            raise StoreError(f"{name} can't be read: {error.strerror}.") from error

    def size(self, name: str) -> int:
        """Bytes of a segment, as of now; raises as ``open`` does."""
        return self.open(name).size

    def cut_torn_end(self, name: str, *, from_offset: int, is_writer_known: bool = False) -> int:
        """Put the torn end of a segment of this machine beside it; see ``torn.cut_torn_end``."""
        path = self.directory / name
        return cut_torn_end(path, from_offset=from_offset, is_writer_known=is_writer_known)

    def next_edition(self, segment: str, software: str) -> NextEdition:
        """Begin the next edition of a segment.

        Raises:
            OSError, StoreError: the segment can't be read, or nothing can be written.
        """
        return NextEdition(self.directory, self.open_whole(segment), segment, software)

    def take_place(self, edition: NextEdition) -> None:
        """Give an edition that is finished its name: it is read from here on.

        Raises:
            OSError, StoreError: it could not be put there.
        """
        edition.path.rename(self.directory / edition.name)
        sync_directory(self.directory)

    def remove(self, name: str) -> int:
        """Remove a segment; the bytes that it had, 0 if it is gone already.

        Raises:
            StoreError: it can't be removed.
        """
        return remove_segment(self.directory, name)

    def remove_unready(self) -> None:
        """Remove editions that a killed process left half written."""
        remove_unready(self.directory)


class UploadingShelf(Shelf):
    """Segments that are written here and uploaded when they are closed."""

    @abstractmethod
    def upload(self, name: str) -> None:
        """Put a settled segment of this machine where it is to lie, prove it, and mark it so.

        Raises:
            StoreError: it is not taken, or other bytes are given back; it stays.
        """

    @abstractmethod
    def bring_here(self, name: str) -> None:
        """Have a segment on this machine for good, as it lies elsewhere; nothing is removed.

        Raises:
            OSError, StoreError: it can't be read whole, or not be written; nothing is here then.
        """

    @abstractmethod
    def empty(self) -> None:
        """Remove elsewhere what lies here, byte for byte as long; nothing else.

        Raises:
            StoreError: it does not answer.
        """

    @abstractmethod
    def forget(self, keep_bytes: int) -> None:
        """Remove the oldest copies of what lies elsewhere, down to so many bytes."""
