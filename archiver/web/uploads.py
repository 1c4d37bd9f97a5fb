"""File uploads.

The file is written to ``data/tmp`` one buffer at a time. It is deleted unless the import service
takes it over.
"""

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from aiohttp import BodyPartReader, MultipartReader, StreamReader, hdrs, web
from aiohttp.http_exceptions import BadHttpMessage
from multidict import CIMultiDictProxy

from archiver.config import show_size
from archiver.errors import TooLarge, UnreadableFile
from archiver.http.media_types import parse_media_type
from archiver.model.imports import UNNAMED, Choices, ImportStatus, ImportSurvey
from archiver.model.message import marked
from archiver.services.import_previews import STALE_SECONDS, TMP, WHOLE, PreviewedFile
from archiver.services.import_previews import remove_stale as remove_stale_looks
from archiver.services.page_uploads import UploadResult
from archiver.web.app_keys import FORM_FIELDS, LIMITS, RUNTIME

MAX_COUNTED = 2_000_000
"""Maximum number of links counted for a full preview; counting them takes about a minute."""
_CHUNK = 1 << 18
_MAX_PARTS = 16
_MAX_FIELD = 1 << 16
_MAX_NAME = 200
_FRAMING = 1 << 16
_ARRIVING = ".part"
_PREVIEW = "preview"
PAGE_TYPES = (
    "text/html",
    "application/xhtml+xml",
    "multipart/related",
    "message/rfc822",
    "application/x-mimearchive",
    "application/warc",
    "application/x-warc",
    "application/gzip",
    "application/x-gzip",
    "application/wacz",
    "application/x-wacz",
    "application/wacz+zip",
    "application/zip",
    "application/octet-stream",
)
"""Media types of HTML, MHTML, WARC and WACZ uploads; the format is detected from the content."""
_MALFORMED = (ValueError, RuntimeError, AssertionError, BadHttpMessage)
"""Exceptions of aiohttp's multipart reader for malformed bodies."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _File:
    """The uploaded file in a request.

    Attributes:
        name: the file's name as sent.
        chunks: the bytes of the file, as they arrive.
        fields: the form fields by name; fields that follow the file are added once it is read.
    """

    name: str
    chunks: AsyncIterator[bytes]
    fields: Mapping[str, str] = field(default_factory=dict)


def _form_reader(request: web.Request) -> MultipartReader:
    """Return a reader of a form that treats an uploaded multipart file (MHTML) as one file.

    Browsers send the media type of an MHTML file without its boundary.
    """
    parts = MultipartReader(request.headers, request.content)
    declared = parse_media_type(request.headers.get(hdrs.CONTENT_TYPE, ""))
    boundary = dict(declared.parameters).get("boundary", "") if declared else ""

    def file_reader(
        headers: CIMultiDictProxy[str], content: StreamReader, **_: object
    ) -> BodyPartReader:
        return BodyPartReader(f"--{boundary}".encode(), headers, content, subtype="form-data")

    parts.multipart_reader_cls = cast("type[MultipartReader]", file_reader)
    return parts


async def import_from_form(request: web.Request) -> ImportStatus | PreviewedFile:
    """Receive the file of the import form.

    With the field ``preview``, a file of links is stored for a preview instead of imported.

    Raises:
        TooLarge, UnreadableFile: the file is rejected; the message says why.
    """
    file = await _file_part(request)
    return await _received(request, file, lambda whole: _preview_or_start(request, file, whole))


async def import_from_api(request: web.Request, choices: Choices) -> ImportStatus:
    """Receive a file from the API: multipart/form-data, or the bare bytes with ``?name=``.

    Raises:
        web.HTTPUnsupportedMediaType: the content type is not supported.
        TooLarge, UnreadableFile: the file is rejected; the message says why.
    """
    file, imports = await _file_of_api_request(request), request.app[RUNTIME].imports
    return await _received(
        request, file, lambda whole: imports.start(whole, name=file.name, choices=choices)
    )


async def preview_from_api(request: web.Request, choices: Choices) -> ImportSurvey:
    """Receive a file from the API for a preview, and store nothing.

    Raises:
        web.HTTPUnsupportedMediaType: the content type is not supported.
        TooLarge, UnreadableFile: the file is rejected; the message says why.
    """
    file = await _file_of_api_request(request)

    async def preview(whole: Path) -> ImportSurvey:
        with await asyncio.to_thread(whole.open, "rb") as source:
            survey = await request.app[RUNTIME].surveys.preview(
                source, file.name, choices=choices, most=MAX_COUNTED
            )
        await asyncio.to_thread(whole.unlink)
        return survey

    return await _received(request, file, preview)


async def page_from_form(request: web.Request) -> UploadResult:
    """Receive a page from the upload form, with the fields ``url`` and ``at``.

    Raises:
        TooLarge, UnreadableFile, InputError: the page is rejected; the message says why.
    """
    file = await _file_part(request)
    return await _save_page(request, file, "web")


async def page_from_api(request: web.Request) -> UploadResult:
    """Receive a page from the API: multipart/form-data, or the bare bytes with ``?name=``.

    Raises:
        web.HTTPUnsupportedMediaType: the content type is not supported.
        TooLarge, UnreadableFile, InputError: the page is rejected; the message says why.
    """
    if request.content_type == "multipart/form-data":
        file = await _file_part(request)
    elif request.content_type in PAGE_TYPES:
        file = _File(clean_name(request.query.get("name", "")), _chunks_of_body(request))
    else:
        raise web.HTTPUnsupportedMediaType(
            text=f"Send the page as multipart/form-data, or as one of {', '.join(PAGE_TYPES)}."
        )
    return await _save_page(request, file, "api")


async def _file_of_api_request(request: web.Request) -> _File:
    if request.content_type == "application/octet-stream":
        return _File(clean_name(request.query.get("name", "")), _chunks_of_body(request))
    return await _file_part(request)


async def _save_page(request: web.Request, file: _File, source: str) -> UploadResult:
    async def take(whole: Path) -> UploadResult:
        fields = {**request.query, **file.fields}
        with await asyncio.to_thread(whole.open, "rb") as opened:
            saved = await request.app[RUNTIME].page_uploads.take(
                opened,
                file.name,
                url=fields.get("url", ""),
                at=fields.get("at", ""),
                source=source,
            )
        await asyncio.to_thread(whole.unlink)
        return saved

    return await _received(request, file, take)


async def expect_file(request: web.Request) -> None:
    """Send ``100 Continue``, unless the file will be rejected (RFC 9110 §10.1.1).

    aiohttp calls this function before any middleware, so it can't send an error response.
    """
    if not _is_too_long(request):
        await send_continue(request)


async def send_continue(request: web.Request) -> None:
    """Send ``100 Continue`` if the client expects it."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # not the final response


def clean_name(name: str) -> str:
    """Return a file name that is safe to show and store: no folders, no control characters."""
    valid = name.encode("utf-8", "replace").decode("utf-8", "replace")
    last = valid.replace("\\", "/").rpartition("/")[2]
    printable = "".join(character if character.isprintable() else "�" for character in last)
    return printable[:_MAX_NAME] or UNNAMED


def remove_stale(data: Path) -> None:
    """Delete partial uploads of processes that were killed more than a day ago.

    Complete files of any age are kept, because the import service continues with them.
    """
    remove_stale_looks(data / TMP)
    for path in (data / TMP).glob(f"*{_ARRIVING}"):
        if path.stat().st_mtime < time.time() - STALE_SECONDS:
            path.unlink(missing_ok=True)


async def _preview_or_start(
    request: web.Request, file: _File, whole: Path
) -> ImportStatus | PreviewedFile:
    imports = request.app[RUNTIME].imports
    if _PREVIEW in file.fields and await imports.holds_links(whole, file.name):
        return await imports.previews.store(whole, file.name)
    return await imports.start(whole, name=file.name)


async def _received(
    request: web.Request, file: _File, take_over: Callable[[Path], Awaitable[_T]]
) -> _T:
    runtime = request.app[RUNTIME]
    if _is_too_long(request):
        raise _too_large(request)
    directory = runtime.settings.data / TMP
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    path = directory / f"{secrets.token_hex(16)}{_ARRIVING}"
    whole = path.with_suffix(WHOLE)
    try:
        await _write(request, file, path)
        await asyncio.to_thread(path.rename, whole)
        return await take_over(whole)
    except BaseException:
        path.unlink(missing_ok=True)
        whole.unlink(missing_ok=True)
        raise


async def _write(request: web.Request, file: _File, path: Path) -> None:
    limit = request.app[RUNTIME].settings.max_upload_bytes
    size = 0
    with await asyncio.to_thread(_open_new, path) as sink:
        async for chunk in file.chunks:
            size += len(chunk)
            if size > limit:
                raise _too_large(request)
            await asyncio.to_thread(sink.write, chunk)
    if size == 0:
        raise UnreadableFile("The file is empty. Choose one with bookmarks or links.")


def _open_new(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _is_too_long(request: web.Request) -> bool:
    limit = request.app[RUNTIME].settings.max_upload_bytes
    return (request.content_length or 0) > limit + _FRAMING


def _too_large(request: web.Request) -> TooLarge:
    limit = request.app[RUNTIME].settings.max_upload_bytes
    return TooLarge(
        "The file is larger than {limit}. Split it, or "
        "import it in a terminal: archiver import FILE",
        limit=show_size(limit),
    )


async def _chunks_of_body(request: web.Request) -> AsyncIterator[bytes]:
    while chunk := await _in_time(request, request.content.read(_CHUNK)):
        yield chunk


async def _file_part(request: web.Request) -> _File:
    """Find the file among the parts of a form (RFC 7578); long fields are truncated."""
    if request.content_type != "multipart/form-data":
        raise web.HTTPUnsupportedMediaType(text=marked("Send the file as multipart/form-data."))
    if _is_too_long(request):
        raise _too_large(request)
    try:
        parts = _form_reader(request)
        return await _search_parts(request, parts)
    except _MALFORMED:
        raise _malformed() from None


def _malformed() -> web.HTTPBadRequest:
    return web.HTTPBadRequest(text=marked("The upload was interrupted or damaged. Try again."))


async def _search_parts(request: web.Request, parts: MultipartReader) -> _File:
    fields: dict[str, str] = {}
    request[FORM_FIELDS] = fields
    file = await _read_fields(request, parts, fields)
    if file is None:
        raise UnreadableFile("No file was chosen. Choose one with bookmarks or links.")
    name = clean_name(file.filename or "")
    return _File(name, _chunks_of_part(request, file, parts, fields), fields)


async def _read_fields(
    request: web.Request, parts: MultipartReader, fields: dict[str, str]
) -> BodyPartReader | None:
    """Read form fields until the next file; return the file, or None if there is none."""
    for _ in range(_MAX_PARTS):
        part = await _in_time(request, parts.next())
        if not isinstance(part, BodyPartReader):
            break
        if part.filename:  # empty when no file was chosen
            return part
        value = await _field_value(request, part)
        if part.name:
            fields[part.name] = value.decode("utf-8", "replace")
    return None


async def _field_value(request: web.Request, part: BodyPartReader) -> bytes:
    value = b""
    while len(value) < _MAX_FIELD and not part.at_eof():
        value += await _in_time(request, part.read_chunk(_MAX_FIELD))
    return value[:_MAX_FIELD]


async def _chunks_of_part(
    request: web.Request, file: BodyPartReader, parts: MultipartReader, fields: dict[str, str]
) -> AsyncIterator[bytes]:
    """Yield the bytes of a file, then read the fields after it (SingleFile sends such fields)."""
    try:
        while chunk := await _in_time(request, file.read_chunk(_CHUNK)):
            yield chunk
        if not file.at_eof():  # the body ended before the closing boundary
            raise _malformed()
        await _read_fields(request, parts, fields)
    except _MALFORMED:
        raise _malformed() from None


async def _in_time(request: web.Request, reading: Awaitable[_T]) -> _T:
    async with asyncio.timeout(request.app[LIMITS].upload_seconds):
        return await reading
