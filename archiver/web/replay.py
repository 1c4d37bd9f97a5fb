"""``/web/…``: the captures themselves, in the Wayback Machine's form, with nothing of ours added.

What is served here was made by strangers. It comes without scripts, in an opaque origin, with
this path as the only place it may load from, without a cookie, and is never guessed to be of
another type than it says.
"""

from contextlib import aclosing

from aiohttp import web
from multidict import CIMultiDict

from archiver.errors import NotInArchive
from archiver.model.capture import Capture
from archiver.rewrite.address import (
    EVERY,
    PREFIX,
    Modifier,
    ReplayAddress,
    parse_replay_path,
    replay_path,
)
from archiver.services.replay import Replayed
from archiver.web import auth
from archiver.web.keys import ARCHIVED_URL, ORIGIN, RUNTIME
from archiver.web.origin import is_there, replay_origin
from archiver.web.pages.captures import captures
from archiver.web.pages.errors import not_in_archive
from archiver.web.replay_address import token_of, without_token

_REQUISITES = frozenset({Modifier.IMAGE, Modifier.STYLE, Modifier.SCRIPT})
_EXACT_DIGITS = 14
_NO_BODY = frozenset({204, 205, 304})
_ARCHIVED = frozenset(
    (
        "content-type",
        "content-disposition",
        "content-encoding",
        "content-language",
        "last-modified",
        "link",
        "location",
        "memento-datetime",
        "refresh",
    )
)
"""What a replayed answer may say for itself; whatever else a browser might act on stays out."""
_RECORDED = "x-archive-"
_FRAMED = {"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'"}


async def replay(request: web.Request) -> web.StreamResponse:
    """Serve a capture, or lead to the one that is nearest in time."""
    address = _address_of(request)
    there = replay_origin(request)
    if there and not is_there(request) and address.timestamp_prefix != EVERY:
        return _led_there(request, there)
    if address.timestamp_prefix == EVERY:
        request[ARCHIVED_URL] = address.url
        return await captures(request)
    service = request.app[RUNTIME].replay
    try:
        capture = await service.resolve(address)
    except NotInArchive:
        return _absent(request, address)
    elsewhere = _elsewhere(request, address, capture)
    if elsewhere is not None:
        return web.Response(status=302, headers=_headers(request) | {"Location": elsewhere})
    replayed = await service.open(
        capture,
        address.modifier,
        prefix=_prefix(request),
        frame_prefix=auth.frame_prefix(request),
    )
    return await _stream(request, replayed, _headers_of(request, address, capture, replayed))


def content_security_policy(origin: str, media_type: str = "", *, framed: bool = False) -> str:
    """Return the policy of a replayed answer: no script, no form, and one place to load from.

    Sources are absolute, since ``'self'`` is nothing in an opaque origin. ``http:`` sources also
    match ``https:`` of the same host (CSP §6.7.2.8), so a TLS proxy needs no word of ours.
    ``frame-ancestors`` can't name who may frame: above a frame inside a replayed page stands an
    opaque origin, which matches nothing. So what is asked for without a token may not be framed
    at all, and only our banner and the pages in it know one.

    Args:
        origin: ``http://host[:port]``, checked.
        media_type: of the answer. A PDF is not sandboxed, since browsers refuse to show it then;
            their viewers run no script of it in a page's reach, and it may still load nothing.
        framed: whether it may be framed.
    """
    here = f"{origin}/web/"
    rules = (
        "sandbox",
        "default-src 'none'",
        f"img-src {here} data:",
        f"style-src {here} 'unsafe-inline' data:",
        f"font-src {here} data:",
        f"media-src {here} data:",
        f"frame-src {here}",
        f"object-src {here}",
        "form-action 'none'",
        f"base-uri {here}",
        *(() if framed else ("frame-ancestors 'none'",)),
    )
    return "; ".join(rules[1:] if media_type == "application/pdf" else rules)


def _led_there(request: web.Request, there: str) -> web.Response:
    """Lead to the same on the origin that shows archived pages, with a permission if need be."""
    path = without_token(request.raw_path) or ""
    prefix = auth.replay_prefix(request)
    location = f"{there}{prefix}{path.removeprefix(PREFIX)}"
    return web.Response(status=302, headers=_headers(request) | {"Location": location})


def _may_be_framed(request: web.Request) -> bool:
    """Whether it is asked for by an address that only our banner and the pages in it know."""
    token = token_of(request.raw_path)
    return token is not None and auth.opens_replay(request, token)


def _prefix(request: web.Request) -> str:
    """Return what stands before the addresses in what is replayed: a frame stays in the frame."""
    if _may_be_framed(request):
        return auth.frame_prefix(request)
    return auth.replay_prefix(request)


def _address_of(request: web.Request) -> ReplayAddress:
    path = without_token(request.raw_path)
    if path is None:
        raise web.HTTPNotFound
    return parse_replay_path(path)


def _elsewhere(request: web.Request, address: ReplayAddress, capture: Capture) -> str | None:
    """Return where the capture is, if it is not what was asked for by its exact name.

    A style or an image of a page is served in its place all the same: a redirect for each would
    cost a round trip, and their own addresses are not looked at by people.
    """
    if _is_exact(address, capture):
        return None
    if len(address.timestamp_prefix) == _EXACT_DIGITS and address.modifier in _REQUISITES:
        return None
    path = replay_path(capture.timestamp, address.modifier, capture.url, prefix=_prefix(request))
    return None if path == request.raw_path else path


def _is_exact(address: ReplayAddress, capture: Capture) -> bool:
    return (address.timestamp_prefix, address.url) == (capture.timestamp, capture.url)


def _absent(request: web.Request, address: ReplayAddress) -> web.Response:
    """Answer 404: nothing to look at for a requisite, else a page."""
    if address.modifier in _REQUISITES:
        return web.Response(status=404, headers=_headers(request))
    is_framed = address.modifier is Modifier.FRAME and _may_be_framed(request)
    response = not_in_archive(request, address.url, is_framed=is_framed)
    if is_framed:
        response.headers.update(_FRAMED)  # may be framed, where our own pages may not
    return response


def _headers(request: web.Request, media_type: str = "") -> dict[str, str]:
    """What every answer of replay says, whatever the archived one said.

    The page's origin is opaque, so all it loads from us is cross-origin, and its fonts, which
    browsers fetch with CORS, are granted to ``null``; nothing else is readable by anyone.
    """
    headers = {
        "Content-Security-Policy": content_security_policy(
            request[ORIGIN], media_type, framed=_may_be_framed(request)
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex, nofollow, noarchive",
        "Cross-Origin-Opener-Policy": "unsafe-none",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Cache-Control": "private, no-cache",
        "Vary": "Sec-Fetch-Dest",
    }
    if request.headers.get("Sec-Fetch-Dest") == "font":
        headers["Access-Control-Allow-Origin"] = "null"
    return headers


def _headers_of(
    request: web.Request, address: ReplayAddress, capture: Capture, replayed: Replayed
) -> CIMultiDict[str]:
    headers = CIMultiDict(
        (name, value) for name, value in replayed.headers if _may_pass(name.lower())
    )
    headers.update(_headers(request, capture.media_type))
    if _is_exact(address, capture):
        headers["Cache-Control"] = "private, max-age=3600"
    else:
        headers["Content-Location"] = replay_path(
            capture.timestamp, address.modifier, capture.url, prefix=_prefix(request)
        )
    return headers


def _may_pass(name: str) -> bool:
    return name in _ARCHIVED or name.startswith(_RECORDED)


async def _stream(
    request: web.Request, replayed: Replayed, headers: CIMultiDict[str]
) -> web.StreamResponse:
    """Send the body as it is read; its first part before the head, so that errors are told."""
    response = web.StreamResponse(status=replayed.status, headers=headers)
    async with aclosing(replayed.body) as body:
        silent = request.method == "HEAD" or replayed.status in _NO_BODY
        first = b"" if silent else await anext(body, b"")
        await response.prepare(request)
        if not silent:
            await response.write(first)
            async for chunk in body:
                await response.write(chunk)
    await response.write_eof()
    return response
