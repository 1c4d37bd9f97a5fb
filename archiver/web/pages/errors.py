"""Error pages."""

from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from archiver.errors import InvalidUrl
from archiver.http.urls import parse_url
from archiver.model.message import Message
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.web.app_keys import FRAME_REQUESTS, PERMISSIONS, RUNTIME, SESSION, SIGNED_IN
from archiver.web.origin import is_replay_origin, with_base
from archiver.web.rendering import render, render_with_sidebar
from archiver.web.replay_requests import FrameRequest, token_of
from archiver.web.signing import Permission

TITLES = {
    400: Message("Invalid request"),
    401: Message("Sign-in required"),
    403: Message("Not allowed"),
    404: Message("Not found"),
    405: Message("Not supported"),
    408: Message("Timeout"),
    413: Message("Too large"),
    415: Message("Unsupported file type"),
    422: Message("Invalid input"),
    429: Message("Too many attempts"),
    500: Message("Internal error"),
    503: Message("Temporarily unavailable"),
}
"""Titles of error pages by HTTP status (RFC 9110 §15), in words for users."""

_UNAVAILABLE = 503
"""Status of an error of the index, which contains the navigation."""


async def error_page(
    request: web.Request, status: int, message: Message, *, is_in_bin: bool = False
) -> web.StreamResponse:
    """Render an error page; with ``is_in_bin``, it has a link to the bin."""
    return await _with_navigation(
        request,
        "pages/error.html",
        status=status,
        title=TITLES.get(status, Message("Error")),
        message=message,
        needs_sign_in=status == HTTPStatus.UNAUTHORIZED,
        is_in_bin=is_in_bin,
    )


async def _with_navigation(
    request: web.Request, template: str, *, status: int, **view: Any
) -> web.StreamResponse:
    """Render a page; include the navigation if the client may see it and it can be read."""
    is_locked = request.app[RUNTIME].access.is_locked
    is_admitted = request[SIGNED_IN] or (request[SESSION] and not is_locked)
    is_page = request.headers.get("Sec-Fetch-Dest", "document") == "document"
    if is_admitted and is_page and not is_replay_origin(request) and status != _UNAVAILABLE:
        # If the navigation can't be read either, the page says what happened without it.
        with suppress(Exception):
            return await render_with_sidebar(request, template, status=status, **view)
    return render(request, template, status=status, **view)


async def not_in_archive(
    request: web.Request, url: str, *, is_framed: bool = False, home: str = ""
) -> web.StreamResponse:
    """Render the page for a URL without captures, with a button to capture it.

    In the frame below a replay banner, forms do not work, and links open outside of the frame. If
    replay has a separate origin, these links lead to `home`, the origin of the service.
    """
    try:
        parse_url(url)
        can_capture = True
    except InvalidUrl:
        can_capture = False
    view: dict[str, Any] = {
        "title": Message("Not in the archive"),
        "url": url,
        "can_capture": can_capture,
        "is_framed": is_framed,
        "home": home,
    }
    if is_framed:
        return render(request, "pages/absent.html", status=404, **view)
    return await _with_navigation(request, "pages/absent.html", status=404, **view)


_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'"
"""Policy of the page of ``passage``. The page has no archived content, so any site may frame it."""
_FRAMES = frozenset({"iframe", "frame", "object", "embed"})


def passage(request: web.Request, address: ReplayAddress) -> web.Response:
    """Return a page with a link to the memento, for a request without a valid access token.

    The status is 401. In the frame below a replay banner the status is 200, and the request is
    recorded, so that the banner's script can load the frame with a new token.
    """
    permission, dest = _permission_in_token(request, address), request.headers.get("Sec-Fetch-Dest")
    is_framed = address.modifier is Modifier.FRAME and dest != "document"
    banner = permission.banner if permission and is_framed else ""
    if banner:
        request.app[FRAME_REQUESTS][banner] = FrameRequest(address.url, wanted=address)
    modifier = Modifier.NONE if address.modifier is Modifier.FRAME else address.modifier
    path = request.app[PERMISSIONS].plain(
        ReplayAddress(address.timestamp_prefix, modifier, address.url)
    )
    if is_replay_origin(request):
        home = permission.home if permission else ""
        onward = by_itself = home and home + path
    else:
        login = with_base(request, "/login?" + urlencode({"next": path}))
        onward, by_itself = path, login
    response = render(
        request,
        "pages/passage.html",
        title=Message("Another page in the archive"),
        url=address.url,
        onward=onward,
        by_itself="" if banner or dest in _FRAMES else by_itself,
        status=200 if banner else 401,
    )
    response.headers["Content-Security-Policy"] = _POLICY
    if not banner:
        response.headers["WWW-Authenticate"] = 'Bearer realm="archiver"'
    return response


def _permission_in_token(request: web.Request, address: ReplayAddress) -> Permission | None:
    """Return the permission in the request's token, even if expired; None without a valid token.

    The permission has the service's origin and the banner's number.
    """
    token = token_of(request.raw_path)
    return request.app[PERMISSIONS].stated(token, address) if token else None
