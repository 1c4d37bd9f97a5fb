import pytest

from archiver.app import open_app
from archiver.services import health
from archiver.services.health import store_check
from archiver.web.app_keys import RUNTIME
from tests.index_access import execute_sql
from tests.web.conftest import client_of


@pytest.fixture
async def runtime(runtime):
    await runtime.entries.save(["https://example.com/a", "https://example.com/b"], source="cli")
    return runtime


async def test_healthz_says_ok(client):
    answer = await client.get("/healthz")

    assert (answer.status, await answer.text()) == (200, "ok\n")


async def test_healthz_is_503_without_details_if_the_index_does_not_answer(client, settings):
    for path in settings.data.glob("archive.sqlite3*"):
        path.write_bytes(b"no database " * 1000)

    answer = await client.get("/healthz")

    assert answer.status == 503
    assert "archive.sqlite3" not in await answer.text()


class TestPassedBy:
    @pytest.fixture
    def settings(self, settings):
        """An archive with unknown files."""
        (settings.data / "warc").mkdir(parents=True)
        for name in ("a.warc.gz", "b.warc.gz"):
            (settings.data / "warc" / name).write_bytes(b"garbage")
        return settings

    async def test_healthz_counts_ignored_files_without_naming_them(self, client):
        answer = await client.get("/healthz")

        assert answer.status == 200
        body = await answer.text()
        assert body == "ok\nignored files: 2; `archiver verify` lists them\n"


async def test_metrics_are_in_the_prometheus_format(client):
    answer = await client.get("/metrics")
    text = await answer.text()

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    for line in (
        "archiver_entries 2.0",
        "archiver_snapshots 0.0",
        "archiver_warc_bytes 0.0",
        'archiver_jobs{state="queued"} 2.0',
        'archiver_jobs{state="failed"} 0.0',
        "archiver_event_listeners 0.0",
        "archiver_queue_hosts 1.0",
        "archiver_oldest_lease_seconds 0.0",
        "archiver_segments_passed_by 0.0",
        "archiver_paused 0.0",
        "archiver_held_up 0.0",
    ):
        assert line in text.splitlines()
    assert "process_resident_memory_bytes" in text


async def test_metrics_have_host_waits_and_the_pause(client, settings):
    longest = "archiver_queue_longest_wait_seconds"
    await execute_sql(
        settings.data,
        "UPDATE queue_host SET ready_at_ms = ready_at_ms - 3600000",
        "INSERT INTO queue_host (priority, host, ready_at_ms)"
        " SELECT (priority + 1) % 2, host, ready_at_ms + 1800000 FROM queue_host",
        "UPDATE job SET state = 'fetching', changed_at_ms = changed_at_ms - 60000",
    )
    await client.app[RUNTIME].crawl_status.pause(paused=True)

    lines = (await (await client.get("/metrics")).text()).splitlines()
    (waits,) = (each for each in lines if each.startswith("archiver_queue_wait_seconds{"))
    metrics = dict(
        each.split(" ") for each in lines if each.startswith("archiver_") and "{" not in each
    )

    assert 3600 <= float(metrics[longest]) < 3700
    assert waits == f'archiver_queue_wait_seconds{{host="example.com"}} {metrics[longest]}'
    assert 60 <= float(metrics["archiver_oldest_lease_seconds"]) < 160
    assert metrics["archiver_paused"] == "1.0"
    assert float(metrics["archiver_free_bytes"]) > 0


async def test_missing_segments_damage_and_a_full_disk_are_reported(saved_archive, monkeypatch):
    monkeypatch.setattr(health, "KEPT_SECONDS", -1.0)
    (segment,) = (saved_archive.settings.data / "warc").glob("*.warc.gz")
    async with open_app(saved_archive.settings) as runtime, client_of(runtime) as client:
        assert "missing" not in await (await client.get("/")).text()
        segment.rename(saved_archive.settings.data / "elsewhere")
        await store_check(saved_archive.settings.data, records=9, problems=3)
        monkeypatch.setattr(health, "LEAST_FREE_BYTES", 1 << 62)

        page = await (await client.get("/")).text()
        body = await (await client.get("/healthz")).text()
        measured = await (await client.get("/metrics")).text()
        (saved_archive.settings.data / "archive.sqlite3").rename(saved_archive.settings.data / "x")
        without_index = await (await client.get("/")).text()

    assert all(each in page for each in ("1 segment of", "disk is full", "found 3 problems"))
    assert all(each in body for each in ("missing segments: 1", "disk full", "verify`: 3"))
    assert "archive.sqlite3 was removed or replaced" in without_index
    assert "archiver_segments_missing 1.0" in measured
    assert "archiver_verify_problems 3.0" in measured
