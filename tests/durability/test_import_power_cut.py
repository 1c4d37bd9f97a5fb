"""A power cut at any moment of an import, also between two of its transactions.

An acknowledged import is complete. Another one is absent, or there up to its reported position,
and can be completed, from the stored file or by importing the file again.
"""

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import BytesIO
from itertools import chain

import pytest

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.imports import Outcome
from tests.durability.conftest import Acknowledged, Client, TracedRun, environment, sending_call
from tests.durability.cuts import moments, put_back
from tests.durability.order import first_sync, first_write, index_log
from tests.processes import batch_size_variables
from tests.system_calls import Disk, Trace, traced_process

MANY = 8
BATCH = 4
"""Number of links per transaction."""
NAME = "links.txt"
LINKS = "".join(f"http://a.example/{number}\n" for number in range(MANY)).encode()
EXTREMES = (Disk.synced_files, Disk.all_changes)
"""All that is not synced is lost, or nothing, because only the process died.

``test_power_cut`` tests the losses in between with captures.
"""
ACCEPTED, READ = "accepted", "read"


@pytest.fixture(scope="module")
def traced_command(tmp_path_factory):
    """A recorded run of ``archiver import``."""
    directory = tmp_path_factory.mktemp("commanded")
    data, trace, file = directory / "data", Trace(directory / "calls"), directory / NAME
    file.write_bytes(LINKS)
    program = (sys.executable, "-m", "archiver", "import", str(file), "--no-crawl")
    command = trace.command(*program)
    variables = environment(data) | batch_size_variables(BATCH)
    subprocess.run(command, env=variables, stdout=subprocess.PIPE, check=True, timeout=120)
    calls = trace.calls()
    return TracedRun(data, calls, [Acknowledged(READ, True, sending_call(calls, f"added\t{MANY}"))])


@pytest.fixture(scope="module")
def uploaded(tmp_path_factory):
    """A service that received a file, and was stopped after reading it."""
    directory = tmp_path_factory.mktemp("uploaded")
    data, trace = directory / "data", Trace(directory / "calls")
    command = trace.command(sys.executable, "-m", "archiver", "serve", "--port", "0")
    variables = environment(data) | batch_size_variables(BATCH)
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as strace:
        base = re.search(r"http://\S+?(?=/?\s)", strace.stdout.readline())[0]
        service, client = traced_process(strace.pid), Client(base)
        try:
            target = f"/api/v1/imports?name={NAME}&capture=never"
            client.request(target, LINKS, "application/octet-stream")
            assert client.request("/api/v1/events?import=1")  # ends with the import
            client.request("/api/v1/imports/1")
        finally:
            service.terminate()
    calls = trace.calls()
    acknowledged = Acknowledged(ACCEPTED, False, sending_call(calls, "HTTP/1.1 202"))
    read = Acknowledged(
        READ, True, sending_call(calls, "HTTP/1.1 200", '"reading":false', f'"read":{MANY}')
    )
    return TracedRun(data, calls, [acknowledged, read])


def extreme_moments(recorded):
    """Yield each state of the disk after a power cut, or after a kill of the process."""
    states = set()
    return chain(*(moments(recorded, lose, states) for lose in EXTREMES))


async def rows_of(archive, number):
    """Return the result of each row in the report of an import."""
    report = b"".join([piece async for piece in archive.import_reports.json(number)])
    return [(each["row"], each["outcome"], each["url"]) for each in json.loads(report)]


def entries_there(data):
    with closing(sqlite3.connect(data / "archive.sqlite3")) as conn:
        return conn.execute("SELECT count(*) FROM entry").fetchone()[0]


ALL = [(row, Outcome.ADDED, f"http://a.example/{row - 1}") for row in range(1, MANY + 1)]


def rows_are_on_disk_before_a_report_or_an_acknowledgement(recorded):
    log, reports = index_log(recorded), str(recorded.data / "receipts")
    report = next(
        call
        for call in recorded.calls
        if call.name.startswith("rename") and call.path.startswith(reports)
    )
    read = next(each for each in recorded.acknowledged if each.is_saved)
    for _, _, url in ALL:
        row = first_write(recorded, log, marker=url.encode())
        synced = first_sync(recorded, log, since=row)
        assert synced.end_line < report.start_line
        assert synced.end_line < read.call.start_line


async def test_an_import_by_command_survives_a_power_cut_or_can_be_repeated(
    traced_command, tmp_path
):
    rows_are_on_disk_before_a_report_or_an_acknowledgement(traced_command)
    data, states = tmp_path / "data", set()
    for files, acknowledged in extreme_moments(traced_command):
        put_back(files, data)
        async with open_app(Settings(data=data)) as archive:
            statuses = await archive.import_statuses.recent()
            rows = await rows_of(archive, statuses[0].id) if statuses else []
            states.add((len(statuses), len(rows), len(acknowledged)))
            assert rows == ALL[: statuses[0].read if statuses else 0]
            assert len(rows) % BATCH == 0
            assert entries_there(data) == len(rows)
            if acknowledged:
                assert rows == ALL
                assert (statuses[0].read, statuses[0].error) == (MANY, "")
            elif statuses:
                again = await archive.imports.read_file(BytesIO(LINKS), name=NAME)
                assert (again.added, again.known) == (MANY - len(rows), len(rows))
                assert entries_there(data) == MANY
    assert {(0, 0, 0), (1, BATCH, 0), (1, MANY, 1)} <= states


async def test_an_uploaded_file_is_imported_completely_after_a_power_cut(
    uploaded, tmp_path, monkeypatch
):
    rows_are_on_disk_before_a_report_or_an_acknowledgement(uploaded)
    monkeypatch.setattr("archiver.services.crawling.POLL_SECONDS", 0.01)
    data, states = tmp_path / "data", set()
    for files, acknowledged in extreme_moments(uploaded):
        put_back(files, data)
        async with open_app(Settings(data=data)) as archive:
            statuses = await archive.import_statuses.recent()
            states.add((len(statuses), len(acknowledged)))
            if not statuses:
                assert not acknowledged
                assert entries_there(data) == 0
                continue
            await archive.imports.resume()
            async for status in archive.change_stream.one_import(statuses[0].id):
                last = status
            await archive.imports.stop()
            assert (last.read, last.error) == (MANY, "")
            rows = await rows_of(archive, statuses[0].id)
            # These were restored from the segments before the file was read.
            assert {each for _, each, _ in rows} <= {Outcome.ADDED, Outcome.KNOWN}
            assert [(row, url) for row, _, url in rows] == [(row, url) for row, _, url in ALL]
            assert entries_there(data) == MANY
    assert {(0, 0), (1, 1), (1, 2)} <= states
