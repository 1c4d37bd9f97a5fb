"""The aiohttp application."""

import asyncio
from collections.abc import Iterable, Mapping

from aiohttp import set_zlib_backend, web
from isal import isal_zlib

from archiver import helpers
from archiver.app import App
from archiver.helpers import RecentItems
from archiver.web import middleware
from archiver.web.api.openapi import operations
from archiver.web.app_keys import (
    FRAME_REQUESTS,
    LIMITS,
    LISTENERS,
    LOGIN_THROTTLE,
    METRICS,
    OPERATIONS,
    PERMISSIONS,
    RELOAD,
    RUNTIME,
    SIGNER,
    STATIC,
    WORDINGS,
)
from archiver.web.client_limits import Listeners, LoginThrottle, ServerLimits
from archiver.web.metrics import Metrics
from archiver.web.replay_requests import MAX_BANNERS
from archiver.web.routes import ROUTES
from archiver.web.signing import Permissions, Signer, load_secret
from archiver.web.static_files import static_files
from archiver.web.uploads import remove_stale, send_continue
from archiver.web.wording import Wording, wordings


def build_app(
    runtime: App,
    *,
    routes: Iterable[web.RouteDef] = ROUTES,
    limits: ServerLimits | None = None,
    wordings_by_tag: Mapping[str, Wording] | None = None,
    secret: bytes | None = None,
) -> web.Application:
    """Return the web application of an archive. The caller opens and closes the archive.

    Args:
        runtime: the services of the archive.
        routes: all routes; tests can pass others to run behind the same middleware.
        limits: limits on connections and clients.
        wordings_by_tag: texts and formats by language tag; the built-in languages by default.
        secret: signing key; read from the data directory by default.

    Raises:
        ConfigurationError: the archive's secret file is not usable.
    """
    app = web.Application(
        middlewares=(
            middleware.measure,
            middleware.compress,
            middleware.render_errors,
            middleware.check_host,
            middleware.serve_replay_only,
            middleware.authenticate,
            middleware.guard_forms,
        ),
        client_max_size=middleware.FORM_BYTES,
    )
    set_zlib_backend(isal_zlib)
    _add_services(app, runtime, secret or load_secret(runtime.settings.data))
    app[OPERATIONS] = operations(routes)
    app[WORDINGS] = wordings_by_tag or wordings()
    app[LIMITS] = limits or ServerLimits()
    app.on_response_prepare.append(middleware.add_headers)
    app.on_shutdown.append(_end_streams)
    app.add_routes(_ignoring_expectations(route) for route in routes)
    remove_stale(runtime.settings.data)
    return app


def _ignoring_expectations(route: web.RouteDef) -> web.RouteDef:
    """Return the route, changed to ignore unknown ``Expect`` headers (RFC 9110 §10.1.1).

    aiohttp would reject requests with such a header with its own error page, before any middleware
    runs.
    """
    options = {"expect_handler": send_continue, **route.kwargs}
    return web.RouteDef(route.method, route.path, route.handler, options)


def _add_services(app: web.Application, runtime: App, secret: bytes) -> None:
    app[RUNTIME] = runtime
    app[SIGNER] = Signer(secret, runtime.access.password_version)
    app[PERMISSIONS] = Permissions(
        app[SIGNER], has_password=runtime.access.is_locked, base=runtime.settings.base_path
    )
    app[LOGIN_THROTTLE] = LoginThrottle()
    app[LISTENERS] = Listeners()
    app[METRICS] = Metrics()
    app[FRAME_REQUESTS] = RecentItems(MAX_BANNERS)
    app[RELOAD] = asyncio.Event()
    app[STATIC] = static_files(helpers.STATIC)


async def _end_streams(app: web.Application) -> None:
    app[LISTENERS].closing.set()
