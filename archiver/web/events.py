"""``/api/v1/events``: what happens to jobs and imports, as it happens (server-sent events).

``event: job`` and ``event: import`` carry the same JSON as the API; the first ones say how things
stand now. When everything asked for is at an end there is one ``event: end``, and the stream ends:
a page closes it then, since a browser asks again for one that ends by itself.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from aiohttp import web

from archiver.errors import InputError
from archiver.model.importing import ImportStatus
from archiver.model.job import Job
from archiver.web.api.answers import adapter
from archiver.web.api.questions import number, numbers
from archiver.web.keys import LISTENERS, RUNTIME

_HEARTBEAT_SECONDS = 15
_LOOK_SECONDS = 1
_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}
_END = b"event: end\ndata: {}\n\n"
_HEARTBEAT = b": still here\n\n"

Event = Job | ImportStatus


async def events(request: web.Request) -> web.StreamResponse:
    """Stream the changes of the jobs in ``jobs``, of the import in ``import``, or of all jobs."""
    jobs, bulk = numbers(request, "jobs"), number(request, "import", 0)
    if jobs and bulk:
        raise InputError("Name either jobs=1,2,3 or import=1, not both.")
    with request.app[LISTENERS].place():
        response = web.StreamResponse(headers=_HEADERS)
        await response.prepare(request)
        if request.method == "GET":
            crawling = request.app[RUNTIME].crawling
            news = crawling.events(job_ids=jobs or None, import_id=bulk or None)
            await _send(request, response, news)
    return response


async def _send(
    request: web.Request, response: web.StreamResponse, news: AsyncIterator[Event]
) -> None:
    async with aclosing(_with_heartbeats(request, news)) as beats:
        async for event in beats:
            await response.write(event)


async def _with_heartbeats(
    request: web.Request, news: AsyncIterator[Event]
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


async def _next(news: AsyncIterator[Event]) -> Event | None:
    return await anext(news, None)


def _frame(event: Event) -> bytes:
    """Write one event (HTML §9.2.6); JSON has no raw line breaks."""
    name = b"job" if isinstance(event, Job) else b"import"
    return b"event: %s\ndata: %s\n\n" % (name, adapter(type(event)).dump_json(event))
