"""Counts requests by route name, never by path: labels stay few whatever is asked for."""

import time

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.web.keys import METRICS


@web.middleware
async def measure(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Time the handler and count its answer, redirects that are raised included."""
    began = time.perf_counter()
    status = 500
    try:
        response = await handler(request)
    except web.HTTPException as answer:
        status = answer.status
        raise
    else:
        status = response.status
        return response
    finally:
        route = request.match_info.route.name or "none"
        request.app[METRICS].answered(request.method, route, status, time.perf_counter() - began)
