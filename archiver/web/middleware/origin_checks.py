"""Host and origin checks of requests.

If the name ``evil.example`` is changed to resolve to 127.0.0.1 (DNS rebinding), a browser treats
this service as same-origin with that site; only the Host header shows it (RFC 9110 §7.2). IP
addresses cannot be rebound, so they are always accepted.
"""

import asyncio
import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.config import Settings
from archiver.model.message import marked
from archiver.web import origin
from archiver.web.app_keys import LIMITS, ORIGIN, RUNTIME

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9_][a-z0-9._-]{0,253})(?::[0-9]{1,5})?")


@web.middleware
async def check_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Reject a request for an unknown (421) or malformed (400) host name."""
    given = request.headers.getall("Host", [])
    authority = given[0].lower() if len(given) == 1 else ""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or not request.raw_path.startswith("/"):
        raise web.HTTPBadRequest(text="The request does not say plainly which host it is for.")
    name = match[1].rstrip(".")
    if not _is_ours(name, request.app[RUNTIME].settings):
        raise web.HTTPMisdirectedRequest(
            text=f"This archive does not answer to the name {name}. "
            "If it should, add the name to ARCHIVER_ALLOW_HOSTS (or --allow-hosts)."
        )
    request[ORIGIN] = f"http://{authority}"
    return await handler(request)


def _is_ours(name: str, settings: Settings) -> bool:
    if name == "localhost" or name.endswith(".localhost"):  # RFC 6761 §6.3
        return True
    second = urlsplit(settings.replay_origin or "").hostname or ""
    known = (*settings.allow_hosts, settings.host, second)
    if name in {host.lower().rstrip(".") for host in known if host}:
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


FORM_BYTES = 4 << 20
"""Maximum size of a form or JSON body: 10,000 URLs of 300 characters, percent-encoded."""

_FORM = "application/x-www-form-urlencoded"
_FORM_WITH_FILE = "multipart/form-data"
_UPLOADS = frozenset({"upload", "hand_in"})
"""Routes whose handler streams the body to disk."""

_SMALL_FILES = frozenset({"change_feeds"})
"""Routes whose form may hold a file small enough to be read into memory."""

_CROSS_SITE = marked(
    "Another site sent this request, so nothing was changed. If you sent it yourself, open the "
    "page in this archive and try again from there. Behind a reverse proxy, check that it passes "
    "the Host header on unchanged."
)


@web.middleware
async def guard_forms(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Check the origin of an unsafe request and read its form before the handler runs."""
    if request.method not in origin.SAFE_METHODS and request.match_info.http_exception is None:
        if not origin.is_same_origin(request):
            raise web.HTTPForbidden(text=_CROSS_SITE)
        if not request.path.startswith("/api/") and request.match_info.route.name not in _UPLOADS:
            await _read_form(request)
    return await handler(request)


async def _read_form(request: web.Request) -> None:
    """Read a form within the time and size limits; the handler's `request.post()` returns it.

    Raises:
        web.HTTPUnsupportedMediaType: the content type is not that of a form.
        web.HTTPBadRequest: it is not UTF-8.
        web.HTTPRequestEntityTooLarge: it is larger than `FORM_BYTES`.
        TimeoutError: it took too long to arrive.
    """
    if not request.can_read_body:
        return
    has_file = request.match_info.route.name in _SMALL_FILES
    is_form = request.content_type in ({_FORM, _FORM_WITH_FILE} if has_file else {_FORM})
    if not is_form or (request.charset or "utf-8").lower() != "utf-8":
        raise web.HTTPUnsupportedMediaType(text=f"Send this as {_FORM} in UTF-8.")
    try:
        async with asyncio.timeout(request.app[LIMITS].body_seconds):
            await request.post()
    except ValueError:
        raise web.HTTPBadRequest(text=marked("The form is not UTF-8.")) from None
