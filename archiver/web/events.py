"""Server-sent events of jobs and imports.

``event: job`` and ``event: import`` carry the same JSON as the API. There are two kinds of streams:

- The stream of named jobs or of an import starts with their current state. When all are finished,
  ``event: end`` is sent and the stream ends. The page must then close its ``EventSource``, because
  browsers reconnect to a stream that ends.
- The stream of all jobs reports every change with an ``id``. A client that reconnects with the last
  id in ``Last-Event-ID``, as browsers do, misses no change.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from aiohttp import web

from archiver.errors import InputError
from archiver.model.imports import ImportStatus
from archiver.model.job import Change, ChangeCursor, Job
from archiver.services.crawling import ChangeStream
from archiver.web.api.json_http import adapter, integer_parameter, numbers
from archiver.web.app_keys import LISTENERS, RUNTIME

_HEARTBEAT_SECONDS = 15
_POLL_SECONDS = 1
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}
_END = b"event: end\ndata: {}\n\n"
_HEARTBEAT = b": still here\n\n"

_EVENT_ID = re.compile(r"([0-9]{1,18})-([0-9]{1,19})")
_LARGEST = (1 << 63) - 1

Event = Job | ImportStatus | Change | ChangeCursor


async def events(request: web.Request) -> web.StreamResponse:
    """Stream changes as server-sent events.

    `job` and `import` have the same JSON as the API, first with the current state; `end` is sent
    when all requested jobs are finished. Without parameters, every change of any job from now on is
    sent with an `id`; send it as `Last-Event-ID` to continue.
    """
    jobs, import_id = numbers(request, "jobs"), integer_parameter(request, "import", 0)
    if jobs and import_id:
        raise InputError("Use either jobs=1,2,3 or import=1, not both.")
    changes = request.app[RUNTIME].change_stream
    source: AsyncIterator[Event]
    if jobs:
        source = changes.jobs(jobs)
    elif import_id:
        source = changes.one_import(import_id)
    else:
        # The cursor is read before the response starts, so that no later change is missed.
        source = _all_jobs(changes, _cursor_of(request) or await changes.newest_change())
    with request.app[LISTENERS].listening():
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        if request.method == "GET":
            async with aclosing(_with_heartbeats(request, source)) as frames:
                async for event in frames:
                    await response.write(event)
    return response


def _cursor_of(request: web.Request) -> ChangeCursor | None:
    """Return the cursor in `Last-Event-ID`, which a reconnecting client sends (HTML §9.2.4).

    Raises:
        InputError: the id is invalid.
    """
    last_id = request.headers.get("Last-Event-ID")
    if not last_id:
        return None
    match = _EVENT_ID.fullmatch(last_id)
    if not match or int(match[2]) > _LARGEST:
        raise InputError("Last-Event-ID must be the id of an event of this stream.")
    return ChangeCursor(int(match[1]), int(match[2]))


async def _all_jobs(changes: ChangeStream, cursor: ChangeCursor) -> AsyncIterator[Event]:
    """Yield the cursor, then each later change.

    A client that disconnects before the first change resumes from the cursor.
    """
    yield cursor
    async for change in changes.all_jobs(cursor):
        yield change


async def _with_heartbeats(
    request: web.Request, source: AsyncIterator[Event]
) -> AsyncGenerator[bytes, None]:
    """Yield the events, a comment after 15 seconds without an event, and the end of the stream.

    aiohttp does not notify a handler of a closed connection, so the connection is checked every
    second.
    """
    stopping = asyncio.ensure_future(request.app[LISTENERS].closing.wait())
    next_event = asyncio.ensure_future(_next(source))
    idle_polls = 0
    try:
        while request.transport is not None and not stopping.done():
            await asyncio.wait(
                {stopping, next_event}, timeout=_POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            idle_polls += 1
            if next_event.done():
                event = next_event.result()
                if event is None:
                    yield _END
                    return
                yield _frame(event)
                next_event, idle_polls = asyncio.ensure_future(_next(source)), 0
            elif idle_polls >= _HEARTBEAT_SECONDS:
                yield _HEARTBEAT
                idle_polls = 0
    finally:
        stopping.cancel()
        next_event.cancel()
        await asyncio.gather(stopping, next_event, return_exceptions=True)


async def _next(source: AsyncIterator[Event]) -> Event | None:
    return await anext(source, None)


def _frame(event: Event) -> bytes:
    """Return an event in the format of HTML §9.2.6, with one data line of JSON.

    A cursor becomes an id without data: browsers remember the id and dispatch no event.
    """
    match event:
        case ChangeCursor():
            return b"id: %d-%d\n\n" % (event.stamp, event.job_id)
        case Change():
            place = event.cursor
            return b"id: %d-%d\n%s" % (place.stamp, place.job_id, _frame(event.job))
        case Job():
            return b"event: job\ndata: %s\n\n" % adapter(Job).dump_json(event)
        case _:
            return b"event: import\ndata: %s\n\n" % adapter(ImportStatus).dump_json(event)
