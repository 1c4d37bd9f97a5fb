"""``/{hash_url}/compare``: two snapshots of an entry held against each other."""

from aiohttp import web

from archiver.html.shown_article import ArticleTree
from archiver.model.comparison import Piece, Side
from archiver.rewrite.address import Modifier, ReplayAddress
from archiver.services.entries import SnapshotDetail
from archiver.web.keys import PERMISSIONS, RUNTIME
from archiver.web.origin import home_of_replay, replay_origin
from archiver.web.reading_views import AloneView, CompareView, FoldedPiece
from archiver.web.side import render_beside

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
