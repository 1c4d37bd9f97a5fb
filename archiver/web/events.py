"""Server-sent events of jobs and imports.

``event: job`` and ``event: import`` carry the same JSON as the API. Of named jobs and of an import
the first ones say how things stand now; when everything asked for is at an end there is one
``event: end``, and the stream ends: a page closes it then, since a browser asks again for one that
ends by itself. Of all jobs there is every change, each with an ``id``: whoever asks again with the
last of them in ``Last-Event-ID``, as browsers do, misses none.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from aiohttp import web

from archiver.errors import InputError
from archiver.model.imports import ImportStatus
from archiver.model.job import Change, ChangeCursor, Job
from archiver.services.change_stream import ChangeStream
from archiver.web.api.requests import number, numbers
from archiver.web.api.responses import adapter
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
    """Stream the changes of the jobs in ``jobs``, of the import in ``import``, or of all jobs."""
    jobs, bulk = numbers(request, "jobs"), number(request, "import", 0)
    if jobs and bulk:
        raise InputError("Name either jobs=1,2,3 or import=1, not both.")
    following = request.app[RUNTIME].change_stream
    news: AsyncIterator[News]
    if jobs:
        news = following.jobs(jobs)
    elif bulk:
        news = following.one_import(bulk)
    else:
        # Known before the client hears anything: whatever it does then is behind this place.
        news = _everything(following, _place(request) or await following.newest_change())
    with request.app[LISTENERS].place():
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        if request.method == "GET":
            await _send(request, response, news)
    return response


def _place(request: web.Request) -> ChangeCursor | None:
    """Where a client that asks again had come to (HTML §9.2.4).

    Raises:
        InputError: it never had this from here.
    """
    given = request.headers.get("Last-Event-ID")
    if not given:
        return None
    found = _PLACE.fullmatch(given)
    if not found or int(found[2]) > _LARGEST:
        raise InputError("Last-Event-ID must be the id of an event of this stream.")
    return ChangeCursor(int(found[1]), int(found[2]))


async def _everything(following: ChangeStream, cursor: ChangeCursor) -> AsyncIterator[News]:
    """First where it begins, so that a client that is cut off before any change misses none."""
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
    """Yield what to send: news, a sign of life when there were none for a while, the end.

    aiohttp does not tell a handler that its client is gone, so it looks once a second.
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
    """Write one event (HTML §9.2.6); JSON has no raw line breaks, an id alone is no event."""
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
