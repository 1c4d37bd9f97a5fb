"""Exports as WARC and WACZ: stored records as they are, streamed, in the memory of a few pieces."""

import asyncio
import hashlib
import zipfile
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from io import BytesIO
from typing import IO, cast

from archiver import __version__
from archiver.errors import NotFound
from archiver.index.database import Database
from archiver.model.entry import Snapshot
from archiver.services.manifest import Manifest, Selected
from archiver.services.selection import Piece, Selection
from archiver.store.segments import SegmentStore
from archiver.store.sorting import SortedLines
from archiver.wacz import package
from archiver.wacz.cdxj import META, cdxj_line, index_blocks
from archiver.warc.build import warcinfo
from archiver.warc.record import Record
from archiver.warc.writer import write_record

SOFTWARE = f"archiver/{__version__}"


class Packages:
    """Writes what was selected as one WARC or WACZ file."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._selection = Selection(db, store)
        self._store = store

    async def begin(self, selected: Selected) -> Manifest:
        """What an export that begins now holds, whatever happens until it is written.

        Raises:
            NotFound: there is nothing of the kind.
            InputError: what is selected makes no sense.
        """
        manifest = await self._selection.begin(selected)
        if not manifest.entries:
            raise NotFound("There is nothing to export: no entry is meant by that.")
        return manifest

    async def warc(self, manifest: Manifest, *, name: str) -> AsyncGenerator[bytes, None]:
        """A WARC file: a record that says what made it, then the records as they lie.

        Entries that none of those tells of have records of their own at the end.

        Args:
            manifest: what it holds.
            name: of the file, to stand in it.
        """
        yield _opening(name)
        async with aclosing(self._selection.pieces(manifest)) as pieces:
            async for piece in pieces:
                async for data in self._copied(piece):
                    yield data
        async for record in self._selection.notes(manifest):
            yield await asyncio.to_thread(_packed, record)

    async def wacz(self, manifest: Manifest, *, title: str) -> AsyncGenerator[bytes, None]:
        """A WACZ file (1.1.1): the WARC, its index, its pages, and the digests of all."""
        zip_ = _Zip()
        with SortedLines() as lines:
            async with aclosing(self._data(zip_, manifest, lines)) as data:
                async for each in data:
                    yield each
            yield await asyncio.to_thread(_add_index, zip_, lines)
        first = None
        async with aclosing(self._pages(manifest)) as pages:
            zip_.open(package.PAGES)
            zip_.write(f"{package.PAGES_HEAD}\n".encode())
            async for snapshot in pages:
                first = first or snapshot
                zip_.write(package.page_line(snapshot).encode("utf-8", "replace"))
                yield zip_.take()
            zip_.close()
        main_page = first if manifest.selected.hash_url else None
        yield await asyncio.to_thread(_finish, zip_, title, main_page)

    async def _pages(self, manifest: Manifest) -> AsyncGenerator[Snapshot, None]:
        async for held in self._selection.snapshots(manifest):
            yield held.snapshot

    async def _data(
        self, zip_: "_Zip", manifest: Manifest, lines: SortedLines
    ) -> AsyncGenerator[bytes, None]:
        """The WARC file as part of a zip; the lines of its index are put by."""
        zip_.open(package.DATA)
        zip_.write(_opening("data.warc.gz"))
        async with aclosing(self._selection.pieces(manifest)) as pieces:
            async for piece in pieces:
                await asyncio.to_thread(_put_by, piece, zip_.written, lines)
                async for data in self._copied(piece):
                    await asyncio.to_thread(zip_.write, data)
                    yield zip_.take()
        async for record in self._selection.notes(manifest):
            await asyncio.to_thread(zip_.write, await asyncio.to_thread(_packed, record))
            yield zip_.take()
        zip_.close()

    async def _copied(self, piece: Piece) -> AsyncGenerator[bytes, None]:
        copied = self._store.copy(piece.location)
        while (data := await asyncio.to_thread(next, copied, None)) is not None:
            yield data


class _Zip:
    """A zip file that is written from beginning to end; ``take`` gives what is ready of it.

    Members are stored: what is in them is compressed already, and readers fetch parts of them.
    """

    def __init__(self) -> None:
        self._sink = Sink()
        self._zip = zipfile.ZipFile(cast("IO[bytes]", self._sink), "w", zipfile.ZIP_STORED)
        self._member: IO[bytes] | None = None
        self._digest = hashlib.sha256()
        self._path = ""
        self.written = 0
        self.resources: list[package.Resource] = []

    def open(self, path: str) -> None:
        """Begin a member."""
        self._path, self._digest, self.written = path, hashlib.sha256(), 0
        # The date is left at zip's first, so that the same pages give the same bytes.
        self._member = self._zip.open(zipfile.ZipInfo(path), "w", force_zip64=True)

    def write(self, data: bytes) -> None:
        """Write some of it."""
        if self._member is None:
            raise ValueError("no member is open")
        self._member.write(data)
        self._digest.update(data)
        self.written += len(data)

    def close(self) -> None:
        """End the member."""
        if self._member:
            self._member.close()
            found = self._digest.hexdigest()
            self.resources.append(package.Resource(self._path, self.written, found))

    def add(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a whole member."""
        self.open(path)
        for piece in pieces:
            self.write(piece)
        self.close()

    def take(self) -> bytes:
        """What is ready."""
        return self._sink.take()

    def finish(self) -> bytes:
        """The end of the file."""
        self._zip.close()
        return self.take()


class Sink:
    """A file that can't be sought: what is written waits here until it is taken."""

    def __init__(self) -> None:
        self._ready = bytearray()

    def write(self, data: bytes, /) -> int:
        """Take some more."""
        self._ready += data
        return len(data)

    def flush(self) -> None:
        """Nothing waits but what ``take`` gives."""

    def take(self) -> bytes:
        """What was written since."""
        ready, self._ready = bytes(self._ready), bytearray()
        return ready


def _opening(name: str) -> bytes:
    created = datetime.now(UTC).replace(microsecond=0)
    return _packed(warcinfo(filename=name, software=SOFTWARE, date=created))


def _packed(record: Record) -> bytes:
    sink = BytesIO()
    write_record(record, sink)
    return sink.getvalue()


def _put_by(piece: Piece, base: int, lines: SortedLines) -> None:
    for capture in piece.captures:
        offset = base + capture.location.offset - piece.location.offset
        lines.add(cdxj_line(capture, filename="data.warc.gz", offset=offset).encode())


def _add_index(zip_: _Zip, lines: SortedLines) -> bytes:
    """The index of a package; its blocks first, since their places are not known before."""
    pointers = [META]

    def blocks() -> Iterator[bytes]:
        for block in index_blocks(lines):
            pointers.append(block.pointer)
            yield block.packed

    zip_.add(package.BLOCKS, blocks())
    zip_.add(package.POINTERS, (line.encode() for line in pointers))
    return zip_.take()


def _finish(zip_: _Zip, title: str, main_page: Snapshot | None) -> bytes:
    described = package.data_package(
        zip_.resources,
        title=title,
        software=SOFTWARE,
        created=datetime.now(UTC),
        main_page=main_page,
    )
    zip_.add(package.PACKAGE, [described])
    zip_.add(package.DIGEST, [package.package_digest(described)])
    return zip_.finish()
