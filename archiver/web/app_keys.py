"""Typed keys of the application and its requests.

The middleware sets the request keys before any handler or error page runs. The keys are typed
because aiohttp warns about plain strings: ``request[SIGNED_IN]``, not ``request["signed_in"]``.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from aiohttp import web

from archiver.app import App
from archiver.helpers import RecentItems
from archiver.web.client_limits import Listeners, LoginThrottle, ServerLimits
from archiver.web.signing import Permissions, Signer
from archiver.web.wording import Wording

if TYPE_CHECKING:  # these modules use the keys
    from archiver.web.api.openapi import Operation
    from archiver.web.metrics import Metrics
    from archiver.web.replay_requests import FrameRequest
    from archiver.web.static_files import StaticFiles

RUNTIME = web.AppKey("runtime", App)
"""The archive's services, and ``.settings``."""

SIGNER = web.AppKey("signer", Signer)
"""Signs sessions and replay addresses."""

PERMISSIONS = web.AppKey("permissions", Permissions)
"""Issues and checks access tokens for mementos."""

LOGIN_THROTTLE = web.AppKey("login_throttle", LoginThrottle)
"""Counts failed logins by client address."""

LISTENERS = web.AppKey("listeners", Listeners)
"""Counts the listeners of event streams."""

LIMITS = web.AppKey("limits", ServerLimits)
"""Limits per client, such as the time to receive a body."""

METRICS: web.AppKey["Metrics"] = web.AppKey("metrics")
"""The metrics for Prometheus."""

OPERATIONS: web.AppKey[tuple["Operation", ...]] = web.AppKey("operations", tuple)
"""Routes of the API, for its description."""

RELOAD = web.AppKey("reload", asyncio.Event)
"""Set to restart the services with the stored settings."""

STATIC: web.AppKey["StaticFiles"] = web.AppKey("static")
"""Static files: ``app[STATIC].url("pages.css")`` returns a URL with a content hash."""

WORDINGS: web.AppKey[Mapping[str, Wording]] = web.AppKey("wordings", Mapping)
"""Translations by language tag."""

FRAME_REQUESTS: web.AppKey[RecentItems[str, "FrameRequest"]] = web.AppKey("shown")
"""The last request of the frame below each banner."""

SIGNED_IN = web.RequestKey("signed_in", bool)
"""Whether the user is signed in with the password, so that pages show a sign-out button."""

ORIGIN = web.RequestKey("origin", str)
"""``http://host[:port]`` as requested, validated, so that it is safe in a header.

Empty on the error page for an unknown host name.
"""

SESSION = web.RequestKey("session", str)
"""Id of the request's session; empty until `authenticate` has run."""

FORM_FIELDS: web.RequestKey[Mapping[str, str]] = web.RequestKey("form_fields", Mapping)
"""Form fields of an upload; fields that follow the file are added once the file has been read."""

ARCHIVED_URL = web.RequestKey("archived_url", str)
"""The URL whose captures ``/web/*/{url}`` lists, for ``pages.snapshot.captures``."""

REFLECTS = web.RequestKey("reflects", bool)
"""Set if the response contains both an access token and request data.

Such a response must not be compressed.
"""
