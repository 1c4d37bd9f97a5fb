"""Replay under ``/web/``.

Replayed content is untrusted. It is served without scripts and cookies, in an opaque origin, and
with MIME sniffing disabled. ``/web/`` is the only source of its resources.
"""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from aiohttp import hdrs, web
from multidict import CIMultiDict

from archiver.errors import NotInArchive
from archiver.model.capture import Capture
from archiver.replay.addresses import (
    ALL_CAPTURES,
    Modifier,
    ReplayAddress,
    parse_replay_path,
)
from archiver.replay.conditional_requests import Conditions
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer, security_headers
from archiver.services.replay import Replayed
from archiver.web.app_keys import ARCHIVED_URL, FRAME_REQUESTS, ORIGIN, PERMISSIONS, RUNTIME
from archiver.web.origin import base_path, is_replay_origin, replay_origin, service_origin
from archiver.web.pages.errors import not_in_archive
from archiver.web.pages.snapshot import captures
from archiver.web.replay_requests import FrameRequest, permission_of, without_token
from archiver.web.responses import SMALLEST, is_packable, send_pieces, takes_gzip, vary

_REQUISITES = frozenset({Modifier.IMAGE, Modifier.STYLE, Modifier.SCRIPT})
_EXACT_DIGITS = 14
_FORM = re.compile(rb"<form[\s>]", re.IGNORECASE)
_FORM_LENGTH = 6
_WITHOUT_LENGTH = frozenset({204, 304})
"""Statuses whose response never has a body (RFC 9110 §8.6)."""
_FRAMED = {"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'"}


async def replay(request: web.Request) -> web.StreamResponse:
    """Serve a capture, or redirect to the one that is nearest in time."""
    address = _address_of(request)
    replay_at = replay_origin(request)
    if replay_at and not is_replay_origin(request) and address.timestamp_prefix != ALL_CAPTURES:
        return _redirect_to_replay_origin(request, replay_at, address)
    if address.timestamp_prefix == ALL_CAPTURES:
        request[ARCHIVED_URL] = address.url
        return await captures(request)
    service = request.app[RUNTIME].replay
    try:
        capture = await service.resolve(address)
    except NotInArchive:
        return await _absent(request, address)
    replay_request = _replay_request(request, address, capture)
    exact = _exact_address(request, address, capture, replay_request)
    if exact is not None:
        return web.Response(status=302, headers=_headers(request) | {"Location": exact})
    frame_request = FrameRequest(capture.url, capture.timestamp)
    banner = _note_request(request, address, frame_request)
    replayed = await service.open(capture, replay_request)
    if banner and replayed.is_made:
        requests = request.app[FRAME_REQUESTS]

        def note_form() -> None:
            if requests.get(banner) == frame_request:  # the frame has not requested another page
                requests[banner] = replace(frame_request, has_form=True)

        replayed = replace(replayed, body=_with_forms_noted(replayed.body, note_form))
    return await _stream(request, replayed, is_followed=bool(banner))


def _redirect_to_replay_origin(
    request: web.Request, replay_at: str, address: ReplayAddress
) -> web.Response:
    """Redirect to the replay origin, with an access token if one is needed."""
    permissions = request.app[PERMISSIONS]
    write = permissions.plain
    if permissions.has_password or permission_of(request):
        write = partial(permissions.write, permissions.new(service_origin(request)))
    return web.Response(
        status=302, headers=_headers(request) | {"Location": replay_at + write(address)}
    )


def _address_of(request: web.Request) -> ReplayAddress:
    path = without_token(request.raw_path)
    if path is None:
        raise web.HTTPNotFound
    return parse_replay_path(path)


def _exact_address(
    request: web.Request, address: ReplayAddress, capture: Capture, replay_request: ReplayRequest
) -> str | None:
    """Return the exact address of the capture for a redirect; None if no redirect is needed.

    No redirect is needed if the request has the exact URL and timestamp of the capture. Images,
    styles and scripts with a full timestamp are never redirected: a redirect would cost a round
    trip, and users do not see these addresses.
    """
    if replay_request.is_exact:
        return None
    if len(address.timestamp_prefix) == _EXACT_DIGITS and address.modifier in _REQUISITES:
        return None
    exact = ReplayAddress(capture.timestamp, address.modifier, capture.url)
    path = replay_request.paths.redirect(exact)
    return None if path == base_path(request) + request.raw_path else path


def _note_request(request: web.Request, address: ReplayAddress, frame_request: FrameRequest) -> str:
    """Record what the frame below a replay banner shows; return the number of the banner.

    The result is "" if the response is not in the frame below a banner.
    """
    permission = permission_of(request)
    if permission is None or not permission.banner or address.modifier is not Modifier.FRAME:
        return ""
    request.app[FRAME_REQUESTS][permission.banner] = frame_request
    return permission.banner


async def _with_forms_noted(
    body: AsyncGenerator[bytes, None], note: Callable[[], None]
) -> AsyncGenerator[bytes, None]:
    """Yield the body; call ``note`` once, before sending the first chunk with a form."""
    is_noted, end = False, b""
    async with aclosing(body):
        async for piece in body:
            if not is_noted and _FORM.search(end + piece):
                is_noted = True
                note()
            end = piece[-_FORM_LENGTH:]
            yield piece


async def _absent(request: web.Request, address: ReplayAddress) -> web.StreamResponse:
    """Return 404: an empty response for a requisite, else a page."""
    if address.modifier in _REQUISITES:
        is_style = address.modifier is Modifier.STYLE
        # For a style sheet without a media type, Chromium logs a second console message.
        kind = {"Content-Type": "text/css"} if is_style else {}
        return web.Response(status=404, headers=_headers(request) | kind)
    permission = permission_of(request)
    is_framed = address.modifier is Modifier.FRAME and permission is not None
    home = permission.home if permission else ""
    response = await not_in_archive(request, address.url, is_framed=is_framed, home=home)
    if is_framed:
        _note_request(request, address, FrameRequest(address.url))
        response.headers.update(_FRAMED)  # this page may be framed, other pages may not
    return response


def _headers(request: web.Request) -> dict[str, str]:
    """Return the headers of a redirect, or of a response for a URL without captures."""
    return {**dict(security_headers(_viewer(request))), "Cache-Control": "private, no-cache"}


def _viewer(request: web.Request) -> Viewer:
    return Viewer(
        origin=request[ORIGIN],
        has_token=permission_of(request) is not None,
        base=base_path(request),
    )


def _replay_request(
    request: web.Request, address: ReplayAddress, capture: Capture
) -> ReplayRequest:
    permissions = request.app[PERMISSIONS]
    return ReplayRequest(
        viewer=_viewer(request),
        modifier=address.modifier,
        paths=permissions.writers(permission_of(request)),
        paths_end=permissions.has_password,
        is_exact=(address.timestamp_prefix, address.url) == (capture.timestamp, capture.url),
        conditions=_conditions(request),
        is_head=request.method == hdrs.METH_HEAD,
    )


def _conditions(request: web.Request) -> Conditions:
    fields = (hdrs.IF_MATCH, hdrs.IF_NONE_MATCH, hdrs.IF_RANGE, hdrs.RANGE)
    return Conditions(*(", ".join(request.headers.getall(name, ())) for name in fields))


async def _stream(
    request: web.Request, replayed: Replayed, *, is_followed: bool
) -> web.StreamResponse:
    """Send the body as it is read.

    A decoded or rewritten body is compressed if the client accepts it. Stored bytes are sent
    unchanged.

    Browsers must not cache content in the frame below a replay banner, not even for the Back
    button, so that each page view is a request and the banner knows the page.
    """
    response = web.StreamResponse(status=replayed.status, headers=CIMultiDict(replayed.headers))
    if is_followed:
        response.headers["Cache-Control"] = "no-store"
    is_packed = False
    if replayed.is_made and is_packable(response.headers.get(hdrs.CONTENT_TYPE, "")):
        vary(response)
        if replayed.length is None or replayed.length >= SMALLEST:
            is_packed = takes_gzip(request)
    if replayed.status not in _WITHOUT_LENGTH and not is_packed:
        response.content_length = replayed.length
    return await send_pieces(request, response, replayed.body, is_packed=is_packed)
