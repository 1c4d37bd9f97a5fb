"""Snapshot page, capture list and screenshots."""

from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex

from aiohttp import web

from archiver.errors import InvalidUrl, NotFound
from archiver.http.timestamps import to_datetime, write_iso
from archiver.model.message import Message
from archiver.model.page import Piece, Side
from archiver.model.rendering import Rendering, RenditionKind
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.web.app_keys import ARCHIVED_URL, FRAME_REQUESTS, PERMISSIONS, RUNTIME
from archiver.web.origin import replay_origin, service_origin, with_base
from archiver.web.pages.errors import not_in_archive
from archiver.web.rendering import calendar, render, render_with_sidebar


async def captures(request: web.Request) -> web.StreamResponse:
    """List the captures of ``request[ARCHIVED_URL]``, newest first."""
    url = request[ARCHIVED_URL]
    newest_last = await request.app[RUNTIME].replay.captures_of(url)
    if not newest_last:
        return await not_in_archive(request, url)
    newest = tuple(reversed(newest_last))
    return await render_with_sidebar(
        request,
        "pages/captures.html",
        title=Message("Captures"),
        url=url,
        captures=newest,
        years=calendar(each.timestamp for each in newest),
    )


_YEAR = 365 * 86400
_FOREVER = f"private, max-age={_YEAR}, immutable"
_CONFINED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""Content security policy of images: an SVG file that is opened directly must not run scripts."""


async def rendition(request: web.Request) -> web.StreamResponse:
    """Send a screenshot or the PDF print of a snapshot."""
    place = request.match_info
    kind = RenditionKind(place["kind"])
    entries = request.app[RUNTIME].entries
    media_type, content = await entries.rendition(place["hash_url"], place["timestamp"], kind)
    name = f"{place['hash_url']}-{place['timestamp']}.{media_type.rpartition('/')[2]}"
    headers = {
        "Content-Type": media_type,
        "Cache-Control": _FOREVER,
        "Content-Disposition": f'inline; filename="{name}"',
    }
    return web.Response(body=content, headers=headers)


async def preview_image(request: web.Request) -> web.StreamResponse:
    """Send the favicon or preview image with a digest."""
    entries = request.app[RUNTIME].entries
    media_type, content = await entries.preview_image(request.match_info["digest"])
    headers = {
        "Content-Type": media_type,
        "Cache-Control": _FOREVER,
        "Content-Security-Policy": _CONFINED,
    }
    return web.Response(body=content, headers=headers)


async def snapshot(request: web.Request) -> web.StreamResponse:
    """Show a snapshot in a frame below the banner, or redirect to the one nearest in time."""
    key, timestamp = request.match_info["hash_url"], request.match_info["timestamp"]
    detail = await request.app[RUNTIME].entries.snapshot(key, timestamp)
    shown = detail.snapshot
    if shown.timestamp != timestamp:
        raise web.HTTPFound(f"/{key}/{shown.timestamp}/")
    # Show the final URL of a rendered page: scripts may have opened it, without an HTTP redirect.
    url, moment = shown.url, timestamp
    if shown.rendering is Rendering.DONE:
        url, moment = shown.final_url, shown.capture.timestamp
    banner = token_hex(8)
    entry = await request.app[RUNTIME].entries.get(key)
    return render(
        request,
        "pages/snapshot.html",
        title=detail.entry.title or shown.url,
        entry=detail.entry,
        snapshot=shown,
        detail=detail,
        frame_url=_framed(request, banner, ReplayAddress(moment, Modifier.FRAME, url)),
        timestamps=[each.timestamp for each in entry.snapshots],
        missing=[each for each in detail.requisites if each.is_missing],
        is_pdf=shown.capture.media_type == "application/pdf",  # not shown in sandboxed frames
        banner=banner,
    )


async def framed_page(request: web.Request) -> web.StreamResponse:
    """Return, as JSON, the page that a frame shows, or the address that it should load."""
    banner = request.match_info["banner"]
    frame_request = request.app[FRAME_REQUESTS].get(banner)
    if frame_request is None:
        raise web.HTTPNotFound
    if frame_request.wanted is not None:
        return web.json_response({"frame": _framed(request, banner, frame_request.wanted)})
    at, title, page = frame_request.timestamp, frame_request.url, ""
    if at is not None:
        with suppress(NotFound, InvalidUrl):
            entry = (await request.app[RUNTIME].entries.get(frame_request.url)).entry
            title = entry.title or frame_request.url
            page = with_base(request, f"/{entry.hash_url}/?at={at}")
    names = {
        "url": frame_request.url,
        "title": title,
        "read": page,
        "has_form": frame_request.has_form,
    }
    return web.json_response(names | {"at": write_iso(to_datetime(at)) if at else None})


def _framed(request: web.Request, banner: str, address: ReplayAddress) -> str:
    """Return the address of a memento in the frame below a banner, with an access token."""
    permissions = request.app[PERMISSIONS]
    permission = permissions.new(service_origin(request), banner)
    return replay_origin(request) + permissions.write(permission, address)


MIN_TO_COMPARE = 2
CONTEXT = 400
"""Characters of unchanged text shown around a change."""


async def compare(request: web.Request) -> web.StreamResponse:
    """Show the changes between ``from`` and ``to``; with ``side`` side by side."""
    parameters = request.query
    key, earlier, later = (
        request.match_info["hash_url"],
        parameters.get("from", ""),
        parameters.get("to", ""),
    )
    detail = await request.app[RUNTIME].entries.get(key)
    if len(detail.snapshots) < MIN_TO_COMPARE:
        return await render_with_sidebar(
            request,
            "pages/compare_alone.html",
            title=Message("Nothing to compare yet"),
            entry=detail.entry,
            snapshots=detail.snapshots,
        )
    difference = await request.app[RUNTIME].comparing.compare(key, earlier, later)
    return await render_with_sidebar(
        request,
        "pages/compare.html",
        compared=difference,
        snapshots=detail.snapshots,
        pieces=folded(difference.text.pieces),
        is_side="side" in parameters,
        title=difference.after.entry.title or difference.after.entry.url,
    )


@dataclass(frozen=True, slots=True)
class FoldedPiece:
    """Part of a comparison.

    Attributes:
        side: the snapshot that contains the text, or both.
        text: the text, or its beginning if the middle is hidden.
        folded: the hidden middle of a long unchanged text.
        end: the text after the hidden middle.
    """

    side: Side
    text: str
    folded: str = ""
    end: str = ""


def folded(pieces: tuple[Piece, ...]) -> tuple[FoldedPiece, ...]:
    """Return the pieces with the middle of long unchanged text folded."""
    folded_pieces = []
    for n, each in enumerate(pieces):
        text = each.text.replace("\n", "\n\n")
        if each.side is not Side.BOTH or len(text) < 3 * CONTEXT:
            folded_pieces.append(FoldedPiece(each.side, text))
            continue
        start = 0 if n == 0 else _end_of_words(text, CONTEXT)
        end = len(text) if n == len(pieces) - 1 else _end_of_words(text, len(text) - CONTEXT)
        folded_pieces.append(FoldedPiece(each.side, text[:start], text[start:end], text[end:]))
    return tuple(folded_pieces)


def _end_of_words(text: str, place: int) -> int:
    space = text.find(" ", place)
    return place if space < 0 else space
