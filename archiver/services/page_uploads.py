"""Uploads of pages that a user saved in a browser, such as pages behind a login or bot wall.

Nothing is fetched, and the records are marked as uploaded.
"""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedReader

from archiver.config import show_size
from archiver.errors import InputError, UnreadableFile
from archiver.formats.detection import PAGES
from archiver.formats.import_process import open_links
from archiver.formats.seeds import bounded, seed_of
from archiver.http.media_types import is_html, sniff
from archiver.http.timestamps import read_iso, to_timestamp
from archiver.http.urls import with_scheme
from archiver.model.annotation import Annotation
from archiver.model.capture import HashUrl, Timestamp
from archiver.model.seed import ArchivedPage, SavedPage
from archiver.services.archive_imports import Archives, origin_of
from archiver.services.import_reading import kind_of_file
from archiver.services.imports import Imports

MAX_PAGE = 64 << 20
SNIFFED = 1024
NO_PAGE = (
    "This is not a page saved by a browser. Use HTML saved by SingleFile, MHTML, or a WARC or "
    "WACZ file of ArchiveWeb.page."
)
NO_ADDRESS = "The file does not contain the URL of the page. Enter it as well."


@dataclass(frozen=True, slots=True)
class UploadResult:
    """Result of an upload.

    Attributes:
        form: detected format.
        snapshots: number of new snapshots.
        captures: number of new captures, including requisites.
        hash_url: hash_url of the entry, if the file was one page.
        url: URL of the page, if the file was one page.
        timestamp: timestamp of the snapshot, if the file was one page.
    """

    form: str
    snapshots: int
    captures: int
    hash_url: HashUrl | None = None
    url: str = ""
    timestamp: Timestamp | None = None


class PageUploads:
    """Imports of uploaded pages and captures. ``memory_bytes`` limits the parser process."""

    def __init__(self, imports: Imports, archives: Archives, *, memory_bytes: int) -> None:
        self._imports = imports
        self._archives = archives
        self._memory_bytes = memory_bytes

    async def take(
        self, file: BufferedReader, name: str, *, url: str = "", at: str = "", source: str = "web"
    ) -> UploadResult:
        """Import a file; all records are durable and indexed on return.

        Args:
            file: seekable file, positioned at its start.
            name: name of the file.
            url: URL of the page; empty to take it from the file.
            at: when the page was saved (ISO 8601); empty to take it from the file, or else the
                current time.
            source: ``web`` or ``api``.

        Raises:
            UnreadableFile: the file is not a page, and contains no captures.
            InputError: neither the user nor the file states the URL, or the time is invalid.
        """
        now = datetime.now(UTC).replace(microsecond=0)
        if await asyncio.to_thread(kind_of_file, file, name):
            status = await self._imports.read_file(file, name=name, uploaded_at=now)
            if status.error:
                raise UnreadableFile(status.error)
            return UploadResult(status.format, status.added, status.merged)
        form, in_file, archived = await self._read(file, name)
        url = with_scheme(url) or (in_file.url_given if in_file else "")
        if not url:
            raise InputError(NO_ADDRESS)
        saved_at = _moment(at) or (in_file.added_at if in_file else None) or now
        title = in_file.title if in_file else ""
        annotation = Annotation(url, saved_at, title=title, source=source)
        page = SavedPage(seed_of(bounded(annotation), now=now), archived, is_dated=True)
        origin = origin_of(name, form)
        snapshot_count = await self._archives.import_pages([page], origin, uploaded_at=now)
        return UploadResult(
            form=form,
            snapshots=snapshot_count,
            captures=snapshot_count,
            hash_url=page.seed.hash_url,
            url=page.seed.url,
            timestamp=to_timestamp(page.seed.annotation.saved_at),
        )

    async def _read(
        self, file: BufferedReader, name: str
    ) -> tuple[str, Annotation | None, ArchivedPage]:
        """Return (format, metadata, page) of a file; the metadata is None for plain HTML."""
        try:
            async with open_links(file, name, memory_bytes=self._memory_bytes) as links:
                if links.form in PAGES:
                    batch = await links.next_batch()
                    for each in batch.pages:
                        return links.form, batch.seeds[each.place].seed.annotation, each.page
        except UnreadableFile:
            pass  # the file may still be plain HTML
        content = await asyncio.to_thread(_content, file)
        if not is_html(sniff(None, content[:SNIFFED])):
            raise UnreadableFile(NO_PAGE)
        return "HTML", None, ArchivedPage(content, media_type="text/html")


def _content(file: BufferedReader) -> bytes:
    file.seek(0)
    content = file.read(MAX_PAGE + 1)
    if len(content) > MAX_PAGE:
        raise UnreadableFile("The page is larger than {most}.", most=show_size(MAX_PAGE))
    return content


def _moment(text: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        moment = read_iso(text.strip())
    except ValueError:
        raise InputError(
            "Enter the date in the form 2024-02-29T12:00:00Z, or leave it empty."
        ) from None
    return min(moment, datetime.now(UTC).replace(microsecond=0))
