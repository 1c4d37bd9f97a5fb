"""``/{hash_url}/``: the article to read, its snapshots, its details; and the same as text."""

from dataclasses import replace

from aiohttp import web

from archiver.errors import NotFound
from archiver.model.page import EXTRACTOR_VERSION, UNREAD, supersedes
from archiver.model.rendering import Rendering
from archiver.rewrite.address import Modifier, ReplayAddress, plain_path
from archiver.rewrite.article import archive_images, without_title
from archiver.services.entries import EntryDetail, SnapshotDetail
from archiver.web.keys import PERMISSIONS, RUNTIME
from archiver.web.origin import home_of_replay, replay_origin
from archiver.web.pages.editing import notice_of
from archiver.web.render import render
from archiver.web.views import EntryView

WORDS_A_MINUTE = 230


async def entry(request: web.Request) -> web.StreamResponse:
    """Show an entry, read at its newest snapshot or at the one named by ``at``."""
    entries, key = request.app[RUNTIME].entries, request.match_info["hash_url"]
    detail = await entries.get(key)
    try:
        shown = await entries.snapshot(key, request.query.get("at") or None)
    except NotFound:
        shown = None
    view = replace(_view(request, detail, shown), notice=await notice_of(request))
    return render(request, "pages/entry.html", view)


async def entry_markdown(request: web.Request) -> web.StreamResponse:
    """Show an entry as ``index.md``."""
    exports = request.app[RUNTIME].exports
    text = await exports.index_md(request.match_info["hash_url"], request.query.get("at") or None)
    return web.Response(text=text, content_type="text/markdown", charset="utf-8")


async def read_again(request: web.Request) -> web.StreamResponse:
    """Read an entry again that an older version of the extractor has read."""
    key = request.match_info["hash_url"]
    await request.app[RUNTIME].articles.read_entry_again(key)
    raise web.HTTPSeeOther(f"/{key}/")


def _view(request: web.Request, detail: EntryDetail, shown: SnapshotDetail | None) -> EntryView:
    title = detail.entry.title or detail.entry.url
    if shown is None:
        return EntryView(detail, None, "", "", "", "nothing", 0, title)
    there, capture = replay_origin(request), shown.snapshot.capture
    permissions = request.app[PERMISSIONS]
    permission = permissions.new(home_of_replay(request))
    payload = ReplayAddress(capture.timestamp, Modifier.IMAGE, capture.url)

    def write(address: ReplayAddress) -> str:
        return there + permissions.write(permission, address)

    return EntryView(
        detail=detail,
        shown=shown,
        article=archive_images(
            without_title(shown.article, title), shown.snapshot.timestamp, write=write
        ),
        payload_url=write(payload),
        payload_link=plain_path(payload),
        kind=_kind(shown),
        minutes=max(round(len(shown.article.split()) / WORDS_A_MINUTE), 1),
        title=title,
        is_outdated=supersedes(EXTRACTOR_VERSION, shown.snapshot.extractor)
        and shown.snapshot.extractor != UNREAD
        and shown.snapshot.rendering is not Rendering.DONE,
    )


def _kind(shown: SnapshotDetail) -> str:
    kind = shown.snapshot.capture.media_type
    if kind.startswith("image/"):
        return "image"
    if kind == "application/pdf":
        return "pdf"
    if shown.article:
        return "article"
    if shown.snapshot.extractor == UNREAD:
        return "unread"
    return "page" if kind in ("text/html", "application/xhtml+xml", "") else "file"
