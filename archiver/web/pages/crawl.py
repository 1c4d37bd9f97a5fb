"""Crawl status page and recovery from public archives."""

from aiohttp import web

from archiver.errors import InputError
from archiver.model.message import Message
from archiver.web.api.json_http import whole_number
from archiver.web.app_keys import RUNTIME
from archiver.web.pages.editing import back, return_path, selection
from archiver.web.rendering import render, render_with_sidebar


async def work(request: web.Request) -> web.StreamResponse:
    """Show jobs, waiting hosts, and failures."""
    app = request.app[RUNTIME]
    outcome, count = outcome_of(request)
    return await render_with_sidebar(
        request,
        "pages/crawl.html",
        title=Message("Activity"),
        work=await app.crawl_status.state(),
        archives=app.recovery.archives,
        backlog=app.uploading.backlog if app.uploading else None,
        incomplete_exports=sum(bool(each.problem) for each in await app.export_jobs.all()),
        outcome=outcome,
        count=count,
        imports=[each for each in await app.import_statuses.recent() if each.is_open],
    )


def outcome_of(request: web.Request) -> tuple[str, int]:
    """Return the parts of ``done``, which says what an action did, such as ``queued-3``."""
    outcome, _, digits = request.query.get("done", "").partition("-")
    return outcome, whole_number(digits) or 0


async def progress(request: web.Request) -> web.StreamResponse:
    """Show the progress of the crawl alone, for the top bar of open pages."""
    activity = await request.app[RUNTIME].navigation.activity()
    return render(request, "activity.html", title="", activity=activity)


async def redirect_from_crawl(request: web.Request) -> web.StreamResponse:
    """Redirect from the former address of the activity page."""
    query = request.rel_url.raw_query_string
    raise web.HTTPPermanentRedirect(f"/activity?{query}" if query else "/activity")


async def change(request: web.Request) -> web.StreamResponse:
    """Pause, resume, cancel or retry jobs, or request pages from public archives."""
    form, oversight = await request.post(), request.app[RUNTIME].crawl_status
    does = str(form.get("do", ""))
    if does in ("pause", "resume"):
        await oversight.pause(paused=does == "pause")
        raise web.HTTPSeeOther(return_path(form, "/activity"))
    if does == "cancel":
        if form.get("sure") != "1":
            raise web.HTTPSeeOther("/activity?done=ask#cancel")
        count = await oversight.cancel()
        raise web.HTTPSeeOther(f"/activity?done=cancelled-{count}")
    if does == "again":
        count = await oversight.try_again(str(form.get("reason", "")))
        raise web.HTTPSeeOther(f"/activity?done=queued-{count}")
    if does == "rescue":
        count = await request.app[RUNTIME].recovery.rescue_failed_of(str(form.get("reason", "")))
        raise web.HTTPSeeOther(f"/activity?done=asked-{count}")
    raise InputError("This form is outdated. Reload the page and try again.")


async def rescue(request: web.Request) -> web.StreamResponse:
    """Request an entry from public archives, and show the entry with the progress."""
    key = request.match_info["hash_url"]
    await request.app[RUNTIME].recovery.rescue([key])
    raise web.HTTPSeeOther(f"/{key}/")


async def capture_selected(request: web.Request) -> web.StreamResponse:
    """Queue the selected entries, or all of a list, to be captured again."""
    form, recaptures = await request.post(), request.app[RUNTIME].recaptures
    refs, query = selection(form)
    count = await (recaptures.matching(query) if query else recaptures.entries(refs))
    return back(form, "/snapshots", queued=count)


async def rescue_selected(request: web.Request) -> web.StreamResponse:
    """Request the selected entries, or all of a list, from public archives."""
    form, recovery = await request.post(), request.app[RUNTIME].recovery
    refs, query = selection(form)
    count = await (recovery.rescue_found(query) if query else recovery.rescue(refs))
    return back(form, "/snapshots", rescued=count)
