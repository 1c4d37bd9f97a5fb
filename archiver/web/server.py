"""HTTP server with limits on connections.

Invalid requests are logged in one line without their content, because anyone can send them.

A connection either waits for a request's head or has a request in progress. aiohttp closes
connections that wait too long, even if bytes of a head arrive slowly: its keep-alive timer starts
with the connection and with each response. Above the maximum number of connections, the server
closes the connection that has waited longest.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http import RawRequestMessage
from yarl import URL

from archiver.logs import get_log
from archiver.web.client_limits import ServerLimits
from archiver.web.middleware import OWN_HEADERS

_UNREADABLE = "The request is invalid: it is not well-formed HTTP/1.1, or too long.\n"
_BROKEN = "An internal error occurred. The log has details.\n"

_log = get_log(__name__)


class Handler(web.RequestHandler):
    """aiohttp's connection handler with a different error log."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return an error response with the usual headers, and close the connection afterwards.

        Raises:
            ConnectionError: a response has already started.
        """
        is_client_error = status < HTTPStatus.INTERNAL_SERVER_ERROR
        if is_client_error:
            _log.info("unreadable_request", client=request.remote, reason=type(exc).__name__)
        else:
            _log.error("request_failed", status=status, reason=message, exc_info=exc or False)
        if request.writer.output_size > 0:
            raise ConnectionError("The response has already started.")
        text = _UNREADABLE if is_client_error else _BROKEN
        response = web.Response(status=status, text=text, headers=dict(OWN_HEADERS))
        response.force_close()
        return response


_LOG_SECONDS = 60.0


class BoundedRunner(web.AppRunner):
    """Runner of an application behind a ``BoundedServer``."""

    __slots__ = ("_base_path", "_bounded", "_limits")

    def __init__(self, app: web.Application, limits: ServerLimits, *, base_path: str = "") -> None:
        super().__init__(app, shutdown_timeout=limits.drain_seconds)
        self._limits = limits
        self._base_path = base_path
        self._bounded: BoundedServer | None = None

    @property
    def server(self) -> web.Server | None:
        """Server that accepts the connections of all sites."""
        return self._bounded

    async def setup(self) -> None:
        """Start the application."""
        await super().setup()
        if inner := super().server:
            self._bounded = BoundedServer(inner, self._limits, self._base_path)

    async def shutdown(self) -> None:
        """Close idle connections, shut the application down, and wait for open requests."""
        if self._bounded:
            self._bounded.pre_shutdown()
        await super().shutdown()
        if self._bounded:
            await self._bounded.shutdown(self._limits.drain_seconds)


class BoundedServer(web.Server):
    """aiohttp server with limits on connections.

    Args:
        inner: the application's server.
        limits: limits on connections.
        base_path: prefix that is removed from request paths, if a proxy does not remove it.
    """

    def __init__(self, inner: web.Server, limits: ServerLimits, base_path: str = "") -> None:
        super().__init__(
            self._respond,
            request_factory=partial(_request_without_base, inner.request_factory, base_path),
            handler_cancellation=inner.handler_cancellation,
        )
        self._options: dict[str, Any] = {
            "access_log": None,
            "keepalive_timeout": limits.head_seconds,
            "max_line_size": limits.request_line_bytes,
            "max_field_size": limits.field_bytes,
            "max_headers": limits.fields,
        }
        self._handle = inner.request_handler
        self._limits = limits
        self._waiting: dict[web.RequestHandler, None] = {}
        self._log_again = 0.0

    def __call__(self) -> web.RequestHandler:
        """Return the handler of a new connection."""
        return Handler(self, loop=asyncio.get_running_loop(), **self._options)

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        """Accept a connection; above the maximum number, close the one that waits longest."""
        super().connection_made(handler, transport)
        self._waiting[handler] = None
        if len(self.connections) > self._limits.connections:
            self._drop(next(iter(self._waiting)))

    def connection_lost(
        self, handler: web.RequestHandler, exc: BaseException | None = None
    ) -> None:
        """Remove a closed connection."""
        self._waiting.pop(handler, None)
        super().connection_lost(handler, exc)

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        handler = request.protocol
        self._waiting.pop(handler, None)
        try:
            return await self._handle(request)
        finally:
            if request.transport is not None:
                self._waiting[handler] = None

    def _drop(self, handler: web.RequestHandler) -> None:
        """Close a connection immediately, even if it has unsent data."""
        self._waiting.pop(handler, None)
        if handler.transport is not None:
            handler.transport.abort()
        if time.monotonic() >= self._log_again:
            self._log_again = time.monotonic() + _LOG_SECONDS
            _log.warning("too_many_connections", most=self._limits.connections)


def _request_without_base(
    make: Callable[..., web.BaseRequest], base_path: str, message: RawRequestMessage, *rest: Any
) -> web.BaseRequest:
    """Create a request, without the base path at the start of its target."""
    target = message.path
    if base_path and f"{target}/".startswith((f"{base_path}/", f"{base_path}?")):
        path = "/" + target[len(base_path) :].lstrip("/")
        message = message._replace(path=path, url=URL(path, encoded=True))
    return make(message, *rest)
