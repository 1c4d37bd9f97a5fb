"""All rows of a CDX response arrive once and in order, however it is paged."""

import json

import pytest

from archiver.db import captures, segment_rows
from archiver.db.engine import Database
from archiver.errors import InputError
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId, Timestamp
from archiver.replay.cdx_query import parse_cdx_query
from archiver.services.capture_queries import Cdx

BLOCK = 10
ALL = "a.example/*"


class Archive:
    """Captures in an index, and a CDX server with small blocks."""

    def __init__(self, db):
        self.db, self.count = db, 0
        self.cdx = Cdx(db, block=BLOCK)

    async def keep(self, *pairs, **more):
        async with self.db.write() as conn:
            await segment_rows.set_indexed_with_ids(conn, {"a.warc.gz": 1 << 20})
            rows = [self._capture(url, at, **more) for url, at in pairs]
            await captures.insert_all(conn, rows)

    async def ask(self, url=ALL, *, pywb=False, **parameters):
        named = {"url": [url]} | {
            name.rstrip("_"): [str(each)] for name, each in parameters.items()
        }
        query = parse_cdx_query(named, pywb=pywb)
        return b"".join([piece async for piece in self.cdx.result(query)]).decode()

    async def rows(self, url=ALL, **parameters):
        return (await self.ask(url, **parameters)).splitlines()

    async def pages(self, **parameters):
        """Return all pages by number; filters may leave some of them empty."""
        count = int(await self.ask(showNumPages="true", pageSize=1, **parameters))
        return [await self.rows(page=n, pageSize=1, **parameters) for n in range(count)]

    async def resumed(self, url=ALL, between=None, **parameters):
        """Return all rows, by resume keys."""
        results, key = [], ""
        while True:
            text = await self.ask(url, showResumeKey="true", resumeKey=key, **parameters)
            rows, blank, key = text.partition("\n\n")
            results += rows.splitlines()
            if not blank:
                return results
            key = key.strip()
            if between:
                await between()

    def _capture(self, url, at, *, digest="0", status=200):
        self.count += 1
        return Capture(
            url=url,
            timestamp=Timestamp(at),
            status=status,
            media_type="text/html",
            payload_digest=PayloadDigest(f"sha256:{digest:0>64}"),
            payload_length=1,
            record_id=RecordId(f"urn:uuid:{self.count}"),
            location=Location("a.warc.gz", self.count, 1),
        )


@pytest.fixture
async def archive(tmp_path):
    """Return 137 captures of 9 URLs, several in the same second, in random order."""
    db = await Database.open(tmp_path / "archive.sqlite3")
    open_archive = Archive(db)
    spread = [
        (f"http://a.example/{n * 7 % 9}", f"202401{1 + n // 20:02}000000") for n in range(137)
    ]
    await open_archive.keep(*spread)
    yield open_archive
    await db.close()


QUESTIONS = [
    {},
    {"sort": "reverse"},
    {"filter": "original:.*[123]"},
    {"collapse": "urlkey"},
    {"collapse": "timestamp:8", "sort": "reverse"},
    {"from_": "20240103", "to": "20240104"},
]


async def test_pages_put_together_are_the_whole(archive):
    for question in QUESTIONS:
        whole = await archive.rows(**question)

        pages = await archive.pages(**question)

        assert [row for page in pages for row in page] == whole, question
        assert len(pages) > 1, question
        assert await archive.ask(page=len(pages), pageSize=1, output="json", **question) == ""
        assert await archive.resumed(limit=7, **question) == whole, question


async def test_no_row_is_missing_if_captures_are_added_between_pages(archive):
    fields = "original,timestamp,length,offset"
    whole = await archive.rows(fl=fields)
    number, results = 0, []

    while text := await archive.ask(page=number, pageSize=1, fl=fields):
        results += text.splitlines()
        number += 1
        await archive.keep(*((f"http://a.example/{n}", "20240102030405") for n in range(3)))

    assert [row for row in dict.fromkeys(results) if row in {*whole}] == whole


async def test_the_closest_captures_come_first_and_can_be_resumed(archive):
    url, fields = "http://a.example/4", "timestamp,offset"
    every = await archive.rows(url, fl=fields)
    for closest in ("2023", "20240103", "2025"):
        parameters = {"sort": "closest", "closest": closest, "fl": fields}
        whole = await archive.rows(url, **parameters)
        assert sorted(whole) == sorted(every), closest
        assert await archive.resumed(url, limit=3, **parameters) == whole, closest


async def test_pages_and_resume_keys_that_do_not_exist_are_empty_or_an_error(archive):
    assert await archive.ask(page=99, output="json") == ""
    with pytest.raises(InputError, match="Last Page is 0"):
        await archive.ask(page=99, pywb=True)
    result = json.loads(await archive.ask(showNumPages="true", pageSize=1, pywb=True))
    assert result == {"pages": 14, "pageSize": 1, "blocks": 14}
    for key in ("x", "1", "1-2-3", "9" * 30, "999-20240101000000-00000000"):
        with pytest.raises(InputError, match="resumeKey"):
            await archive.ask(resumeKey=key)
