"""Settings and bin pages."""

from collections import defaultdict

from aiohttp import web

from archiver.errors import InputError, NotFound
from archiver.model.message import Message
from archiver.web import auth
from archiver.web.app_keys import RELOAD, RUNTIME
from archiver.web.origin import public_origin
from archiver.web.pages.editing import notice_of, number
from archiver.web.rendering import render_with_sidebar
from archiver.web.views import BinView, SettingsView

GROUPS = {
    "capture": (
        *("render", "rescue", "allow_networks", "retries", "host_delay", "host_concurrency"),
        *("concurrency", "user_agent", "max_body_bytes", "max_requisites", "page_timeout"),
        *("trackers", "articles"),
    ),
    "feeds": ("feed_interval",),
    "maintenance": ("quiet_hour", "bin_days"),
}
"""Settings that the page changes, by section."""


async def settings(request: web.Request) -> web.StreamResponse:
    """Show the settings that can be changed."""
    return await _settings(request)


async def change_settings(request: web.Request) -> web.StreamResponse:
    """Store the settings of a section, and restart the services if any of them changed."""
    form, preferences = await request.post(), request.app[RUNTIME].preferences
    known = await preferences.all()
    values: dict[str, str | None] = {}
    for name in GROUPS.get(str(form.get("section", "")), ()):
        preference = known[name]
        if not preference.is_fixed:
            given = str(form.get(name, "false" if preference.is_switch else ""))
            values[name] = given.strip() or None
    try:
        is_changed = await preferences.change(values)
    except InputError as error:
        return await _settings(request, error.sentence, status=400)
    response = web.HTTPSeeOther("/settings?saved=1")
    if is_changed:
        response.force_close()  # the next request must reach the restarted services
        request.app[RELOAD].set()
    raise response


async def _settings(
    request: web.Request, problem: Message | str = "", *, status: int = 200
) -> web.StreamResponse:
    view = SettingsView(
        here=public_origin(request),
        key=auth.bookmarklet_key(request),
        preferences=await request.app[RUNTIME].preferences.all(),
        groups=GROUPS,
        problem=problem,
        is_saved="saved" in request.query,
    )
    return await render_with_sidebar(request, "pages/settings.html", view, status=status)


async def bin_page(request: web.Request) -> web.StreamResponse:
    """List what was deleted and can be restored."""
    app = request.app[RUNTIME]
    found = tuple(await app.deleting.bin())
    view = BinView(
        found,
        app.settings.bin_days,
        await notice_of(request),
        asks="empty" in request.query,
        is_emptying=app.upkeep.is_running and not app.upkeep.progress,
    )
    return await render_with_sidebar(request, "pages/bin.html", view)


async def change_bin(request: web.Request) -> web.StreamResponse:
    """Restore the selected items, or everything; or erase everything."""
    form, app = await request.post(), request.app[RUNTIME]
    does = str(form.get("do", ""))
    if does == "empty":
        if form.get("sure") == "1":
            app.upkeep.empty_bin()
            raise web.HTTPSeeOther("/bin")
        raise web.HTTPSeeOther("/bin?empty=ask#empty")
    if does == "all":
        done = await app.deleting.restore_from_bin()
        raise web.HTTPSeeOther(
            f"/bin?restored={done.entries or done.snapshots}&stayed={done.stayed}"
        )
    if does != "restore":
        raise InputError("The form has an unknown action.")
    wanted: dict[int, list[str]] = defaultdict(list)
    for each in form.getall("item", []):
        text, _, key = str(each).partition(" ")
        wanted[number(text)].append(key)
    if not wanted:
        raise web.HTTPSeeOther("/bin?nothing=1")
    restored = stayed = 0
    for deletion, keys in wanted.items():
        try:
            done = await app.deleting.undo(deletion, None if "" in keys else keys)
        except (InputError, NotFound):
            stayed += 1
        else:
            restored, stayed = restored + (done.entries or done.snapshots), stayed + done.stayed
    raise web.HTTPSeeOther(f"/bin?restored={restored}&stayed={stayed}")
