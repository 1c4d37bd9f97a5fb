"""Middleware around every handler.

From the outside in: metrics, compression, error pages, host names, the replay origin, login, forms.

If the name ``evil.example`` is changed to resolve to 127.0.0.1 (DNS rebinding), a browser treats
this service as same-origin with that site; only the Host header shows it (RFC 9110 §7.2). IP
addresses cannot be rebound, so they are always accepted.

Errors of the API are ``{"error": {"code": "not_found", "message": "A sentence."}}``.
"""

import asyncio
import re
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from archiver import errors
from archiver.config import Settings
from archiver.logs import get_log
from archiver.model.message import Message, marked
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.services.access import TOKEN_PREFIX, Scope
from archiver.web import auth, origin
from archiver.web.app_keys import LIMITS, METRICS, ORIGIN, REFLECTS, RUNTIME, SESSION, SIGNED_IN
from archiver.web.client_limits import TooManyListeners
from archiver.web.pages.errors import error_page, passage
from archiver.web.rendering import render
from archiver.web.replay_requests import permission_of, requested_memento
from archiver.web.responses import (
    SMALLEST,
    is_packable,
    message_of,
    takes_own_gzip,
    vary,
)

REPLAY_ORIGIN_ROUTES = frozenset({"replay", "healthz"})


@web.middleware
async def serve_replay_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Serve only replay on the replay origin."""
    if (
        origin.is_replay_origin(request)
        and request.match_info.route.name not in REPLAY_ORIGIN_ROUTES
    ):
        raise web.HTTPNotFound(text="This address serves only archived pages.")
    return await handler(request)


_AUTHORITY = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9_][a-z0-9._-]{0,253})(?::[0-9]{1,5})?")


@web.middleware
async def check_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Reject a request for an unknown (421) or malformed (400) host name."""
    hosts = request.headers.getall("Host", [])
    authority = hosts[0].lower() if len(hosts) == 1 else ""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or not request.raw_path.startswith("/"):
        raise web.HTTPBadRequest(text="The request has no unambiguous Host header.")
    name = match[1].rstrip(".")
    if not _is_own_name(name, request.app[RUNTIME].settings):
        raise web.HTTPMisdirectedRequest(
            text=f"The host name {name} is not allowed. To allow it, start "
            f"archiver with --allow-hosts {name}."
        )
    request[ORIGIN] = f"http://{authority}"
    return await handler(request)


def _is_own_name(name: str, settings: Settings) -> bool:
    if name == "localhost" or name.endswith(".localhost"):  # RFC 6761 §6.3
        return True
    second = urlsplit(settings.replay_origin or "").hostname or ""
    own_names = (*settings.allow_hosts, settings.host, second)
    if name in {host.lower().rstrip(".") for host in own_names if host}:
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


FORM_BYTES = 4 << 20
"""Maximum size of a form or JSON body; enough for 10,000 percent-encoded URLs of 300 characters."""

_FORM = "application/x-www-form-urlencoded"
_FORM_WITH_FILE = "multipart/form-data"
_UPLOADS = frozenset({"import_file", "upload_page"})
"""Routes whose handler streams the body to disk."""

_SMALL_FILES = frozenset({"change_feeds", "change_sites"})
"""Routes whose form may hold a file small enough to be read into memory."""

_CROSS_SITE = marked(
    "This request came from another site, so nothing was changed. If you sent it yourself, open "
    "the page in this archive and try again there. Behind a reverse proxy, check that it passes "
    "the Host header unchanged."
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
        web.HTTPBadRequest: the form is not UTF-8.
        web.HTTPRequestEntityTooLarge: the form is larger than `FORM_BYTES`.
        TimeoutError: the form took too long to arrive.
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
        raise web.HTTPBadRequest(text=marked("The form is not encoded in UTF-8.")) from None


OPEN_ROUTES = frozenset({"healthz", "static", "manifest", "login", "sign_in", "choose_language"})
"""Routes without login: health check, static files and the login page."""

NO_TOKEN_ROUTES = frozenset({"access", "change_access"})
"""Routes that accept no token."""

ADDING_ROUTES = frozenset(
    {
        *(
            "api_save_urls",
            "api_upload_page",
            "api_import_file",
            "api_imports",
            "api_import_status",
        ),
        *("api_preview_import", "api_import_receipt", "api_import_failures"),
        *("api_jobs", "api_queue", "api_events"),
    }
)
"""Routes for programs that add pages and watch their progress."""

_PERMITTED = {
    Scope.READ: "can only read",
    Scope.ADD: "can only add pages and imports, and follow their progress",
    Scope.ALL: "can do everything except manage access",
}
_FOR_PROGRAMS = ("/api/", "/metrics", "/cdx", "/web/cdx", "/wayback/", "/timegate/", "/timemap/")
_PAGES = frozenset({None, "document"})
_DOCUMENTS = _PAGES | {"iframe", "frame", "object", "embed"}
_PAGE_MODIFIERS = frozenset({Modifier.NONE, Modifier.FRAME, Modifier.IDENTITY})


@web.middleware
async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Identify the client, and reject it if it has no access."""
    request[SESSION] = auth.ANONYMOUS
    await auth.refresh_access(request.app)
    is_locked = request.app[RUNTIME].access.is_locked
    admitted = not is_locked or await _is_known(request) or _is_open(request)
    if admitted:
        return await handler(request)
    if _is_from_bookmarklet(request):
        onward = origin.with_base(request, request.raw_path)
        return render(request, "pages/step.html", title=Message("One moment"), onward=onward)
    address = _requested_memento(request)
    if address is not None:
        return passage(request, address)
    raise _refusal(request)


async def _is_known(request: web.Request) -> bool:
    session = await auth.session_of(request)
    if session is not None:
        request[SESSION], request[SIGNED_IN] = session, True
        return True
    credentials = auth.credentials_of(request)
    if credentials is None:
        return False
    if credentials.startswith(TOKEN_PREFIX):
        await _admit_token(request, credentials)
    elif not await auth.check_password(request, credentials):
        raise _unauthorized("The password in the Authorization header is wrong.")
    request[SESSION] = auth.BY_HEADER
    return True


async def _admit_token(request: web.Request, secret: str) -> None:
    # Tokens are random and too long to guess, so failures are not counted: behind a proxy, where
    # all clients have one address, wrong passwords of others must not lock programs out.
    token = await request.app[RUNTIME].access.token_of(secret)
    if token is None:
        raise _unauthorized("The token in the Authorization header is not valid for this archive.")
    route = request.match_info.route.name or ""
    if not opens(token.scope, route, request.method):
        raise web.HTTPForbidden(
            text=(
                f"The token “{token.name}” is not allowed to do this: it {_PERMITTED[token.scope]}."
            )
        )


def opens(scope: Scope, route: str, method: str) -> bool:
    """Return whether a token of this scope gives access to a route with this method."""
    if route in NO_TOKEN_ROUTES:
        return False
    if scope is Scope.READ:
        return method in origin.SAFE_METHODS
    return scope is Scope.ALL or route in ADDING_ROUTES


def _is_open(request: web.Request) -> bool:
    route = request.match_info.route.name
    if route == "replay" and request.method in origin.SAFE_METHODS:
        return permission_of(request) is not None
    return route in OPEN_ROUTES


def _is_from_bookmarklet(request: web.Request) -> bool:
    """Return whether the bookmarklet opened this page, in which case the session cookie is missing.

    The cookie is ``SameSite=Strict``, so the browser sends it only after a click on this site.
    """
    is_elsewhere = request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    return request.match_info.route.name == "save" and is_elsewhere


def _requested_memento(request: web.Request) -> ReplayAddress | None:
    """Return the requested memento if it is requested as a page or a frame."""
    if request.match_info.route.name != "replay" or request.method not in origin.SAFE_METHODS:
        return None
    if request.headers.get("Sec-Fetch-Dest") not in _DOCUMENTS:
        return None
    address = requested_memento(request.raw_path)
    return address if address and address.modifier in _PAGE_MODIFIERS else None


def _refusal(request: web.Request) -> web.HTTPException:
    """Redirect a browser to the login page; return 401 to a program."""
    is_program = request.path.startswith(_FOR_PROGRAMS)
    if request.headers.get("Sec-Fetch-Dest") not in _PAGES or is_program:
        return _unauthorized(
            marked("Sign in to continue. This archive is protected by a password.")
        )
    if request.method in origin.SAFE_METHODS:
        return web.HTTPSeeOther("/login?" + urlencode({"next": request.raw_path}))
    return _unauthorized(
        marked(
            "You are signed out, so nothing was changed. Sign in in another tab, then reload this "
            "page to send the form again."
        )
    )


def _unauthorized(message: str) -> web.HTTPUnauthorized:
    return web.HTTPUnauthorized(
        text=message, headers={"WWW-Authenticate": 'Bearer realm="archiver"'}
    )


_log = get_log(__name__)

_BY_CLASS: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.InvalidUrl, 400, "invalid_url"),
    (errors.UnreadableFile, 422, "unreadable_file"),
    (errors.TooLarge, 413, "too_large"),
    (errors.InputError, 400, "invalid_input"),
    (errors.NotInArchive, 404, "not_in_archive"),
    (errors.NotFound, 404, "not_found"),
    (errors.IndexNotWritable, 503, "disk_not_writable"),
    (errors.IndexUnavailable, 503, "index_unavailable"),
    (errors.StoreUnavailable, 503, "store_unavailable"),
    (errors.StoreError, 500, "store_error"),
    (errors.ArchiverError, 500, "error"),
    (TooManyListeners, 503, "too_many_listeners"),
    (TimeoutError, 408, "timeout"),
)
"""Status and error code by exception class.

The first matching class is used, so subclasses come before their base classes.
"""

_MESSAGES = {
    400: Message("The request is invalid."),
    404: Message("There is no page at this address."),
    405: Message("This address does not support this request method."),
    408: Message("The request took too long to arrive. Try again."),
    413: Message("The request is too large. Import a file instead."),
    500: Message("An internal error occurred. See the log for details."),
    503: Message(
        "Too many open pages are showing live progress. Close some of them, or try again later."
    ),
}
_GENERAL_MESSAGES: dict[type[Exception], Message] = {
    errors.IndexUnavailable: Message(
        "The index of this archive is unavailable. Try again in a moment. If the problem "
        "persists, see the log for the reason."
    ),
}
"""Messages that replace the exception's own, which has details such as the database's address."""
_INTERNAL_ERROR = 500
_CLIENT_CLOSED = 499
"""Status in the metrics for a client that disconnected; never sent."""
_CODES = {413: "too_large"}
_PLAIN_ROUTES = frozenset({"healthz", "metrics", "static"})
_PASSED_HEADERS = ("Allow", "Retry-After", "WWW-Authenticate")


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as reported: status, code for programs, message for users, and response headers."""

    status: int
    code: str
    message: Message
    headers: dict[str, str] = field(default_factory=dict)
    is_in_bin: bool = False


@web.middleware
async def render_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn errors into responses that say what happened."""
    request[SIGNED_IN], request[ORIGIN], request[SESSION] = False, "", ""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < HTTPStatus.BAD_REQUEST:
            raise
        return await _render_problem(request, _problem_of_http(error))
    except ConnectionError:
        if request.transport is not None and not request.transport.is_closing():
            raise
        return web.Response(status=_CLIENT_CLOSED)  # the client disconnected, so nothing is wrong
    except Exception as error:
        if request.writer.output_size > 0:
            raise  # the response has started, so it can only be aborted
        return await _render_problem(request, _problem_of_error(error, request))


def _problem_of_http(error: web.HTTPException) -> Problem:
    text = error.text or ""
    usual = text == f"{error.status}: {error.reason}" or error.status in _CODES
    phrase = HTTPStatus(error.status).phrase
    return Problem(
        status=error.status,
        code=_CODES.get(error.status, phrase.lower().replace(" ", "_").replace("-", "_")),
        message=_MESSAGES.get(error.status, Message(f"{phrase}.")) if usual else message_of(error),
        headers={name: error.headers[name] for name in _PASSED_HEADERS if name in error.headers},
    )


def _problem_of_error(error: Exception, request: web.Request) -> Problem:
    for kind, status, code in _BY_CLASS:
        if isinstance(error, kind):
            if status >= _INTERNAL_ERROR and kind is not TooManyListeners:
                _log.error("request_failed", route=request.match_info.route.name, exc_info=error)
            message = _GENERAL_MESSAGES.get(kind) or _message_of(error) or _MESSAGES[status]
            return Problem(status, code, message, is_in_bin=isinstance(error, errors.InBin))
    _log.error("request_failed", route=request.match_info.route.name, exc_info=error)
    return Problem(_INTERNAL_ERROR, "internal", _MESSAGES[_INTERNAL_ERROR])


def _message_of(error: Exception) -> Message:
    if isinstance(error, errors.InvalidQuery):
        return Message(
            "{problem} The error is at character {place} of the search.",
            problem=error.sentence,
            place=error.at + 1,
        )
    return error.sentence if isinstance(error, errors.ArchiverError) else Message(str(error))


async def _render_problem(request: web.Request, problem: Problem) -> web.StreamResponse:
    if request.path.startswith("/api/"):
        shape = {"error": {"code": problem.code, "message": str(problem.message)}}
        response: web.StreamResponse = web.json_response(shape, status=problem.status)
    elif request.match_info.route.name in _PLAIN_ROUTES:
        response = web.Response(status=problem.status, text=f"{problem.message}\n")
    else:
        response = await error_page(
            request, problem.status, problem.message, is_in_bin=problem.is_in_bin
        )
    response.headers.update(problem.headers)
    return response


CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{replay}; "
    "media-src 'self'{replay}; font-src 'self'; manifest-src 'self'; connect-src 'self'; "
    "frame-src 'self'{replay}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Policy of all pages; ``replay`` is the separate origin of archived pages, if there is one."""

_COMMON_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    # With no-referrer, browsers send "Origin: null" with forms of this site (Fetch §3.2).
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Robots-Tag", "noindex, nofollow, noarchive"),
    ("Cache-Control", "private, no-cache"),
    ("Server", "archiver"),
)
OWN_HEADERS = (
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY.format(replay="")),
    *_COMMON_HEADERS,
)
"""Headers of responses to invalid requests, which do not reach ``add_headers``."""


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add headers to a response before it is sent."""
    if response.status == _CLIENT_CLOSED:
        raise ConnectionError  # nothing can be sent, and a compressor can't be ended twice
    separate_origin = origin.replay_origin(request)
    base = origin.base_path(request)
    policy = CONTENT_SECURITY_POLICY.format(
        replay=f" {separate_origin}{base}/web/" if separate_origin else ""
    )
    response.headers.setdefault("Content-Security-Policy", policy)
    if base:
        _add_base(request, response, base)
    for name, value in _COMMON_HEADERS:
        if name == "Server":
            response.headers[name] = value  # replaces the version of aiohttp
        else:
            response.headers.setdefault(name, value)


_COOKIE_PATH = re.compile(r"(?<=; )Path=/(?=;|$)")


def _add_base(request: web.Request, response: web.StreamResponse, base: str) -> None:
    """Add the base path to a redirect and to cookies."""
    target = response.headers.get(hdrs.LOCATION, "")
    if target.startswith("/") and not target.startswith("//"):
        response.headers[hdrs.LOCATION] = origin.with_base(request, target)
    cookies = response.headers.popall(hdrs.SET_COOKIE, [])
    for each in cookies:
        response.headers.add(hdrs.SET_COOKIE, _COOKIE_PATH.sub(f"Path={base}/", each))


_PARTIAL = 206


@web.middleware
async def compress(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Compress the body of a response."""
    response = await handler(request)
    if REFLECTS in request or response.prepared or not isinstance(response, web.Response):
        return response
    body = response.body
    if isinstance(body, bytes) and len(body) >= SMALLEST and _may_be_changed(response):
        vary(response)
        if takes_own_gzip(request):
            response.enable_compression(web.ContentCoding.gzip)
    return response


def _may_be_changed(response: web.Response) -> bool:
    """Return whether the body may be compressed.

    A body with an entity tag must not be, because the tag identifies its exact bytes.
    """
    headers = response.headers
    is_as_made = hdrs.ETAG not in headers and hdrs.CONTENT_ENCODING not in headers
    is_whole = response.status != _PARTIAL
    return is_as_made and is_whole and is_packable(headers.get(hdrs.CONTENT_TYPE, ""))


@web.middleware
async def measure(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Measure the handler's time and count its response, including raised redirects."""
    began = time.perf_counter()
    status = 500
    try:
        response = await handler(request)
    except web.HTTPException as error:
        status = error.status
        raise
    else:
        status = response.status
        return response
    finally:
        route = request.match_info.route.name or "none"
        request.app[METRICS].count_response(
            request.method, route, status, time.perf_counter() - began
        )
