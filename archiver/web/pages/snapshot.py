"""Snapshot page, and the comparison of two snapshots."""

from collections.abc import Sequence
from contextlib import suppress

from aiohttp import web

from archiver.errors import InvalidUrl, NotFound
from archiver.html.shown_article import ArticleTree
from archiver.memento.timestamps import to_datetime
from archiver.model.capture import Timestamp
from archiver.model.comparison import Piece, Side
from archiver.model.rendering import Rendering
from archiver.rewrite.address import Modifier, ReplayAddress
from archiver.services.entries import SnapshotDetail
from archiver.web.keys import PERMISSIONS, RUNTIME, SHOWN
from archiver.web.origin import home_of_replay, replay_origin
from archiver.web.reading_views import AloneView, CompareView, FoldedPiece
from archiver.web.render import render
from archiver.web.side import render_beside
from archiver.web.views import SnapshotView
from archiver.wire.moments import write_iso

PDF = "application/pdf"


async def snapshot(request: web.Request) -> web.StreamResponse:
    """Show the banner and the frame; a moment without a snapshot leads to the nearest."""
    key, asked = request.match_info["hash_url"], request.match_info["timestamp"]
    detail = await request.app[RUNTIME].entries.snapshot(key, asked)
    found = detail.snapshot
    if found.timestamp != asked:
        raise web.HTTPFound(f"/{key}/{found.timestamp}/")
    # Scripts may have led elsewhere, where no redirect does.
    is_shown = found.rendering is Rendering.DONE
    url, moment = (found.final_url, found.capture.timestamp) if is_shown else (found.url, asked)
    framed = ReplayAddress(moment, Modifier.FRAME, url)
    banner = request.app[SHOWN].new()
    frame = _framed(request, banner, framed)
    title = detail.entry.title or found.url
    entry = await request.app[RUNTIME].entries.get(key)
    marks = timeline([each.timestamp for each in entry.snapshots])
    missing = tuple(each for each in detail.requisites if each.is_missing)
    is_pdf = found.capture.media_type == PDF
    view = SnapshotView(detail.entry, found, detail, frame, title, marks, missing, is_pdf, banner)
    return render(request, "pages/snapshot.html", view)


async def shown(request: web.Request) -> web.StreamResponse:
    """Tell a banner, as JSON, what the frame below it shows, or where it is to lead that."""
    banner = request.match_info["banner"]
    found = request.app[SHOWN].of(banner)
    if found is None:
        raise web.HTTPNotFound
    if found.wanted is not None:
        return web.json_response({"frame": _framed(request, banner, found.wanted)})
    at, title, page = found.timestamp, found.url, ""
    if at is not None:
        with suppress(NotFound, InvalidUrl):
            entry = (await request.app[RUNTIME].entries.get(found.url)).entry
            title, page = entry.title or found.url, f"/{entry.hash_url}/?at={at}"
    names = {"url": found.url, "title": title, "read": page, "has_form": found.has_form}
    return web.json_response(names | {"at": write_iso(to_datetime(at)) if at else None})


def _framed(request: web.Request, banner: str, address: ReplayAddress) -> str:
    """Where the frame below a banner shows a memento, with the permission for it."""
    permissions = request.app[PERMISSIONS]
    given = permissions.new(home_of_replay(request), banner)
    return replay_origin(request) + permissions.write(given, address)


def timeline(timestamps: Sequence[Timestamp]) -> tuple[tuple[int, Timestamp], ...]:
    """Where each moment stands between the first (0) and the last (1000), oldest first."""
    ordered = sorted(timestamps)
    moments = [to_datetime(each).timestamp() for each in ordered]
    span = moments[-1] - moments[0] if moments else 0
    return tuple(
        (round(1000 * (moment - moments[0]) / span) if span else 500, each)
        for moment, each in zip(moments, ordered, strict=True)
    )


TWO = 2
CONTEXT = 400
"""Characters of what is the same that are shown around what is not."""


async def compare(request: web.Request) -> web.StreamResponse:
    """Show what came and went between ``from`` and ``to``; with ``side`` side by side."""
    asked = request.query
    key, earlier, later = request.match_info["hash_url"], asked.get("from", ""), asked.get("to", "")
    detail = await request.app[RUNTIME].entries.get(key)
    if len(detail.snapshots) < TWO:
        alone = AloneView(detail.entry, detail.snapshots)
        return await render_beside(request, "pages/compare_alone.html", alone)
    found = await request.app[RUNTIME].comparing.compare(key, earlier, later)
    side = "side" in asked
    view = CompareView(
        compared=found,
        snapshots=detail.snapshots,
        pieces=folded(found.text.pieces),
        articles=(_article(request, found.before), _article(request, found.after)) if side else (),
        title=found.after.entry.title or found.after.entry.url,
    )
    return await render_beside(request, "pages/compare.html", view)


def folded(pieces: tuple[Piece, ...]) -> tuple[FoldedPiece, ...]:
    """The pieces, long stretches that are the same with only their ends unfolded."""
    found = []
    for n, each in enumerate(pieces):
        text = each.text.replace("\n", "\n\n")
        if each.side is not Side.BOTH or len(text) < 3 * CONTEXT:
            found.append(FoldedPiece(each.side, text))
            continue
        start = 0 if n == 0 else _end_of_words(text, CONTEXT)
        end = len(text) if n == len(pieces) - 1 else _end_of_words(text, len(text) - CONTEXT)
        found.append(FoldedPiece(each.side, text[:start], text[start:end], text[end:]))
    return tuple(found)


def _end_of_words(text: str, place: int) -> int:
    space = text.find(" ", place)
    return place if space < 0 else space


def _article(request: web.Request, detail: SnapshotDetail) -> str:
    permissions, there = request.app[PERMISSIONS], replay_origin(request)
    permission = permissions.new(home_of_replay(request))

    def image(url: str) -> str:
        address = ReplayAddress(detail.snapshot.timestamp, Modifier.IMAGE, url)
        return there + permissions.write(permission, address)

    article = ArticleTree(detail.article)
    article.name_images()
    article.archive_media(image)
    article.make_scrollable()
    return article.html()
