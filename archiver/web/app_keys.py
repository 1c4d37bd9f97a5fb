"""Typed keys of the application and its requests.

The middleware sets a request's before any handler or error page runs. (Typed keys, since aiohttp
warns of plain strings: ``request[SIGNED_IN]``, not ``request["signed_in"]``.)
"""

from collections.abc import Mapping

from aiohttp import web

from archiver.app import App
from archiver.web.client_limits import Listeners, LoginThrottle, ServerLimits
from archiver.web.metrics import Metrics
from archiver.web.replay_frames import ShownBelow
from archiver.web.signing import Permissions, Signer
from archiver.web.static_files import StaticFiles
from archiver.web.wording import Wording

RUNTIME = web.AppKey("runtime", App)
"""Every service, and ``.settings``."""

SIGNER = web.AppKey("signer", Signer)
"""Signs sessions and replay addresses."""

PERMISSIONS = web.AppKey("permissions", Permissions)
"""Gives and reads permissions to see mementos."""

LOGIN_THROTTLE = web.AppKey("login_throttle", LoginThrottle)
"""Who gave a wrong password how often."""

LISTENERS = web.AppKey("listeners", Listeners)
"""Who listens to events."""

LIMITS = web.AppKey("limits", ServerLimits)
"""How long a request's body may take."""

METRICS = web.AppKey("metrics", Metrics)
"""What Prometheus reads."""

STATIC = web.AppKey("static", StaticFiles)
"""``app[STATIC].url("pages.css")`` is the address of a static file, with its content hash."""

WORDINGS: web.AppKey[Mapping[str, Wording]] = web.AppKey("wordings", Mapping)
"""How pages are worded, by the tag of the language."""

SHOWN = web.AppKey("shown", ShownBelow)
"""What the frame below each banner shows."""

SIGNED_IN = web.RequestKey("signed_in", bool)
"""A person is signed in with the password, so a way to sign out is shown."""

ORIGIN = web.RequestKey("origin", str)
"""``http://host[:port]`` as the client asked for it, checked, so that it may stand in a header.

Empty on the page that says that the host name is not served.
"""

SESSION = web.RequestKey("session", str)
"""The id of the request's session; empty until `authenticate` has run."""

BEFORE_FILE: web.RequestKey[Mapping[str, str]] = web.RequestKey("before_file", Mapping)
"""What a form says before the file that it holds, as far as it was read."""

ARCHIVED_URL = web.RequestKey("archived_url", str)
"""The URL whose captures ``/web/*/{url}`` lists, for ``pages.captures.captures``."""

REFLECTS = web.RequestKey("reflects", bool)
"""The answer shows a permission and something of the request: it is sent as long as it is."""
