"""Missing pages are recovered from public archives, unmodified, if they were pages."""

import gzip
from datetime import UTC, datetime

import pytest
from aiohttp import web

from archiver.db import jobs, new_entries
from archiver.http.timestamps import http_date, to_datetime
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.capture import Acquisition
from archiver.model.failure import FailureKind
from archiver.model.job import State
from archiver.model.seed import Seed
from archiver.services.entries import Entries
from tests.conftest import SENTENCE, live_web

SAVED = datetime(2015, 6, 1, tzinfo=UTC)
PAGE = f"<!DOCTYPE html><title>Foxes</title><article>{SENTENCE.format(name='foxes') * 6}</article>"


class PublicArchive:
    """A fake public archive with Memento."""

    def __init__(self, served):
        self.served = served
        self.gate = served.url("/web/")

    def redirects(self, url, timestamp, *, more=""):
        """Make the TimeGate redirect to a memento."""

        async def answer(request):
            assert request.headers["Accept-Datetime"] == http_date(SAVED)
            target = f"/web/{timestamp}/{url}"
            return web.Response(status=302, headers={"Location": target, "Link": more})

        self.served.add_handler(f"/web/{url}", answer)

    def has(self, url, timestamp, body=PAGE, *, status=200, kind="text/html", **headers):
        """Add a memento; with the header Content-Encoding, ``body`` is compressed."""
        moment = http_date(to_datetime(timestamp))
        content = gzip.compress(body.encode()) if "Content-Encoding" in headers else body.encode()

        async def answer(_request):
            named = {"Memento-Datetime": moment, **headers}
            return web.Response(body=content, status=status, content_type=kind, headers=named)

        self.served.add_handler(f"/web/{timestamp}id_/{url}", answer)

    def link(self, url, timestamp):
        """Return an archive's Link header for a memento."""
        moment = http_date(to_datetime(timestamp))
        target = self.served.url(f"/web/{timestamp}/{url}")
        return f'<{target}>; rel="prev memento"; datetime="{moment}"'


@pytest.fixture
async def archive():
    async with live_web() as served:
        yield PublicArchive(served)


async def rescued(crawl, url):
    """Recover a URL that was saved in 2015; return its job."""
    seed = Seed(hash_url(url), url, host(url), Annotation(url, SAVED))
    async with crawl.context.db.write() as conn:
        now = datetime.now(UTC)
        results = await new_entries.receive(conn, [seed], now=now, recapture=False)
        await jobs.mark_for_recovery(conn, [each.job_id for each in results])
    await crawl.run()
    return (await crawl.jobs())[-1]


def looked_at(crawl, url):
    return Entries(crawl.context.db, crawl.context.store).snapshot(url)


async def captures(crawl):
    """Return (URL, timestamp) of every capture."""
    async with crawl.context.db.read() as conn:
        rows = await conn.exec_driver_sql("SELECT url, timestamp FROM capture ORDER BY id")
        return [tuple(row) for row in rows]


async def test_a_missing_page_is_recovered_with_its_resources(start_crawl, live, archive):
    url, sheet = live.url("/foxes"), live.url("/fox.css")
    archive.redirects(url, "20150520101112")
    archive.has(url, "20150520101112", f'<link rel=stylesheet href="/fox.css">{PAGE}')
    archive.has(sheet, "20150520101112", "p { color: red }", kind="text/css")

    async with start_crawl(rescue=archive.gate) as crawl:
        job = await rescued(crawl, url)
        result = await looked_at(crawl, url)
        stored = await captures(crawl)

    assert job.state is State.SAVED
    assert result.snapshot.timestamp == "20150520101112"
    assert "the page called foxes" in result.text
    assert stored == [(url, 20150520101112), (sheet, 20150520101112)]
    assert not live.requests
    assert result.provenance.acquisition is Acquisition.RECOVERED
    assert result.provenance.source == f"{archive.gate}20150520101112id_/{url}"


async def test_a_recovered_page_that_is_too_large_counts_as_truncated(start_crawl, live, archive):
    url = live.url("/foxes")
    archive.redirects(url, "20150520101112")
    archive.has(url, "20150520101112", PAGE + " " * (1 << 20), **{"Content-Encoding": "gzip"})

    async with start_crawl(rescue=archive.gate, max_decoded_bytes=1 << 20) as crawl:
        await rescued(crawl, url)
        result = await looked_at(crawl, url)

    assert "truncated" in " ".join(each.sentence for each in result.score.reasons)


async def test_a_timegate_may_name_the_memento_instead_of_redirecting(start_crawl, live, archive):
    url = live.url("/foxes")
    link = archive.link(url, "20150520101112")
    archive.served.put(f"/web/{url}", "<iframe></iframe>", headers={"Link": link})
    archive.has(url, "20150520101112")

    async with start_crawl(rescue=archive.gate) as crawl:
        await rescued(crawl, url)
        stored = await captures(crawl)

    assert stored == [(url, 20150520101112)]


async def test_a_memento_without_a_raw_form_is_archived_as_displayed(start_crawl, live, archive):
    url, lost = live.url("/foxes"), live.url("/fox.css")
    picture = archive.served.put("/hash.png", "a picture", kind="image/png")

    async def gate(_request):
        return web.Response(status=302, headers={"Location": "/AbCdE"})

    async def memento(_request):
        body = f'<img src="{picture}"><link rel=stylesheet href="{lost}">{PAGE}'
        moment = {"Memento-Datetime": http_date(SAVED)}
        return web.Response(text=body, content_type="text/html", headers=moment)

    archive.served.add_handler(f"/web/{url}", gate)
    archive.served.add_handler("/AbCdE", memento)
    async with start_crawl(rescue=archive.gate) as crawl:
        await rescued(crawl, url)
        result = await looked_at(crawl, url)

    assert result.provenance.source == archive.served.url("/AbCdE")
    assert {each.url: each.status for each in result.requisites} == {picture: 200, lost: None}
    assert not live.requests


async def test_the_nearest_memento_of_all_archives_is_used(start_crawl, live, archive):
    url = live.url("/foxes")
    async with live_web() as served:
        nearer = PublicArchive(served)
        archive.redirects(url, "20090101000000")
        archive.has(url, "20090101000000")
        nearer.redirects(url, "20150603000000")
        nearer.has(url, "20150603000000")

        async with start_crawl(rescue=(archive.gate, nearer.gate)) as crawl:
            await rescued(crawl, url)
            result = await looked_at(crawl, url)

    assert result.snapshot.timestamp == "20150603000000"


async def test_a_memento_of_an_error_is_skipped_for_the_next(start_crawl, live, archive):
    url = live.url("/foxes")
    archive.redirects(url, "20150601000000")
    older = archive.link(url, "20130101000000")
    archive.has(url, "20150601000000", "gone", status=404, Link=older)
    archive.has(url, "20130101000000")

    async with start_crawl(rescue=archive.gate) as crawl:
        await rescued(crawl, url)
        stored = await captures(crawl)

    assert stored == [(url, 20130101000000)]


REFUSED = {
    "an error": {"status": 410},
    "the archive's own page": {"Memento-Datetime": ""},
    "a page of the future": {"Memento-Datetime": "Fri, 01 Jan 2100 00:00:00 GMT"},
    "a check for people": {"X-Archive-Orig-cf-mitigated": "challenge"},
    "a redirect to itself by another": {"status": 301, "Location": "/web/20150601000000/{other}"},
}


async def test_a_memento_that_is_not_a_page_is_refused(start_crawl, live, archive):
    other = live.url("/other")
    async with start_crawl(rescue=archive.gate) as crawl:
        for number, (name, fields) in enumerate(REFUSED.items()):
            url = live.url(f"/{number}")
            headers = {
                k: v.format(other=other) if k == "Location" else v for k, v in fields.items()
            }
            archive.redirects(url, "20150601000000")
            archive.has(url, "20150601000000", **headers)
            back = f"/web/20150601000000/{url}"
            archive.has(other, "20150601000000", status=302, Location=back)

            job = await rescued(crawl, url)

            assert job.state is State.FAILED, name
            assert job.failure.kind is FailureKind.NOT_ARCHIVED, name
        assert await captures(crawl) == []


async def test_archived_redirects_are_followed_and_stored(start_crawl, live, archive):
    url, other = live.url("/foxes"), live.url("/red-foxes")
    archive.redirects(url, "20150601000000")
    target = f"/web/20150601000000id_/{other}"
    archive.has(url, "20150601000000", "", status=301, Location=target)
    archive.has(other, "20150601000000")

    async with start_crawl(rescue=archive.gate) as crawl:
        await rescued(crawl, url)
        result = await looked_at(crawl, url)

    assert result.snapshot.final_url == other
    assert result.snapshot.capture.status == 200


async def test_a_busy_archive_is_retried_after_its_retry_after(start_crawl, live, archive):
    url = live.url("/foxes")
    archive.redirects(url, "20150601000000")
    archive.has(url, "20150601000000")
    handler = archive.served.handlers[f"/web/{url}"]

    async def busy(request):
        archive.served.add_handler(f"/web/{url}", handler)
        return web.Response(status=429, headers={"Retry-After": "0"})

    archive.served.add_handler(f"/web/{url}", busy)
    async with start_crawl(rescue=archive.gate) as crawl:
        job = await rescued(crawl, url)

    assert job.state is State.SAVED
    assert archive.served.requests[f"/web/{url}"] == 2


async def test_the_failure_names_the_archives_that_have_no_copy(start_crawl, live, archive):
    async with start_crawl(rescue=archive.gate) as crawl:
        job = await rescued(crawl, live.url("/foxes"))

    assert job.failure.kind is FailureKind.NOT_ARCHIVED
    assert host(archive.gate) in job.failure.message


async def test_an_archive_at_a_private_address_is_not_requested(start_crawl, live, archive):
    url = live.url("/foxes")
    archive.redirects(url, "20150601000000")

    async with start_crawl(rescue=archive.gate, allow_networks="", retries=0) as crawl:
        job = await rescued(crawl, url)

    assert job.failure.kind is FailureKind.NOT_RESCUED
    assert not archive.served.requests


async def test_no_archive_is_requested_unless_a_setting_names_one(crawl, live):
    job = await rescued(crawl, live.article("foxes"))

    assert "Settings" in job.failure.message
    assert not live.requests
