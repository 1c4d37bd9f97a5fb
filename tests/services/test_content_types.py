"""A capture's media type in the index is the one that its replay sends."""

from dataclasses import replace

from archiver.http.media_types import parse_media_type
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from archiver.services.reindex import reindex
from tests.raw_server import raw_web
from tests.segments import segments

ASKED = ReplayRequest(Viewer("http://localhost"))
PAGE = b"<!DOCTYPE html><title>Here</title><p>What this is, its head says more than once."
DECLARED = (
    ("application/pdf", "text/html"),
    ("text/html", "text/plain; charset=utf-8"),
    ("text/html", "*/*"),
    ("bogus", "text/html; charset=utf-8"),
    ("application/pdf, text/html",),
    ("text/plain", "image/png", "text/html;charset=koi8-r", "nothing"),
    ('text/html;x="', "text/plain"),
)


def head_with(declared) -> bytes:
    fields = "".join(f"Content-Type: {each}\r\n" for each in declared)
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(PAGE)}\r\n{fields}\r\n".encode()


def sent_type(headers) -> str:
    return parse_media_type(dict(headers)["Content-Type"]).essence


async def types(archive, origin) -> list[tuple[str, str]]:
    """Return the media types of each capture in the index and in the replay."""
    results = []
    for n in range(len(DECLARED)):
        (capture,) = await archive.replay.captures_of(f"{origin}/{n}")
        replayed = await archive.replay.open(capture, ASKED)
        await replayed.body.aclose()
        results.append((capture.media_type, sent_type(replayed.headers)))
    return results


def answer(target: bytes) -> bytes:
    if not target[1:].isdigit():
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    return head_with(DECLARED[int(target[1:])]) + PAGE


async def test_content_types_agree_after_crawl_import_and_reindex(settings, open_archive, tmp_path):
    async with raw_web(answer) as origin, open_archive() as archive:
        await archive.entries.save([f"{origin}/{n}" for n in range(len(DECLARED))], source="cli")
        await archive.crawling.work()
        crawled = await types(archive, origin)
    (tmp_path / "all.warc.gz").write_bytes(b"".join(segments(settings.data).values()))
    async with open_archive(replace(settings, data=tmp_path / "other")) as archive:
        with (tmp_path / "all.warc.gz").open("rb") as source:
            await archive.imports.read_file(source, name="all.warc.gz")
        imported = await types(archive, origin)
    await reindex(settings)
    async with open_archive() as archive:
        rebuilt = await types(archive, origin)

    assert all(stored == sent for stored, sent in crawled)
    assert crawled == imported == rebuilt
