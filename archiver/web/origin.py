"""Separate origin for replayed content.

Forms carry no tokens. Every browser since 2020 says with each unsafe request where it comes from
(Fetch Metadata; RFC 6454), and the session's cookie is `SameSite=Strict`.

Replay is safe on the service's own origin by its policy alone; on a second one, the browser would
keep the two apart even if that failed.
"""

from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.web.app_keys import ORIGIN, RUNTIME
from archiver.web.auth import is_https

ROUTES_THERE = frozenset({"replay", "healthz"})


def replay_origin(request: web.Request) -> str:
    """Return ``http(s)://host[:port]`` of replay; empty where it has none of its own."""
    return request.app[RUNTIME].settings.replay_origin or ""


def is_there(request: web.Request) -> bool:
    """Whether a request came to the replay origin, and there is one."""
    there = replay_origin(request)
    if not there:
        return False
    here = urlsplit(request[ORIGIN])
    asked = urlsplit(there)
    default = {"http": 80, "https": 443}[asked.scheme]
    return here.hostname == asked.hostname and (here.port or default) == (asked.port or default)


def public_origin(request: web.Request) -> str:
    """Return the origin as the client has it, behind a proxy that ends TLS too."""
    origin = request[ORIGIN]
    return f"https://{origin.removeprefix('http://')}" if is_https(request) else origin


def home_of_replay(request: web.Request) -> str:
    """Return the service's origin if archived pages are shown on another one; else nothing."""
    return public_origin(request) if replay_origin(request) else ""


@web.middleware
async def keep_apart(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Serve nothing of the service's own on the replay origin."""
    if is_there(request) and request.match_info.route.name not in ROUTES_THERE:
        raise web.HTTPNotFound(text="This address shows archived pages, and nothing else.")
    return await handler(request)


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_same_origin(request: web.Request) -> bool:
    """Return whether a page of this service, the user, or a program sent this request.

    `Sec-Fetch-Site` is checked first. Browsers leave it out on plain HTTP to other machines; then
    the host in `Origin` must be ours (the scheme may differ behind a TLS proxy). A request with
    neither header is not from a browser: every browser sends `Origin` with a cross-origin POST.
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
