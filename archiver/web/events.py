"""Server-sent events of jobs and imports.

``event: job`` and ``event: import`` carry the same JSON as the API. For named jobs and for an
import, the first events report the current state; when all are finished, ``event: end`` is sent and
the stream ends. The page must close it then, because browsers reconnect to a stream that ends. The
stream of all jobs reports every change with an ``id``: a client that reconnects with the last id in
``Last-Event-ID``, as browsers do, misses no change.
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
from archiver.web.api.json_http import adapter, number, numbers
from archiver.web.app_keys import LISTENERS, RUNTIME

_HEARTBEAT_SECONDS = 15
_LOOK_SECONDS = 1
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}
_END = b"event: end\ndata: {}\n\n"
_HEARTBEAT = b": still here\n\n"

_PLACE = re.compile(r"([0-9]{1,18})-([0-9]{1,19})")
_LARGEST = (1 << 63) - 1

News = Job | ImportStatus | Change | ChangeCursor


async def events(request: web.Request) -> web.StreamResponse:
    """Stream changes as server-sent events.

    `job` and `import` have the same JSON as the API, first with the current state; `end` is sent
    when all requested jobs are finished. Without parameters, every change of any job from now on is
    sent with an `id`; send it as `Last-Event-ID` to continue.
    """
    jobs, bulk = numbers(request, "jobs"), number(request, "import", 0)
    if jobs and bulk:
        raise InputError("Use either jobs=1,2,3 or import=1, not both.")
    following = request.app[RUNTIME].change_stream
    news: AsyncIterator[News]
    if jobs:
        news = following.jobs(jobs)
    elif bulk:
        news = following.one_import(bulk)
    else:
        # The cursor is read before the response starts, so that no later change is missed.
        news = _everything(following, _place(request) or await following.newest_change())
    with request.app[LISTENERS].place():
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        if request.method == "GET":
            await _send(request, response, news)
    return response


def _place(request: web.Request) -> ChangeCursor | None:
    """Return the cursor of a client that reconnects (HTML §9.2.4).

    Raises:
        InputError: the id is invalid.
    """
    given = request.headers.get("Last-Event-ID")
    if not given:
        return None
    found = _PLACE.fullmatch(given)
    if not found or int(found[2]) > _LARGEST:
        raise InputError("Last-Event-ID must be the id of an event of this stream.")
    return ChangeCursor(int(found[1]), int(found[2]))


async def _everything(following: ChangeStream, cursor: ChangeCursor) -> AsyncIterator[News]:
    """Yield the cursor first, so that a client disconnected before any change misses none."""
    yield cursor
    async for change in following.all_jobs(cursor):
        yield change


async def _send(
    request: web.Request, response: web.StreamResponse, news: AsyncIterator[News]
) -> None:
    async with aclosing(_with_heartbeats(request, news)) as beats:
        async for event in beats:
            await response.write(event)


async def _with_heartbeats(
    request: web.Request, news: AsyncIterator[News]
) -> AsyncGenerator[bytes, None]:
    """Yield events, a comment when there are none for a while, and the end.

    aiohttp does not notify a handler of a closed connection, so it is checked every second.
    """
    stopping = asyncio.ensure_future(request.app[LISTENERS].closing.wait())
    coming = asyncio.ensure_future(_next(news))
    quiet = 0
    try:
        while request.transport is not None and not stopping.done():
            await asyncio.wait(
                {stopping, coming}, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            quiet += 1
            if coming.done():
                event = coming.result()
                if event is None:
                    yield _END
                    return
                yield _frame(event)
                coming, quiet = asyncio.ensure_future(_next(news)), 0
            elif quiet >= _HEARTBEAT_SECONDS:
                yield _HEARTBEAT
                quiet = 0
    finally:
        stopping.cancel()
        coming.cancel()
        await asyncio.gather(stopping, coming, return_exceptions=True)


async def _next(news: AsyncIterator[News]) -> News | None:
    return await anext(news, None)


def _frame(event: News) -> bytes:
    """Write one event (HTML §9.2.6); JSON has no raw line breaks, and an id alone is no event."""
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
