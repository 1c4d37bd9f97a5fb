"""Settings and bin pages."""

from collections import defaultdict

from aiohttp import web

from archiver.errors import InputError, NotFound
from archiver.web.app_keys import RUNTIME
from archiver.web.origin import public_origin
from archiver.web.pages.editing import notice_of, number
from archiver.web.rendering import render_beside
from archiver.web.views import BinView, SettingsView


async def settings(request: web.Request) -> web.StreamResponse:
    """Show the settings that can be changed."""
    return await render_beside(request, "pages/settings.html", SettingsView(public_origin(request)))


async def bin_page(request: web.Request) -> web.StreamResponse:
    """List what was deleted and can be restored."""
    app = request.app[RUNTIME]
    found = tuple(await app.deleting.bin())
    view = BinView(
        found, app.settings.bin_days, await notice_of(request), asks="empty" in request.query
    )
    return await render_beside(request, "pages/bin.html", view)


async def change_bin(request: web.Request) -> web.StreamResponse:
    """Restore the selected items, or everything; or erase everything."""
    form, app = await request.post(), request.app[RUNTIME]
    does = str(form.get("do", ""))
    if does == "empty":
        if form.get("sure") == "1":
            await app.compacting.compact(empty_bin=True)
            raise web.HTTPSeeOther("/bin")
        raise web.HTTPSeeOther("/bin?empty=ask#empty")
    if does == "all":
        done = await app.deleting.restore_from_bin()
        raise web.HTTPSeeOther(
            f"/bin?restored={done.entries or done.snapshots}&stayed={done.stayed}"
        )
    if does != "restore":
        raise InputError("Items in the bin can be restored or erased.")
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
