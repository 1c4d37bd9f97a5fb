"""Bodies are returned as received, even after cancellation."""

import asyncio
from threading import Event

import pytest

from archiver.helpers import scratch_file
from archiver.http import responses
from archiver.http.responses import SPOOL_BYTES, BodySink


async def test_a_body_cancelled_while_it_is_written_to_disk_is_stored_once(monkeypatch):
    began, may_go_on = Event(), Event()

    def slow_file():
        began.set()
        may_go_on.wait()
        return scratch_file()

    monkeypatch.setattr(responses, "scratch_file", slow_file)
    sink, data = BodySink(), bytes(SPOOL_BYTES)
    taking = asyncio.create_task(sink.take(data, data))
    await asyncio.to_thread(began.wait)
    taking.cancel()
    asyncio.get_running_loop().call_soon(may_go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await taking

    file, _ = await sink.finish()

    with file:
        assert len(file.read()) == SPOOL_BYTES
