"""Checks of a request's origin, and the separate origin for replayed content.

Forms need no CSRF tokens, because every browser since 2020 sends the origin of each unsafe request
(Fetch Metadata; RFC 6454), and the session cookie is `SameSite=Strict`.

Pages that are replayed on the service's own origin are isolated only by a Content-Security-Policy.
With a separate origin, the browser's same-origin policy isolates them too.
"""

from urllib.parse import urlsplit

from aiohttp import web

from archiver.web.app_keys import ORIGIN, RUNTIME
from archiver.web.auth import is_https


def replay_origin(request: web.Request) -> str:
    """Return ``http(s)://host[:port]`` of replay; empty without a separate origin."""
    return request.app[RUNTIME].settings.replay_origin or ""


def is_replay_origin(request: web.Request) -> bool:
    """Return whether a request was sent to the separate replay origin."""
    origin = replay_origin(request)
    if not origin:
        return False
    ours = urlsplit(request[ORIGIN])
    separate = urlsplit(origin)
    default = {"http": 80, "https": 443}[separate.scheme]
    return ours.hostname == separate.hostname and (ours.port or default) == (
        separate.port or default
    )


def base_path(request: web.Request) -> str:
    """Return the path under which a reverse proxy serves the application; empty for the root."""
    return request.app[RUNTIME].settings.base_path


def with_base(request: web.Request, path: str) -> str:
    """Return a root-relative path with the base path, as the client sees it."""
    base = base_path(request)
    return path if not base or path.startswith(f"{base}/") else base + path


def without_base(request: web.Request, path: str) -> str:
    """Return a path without the base path, as the application's routes expect it."""
    base = base_path(request)
    return path.removeprefix(base) if path.startswith(f"{base}/") else path


def public_origin(request: web.Request) -> str:
    """Return the origin as the client sees it, also behind a proxy that terminates TLS."""
    origin = request[ORIGIN]
    return f"https://{origin.removeprefix('http://')}" if is_https(request) else origin


def service_origin(request: web.Request) -> str:
    """Return the service's origin if replay has a separate origin; otherwise ""."""
    return public_origin(request) if replay_origin(request) else ""


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_same_origin(request: web.Request) -> bool:
    """Return whether a page of this service, the user, or a program sent this request.

    `Sec-Fetch-Site` is checked first. Browsers omit `Sec-Fetch-Site` on plain HTTP to other
    machines. In that case the host in `Origin` must be the service's host; the scheme may differ
    behind a TLS proxy. A request with neither header is not a cross-origin POST of a browser,
    because every browser sends `Origin` with such a request.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    return "Origin" not in request.headers or _is_our_origin(request.headers["Origin"], request)


def _is_our_origin(origin: str, request: web.Request) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == request.headers.get("Host", "").lower()
    except ValueError:
        return False
