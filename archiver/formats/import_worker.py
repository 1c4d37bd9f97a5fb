"""Child process that reads a file of links.

Run as ``python -m archiver.formats.import_worker MEMORY BATCH SKIP CHOICES NAME URL`` with these
arguments: limit of the address space in bytes, number of links per batch, number of rows to skip,
output of `Choices.write`, name of the file, and URL of the file. The first message contains the
format, or the reason why the file cannot be read. Batches of links follow; the last batch is empty.
"""

import gc
import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from archiver.errors import InvalidUrl, UnreadableFile
from archiver.formats.detection import importer_of, read_all
from archiver.formats.generic import ANY_TABLE, file_columns
from archiver.formats.import_process import Batch, FileHead, FileSeed, PageOfSeed
from archiver.formats.seeds import bounded, seed_of
from archiver.formats.source_file import SourceFile
from archiver.http.text_decoders import well_formed
from archiver.model.annotation import Annotation
from archiver.model.entry_list import ListsInFile
from archiver.model.imports import Choices, Rejected
from archiver.model.message import marked
from archiver.model.seed import Bookmark
from archiver.pages.worker_messages import COLLECT, pack

BATCH_BYTES = 16 << 20
"""Size of the texts and pages in characters or bytes at which a batch ends."""
MAX_SHOWN = 500
MAX_CPU_SECONDS = 7200
"""CPU time limit in seconds; millions of links take minutes, so only malicious files exceed it."""
NOT_CHOSEN = marked("This link is not in any of the folders you chose.")
_PIECE = 1 << 20


def main() -> None:
    """Limit the resources of this process, and read the file until it ends or the parent exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    gc.set_threshold(*COLLECT)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer, *sys.argv[2:])
    except BrokenPipeError:
        sys.exit(0)  # The parent was killed. A normal exit deletes temporary files.


def serve(
    source: BinaryIO, sink: BinaryIO, batch_size: str, skip: str, chosen: str, name: str, url: str
) -> None:
    """Read a file from ``source`` and write messages to ``sink``.

    Args:
        source: the file to read.
        sink: stream that receives the messages.
        batch_size: number of links per batch.
        skip: number of rows to skip at the start.
        chosen: the output of ``Choices.write``.
        name: the user's name for the file.
        url: URL from which the file was downloaded; empty for an uploaded file.
    """
    choices = Choices.read(chosen)
    with ExitStack() as spooled:
        try:
            file = SourceFile(
                source,
                name,
                spool=lambda stream: spooled.enter_context(_spool_to_file(stream)),
                columns_as=choices.columns,
                url=url,
            )
            importer = importer_of(file)
            if importer.tags_include_folders:
                choices = choices.with_tags_stated()
            bookmarks = read_all(file, importer)
            for _ in islice(bookmarks, int(skip)):
                pass
            reader = _Reader(
                file, bookmarks, choices, name, batch_size=int(batch_size), row=int(skip)
            )
            batch = _first_batch(reader, name)
        except UnreadableFile as error:
            values = {key: well_formed(str(each)) for key, each in error.sentence.values.items()}
            _send(sink, FileHead(refused=error.sentence.text, values=values))
            return
        columns = file_columns(file) if importer is ANY_TABLE else {}
        _send(sink, FileHead(importer.name, file.encoding, tuple(columns.items())))
        while batch:
            _send(sink, batch)
            batch = reader.next_batch()
        _send(sink, Batch())


class _Reader:
    """Reader of a file's bookmarks in batches; ``row`` is the number of rows already skipped."""

    def __init__(
        self,
        file: SourceFile,
        bookmarks: Iterator[Bookmark],
        choices: Choices,
        name: str,
        *,
        batch_size: int,
        row: int,
    ) -> None:
        self.is_at_start = row == 0
        self._file = file
        self._bookmarks = bookmarks
        self._choices = choices
        self._source = f"import:{name}"
        self._batch_size = batch_size
        self._row = row
        self._now = datetime.now(UTC)

    def next_batch(self) -> Batch:
        """Return the next links, limited in number and size; an empty batch at the end."""
        seeds: list[FileSeed] = []
        rejected: list[Rejected] = []
        pages: list[PageOfSeed] = []
        saved: list[datetime] = []
        size = 0
        for bookmark in islice(self._bookmarks, self._batch_size):
            self._row += 1
            item = self._seed_or_rejected(bookmark)
            if isinstance(item, Rejected):
                rejected.append(item)
                size += len(item.given)
            else:
                added_at = bookmark.annotation.added_at
                size += _size(item.seed.annotation)
                if added_at:
                    saved.append(added_at)
                if bookmark.page:
                    pages.append(PageOfSeed(len(seeds), bookmark.page, is_dated=bool(added_at)))
                    size += bookmark.page.weight
                seeds.append(item)
            if size > BATCH_BYTES:
                break
        both = (min(saved), max(saved)) if saved else ()
        dates = tuple(int(each.timestamp() // 1) for each in both)
        return Batch(seeds, rejected, pages, self._lists(), dates)

    def _lists(self) -> ListsInFile:
        """Return the user's lists that were found in the file since the last batch."""
        lists = ListsInFile(
            self._choices.arranged(tuple(self._file.lists)), self._file.lists_left_out
        )
        self._file.lists.clear()
        self._file.lists_left_out = 0
        return lists

    def _seed_or_rejected(self, bookmark: Bookmark) -> FileSeed | Rejected:
        submitted = bookmark.annotation
        if bookmark.problem:
            return self._rejected(submitted, bookmark.problem, is_broken=bookmark.is_broken)
        if not self._choices.selects(submitted):
            return self._rejected(submitted, NOT_CHOSEN, is_left_out=True)
        annotation = bounded(self._choices.applied(submitted), source=self._source)
        try:
            return FileSeed(self._row, seed_of(annotation, now=self._now))
        except InvalidUrl as error:
            return self._rejected(annotation, str(error))

    def _rejected(self, annotation: Annotation, reason: str, **kind: bool) -> Rejected:
        url = well_formed(annotation.url_given[:MAX_SHOWN])
        return Rejected(url, well_formed(reason), self._row, **kind)


def _first_batch(reader: _Reader, name: str) -> Batch:
    """Read the first batch.

    Raises:
        UnreadableFile: the format was recognised, but every row of the batch is broken.
    """
    batch = reader.next_batch()
    is_unreadable = bool(batch.rejected) and all(each.is_broken for each in batch.rejected)
    if reader.is_at_start and is_unreadable and not (batch.seeds or batch.lists):
        raise UnreadableFile(
            "{name} contains no usable links. {problem}",
            name=name,
            problem=batch.rejected[0].reason,
        )
    return batch


def _size(annotation: Annotation) -> int:
    """Return the number of characters in those texts of an annotation that can be long."""
    texts = [annotation.url_given, annotation.note, annotation.source_record]
    texts += (*annotation.tags, *annotation.folders)
    for each in annotation.highlights:
        texts += (each.quote, each.note)
    return sum(map(len, texts))


def _spool_to_file(stream: BinaryIO) -> BinaryIO:
    """Copy a stream to a temporary file, for formats that need random access.

    The file has a name, because SQLite opens files by name. The parent process deletes it.
    """
    spooled = NamedTemporaryFile()  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(stream, spooled, _PIECE)
    spooled.seek(0)
    return cast("BinaryIO", spooled)


def _send(sink: BinaryIO, message: FileHead | Batch) -> None:
    sink.write(pack(message))
    sink.flush()


if __name__ == "__main__":
    try:
        main()
    except MemoryError:
        os._exit(1)  # The parent process reports the exit to the user.
