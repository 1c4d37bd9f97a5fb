"""Settings and bin pages."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from aiohttp import web

from archiver.config import NO_RULE, SiteRule
from archiver.errors import InputError
from archiver.http.site_rules import names_port, site_name
from archiver.model.message import Message
from archiver.services.health import last_check
from archiver.services.preferences import InvalidValues
from archiver.web import auth
from archiver.web.app_keys import LISTENERS, RELOAD, RUNTIME
from archiver.web.middleware import FORM_BYTES
from archiver.web.origin import public_origin
from archiver.web.pages.editing import notice_of, parse_number
from archiver.web.rendering import render_with_sidebar

GROUPS = {
    "capture": (
        *("render", "rescue", "allow_networks", "retries", "host_delay", "host_concurrency"),
        *("concurrency", "user_agent", "max_body_bytes", "max_requisites", "page_timeout"),
        "trackers",
    ),
    "library": ("articles",),
    "feeds": ("feed_interval",),
    "appearance": (),
    "maintenance": ("quiet_hour", "bin_days"),
}
"""Settings that the page changes, by section."""
MAX_BINNED = 1_000
"""Maximum number of items that the page of the bin shows."""
STOP_SECONDS = 1.0
"""Maximum time until services that are asked to restart accept no more connections."""
SITE_FIELDS = ("render", "delay", "user_agent", "never_save")


@dataclass(frozen=True, slots=True)
class Site:
    """Rule of a host, and the number of its cookies."""

    host: str = ""
    rule: SiteRule = NO_RULE
    cookies: int = 0


async def change_settings(request: web.Request) -> web.StreamResponse:
    """Store the settings of a section, and restart the services if one needs it."""
    form, preferences = await request.post(), request.app[RUNTIME].preferences
    preferences_by_name = await preferences.all()
    section = str(form.get("section", ""))
    if section not in GROUPS:
        raise InputError("This form is outdated. Reload the page and try again.")
    values: dict[str, str | None] = {}
    for name in GROUPS[section]:
        preference = preferences_by_name[name]
        if not preference.is_fixed:
            texts = (str(each).strip() for each in form.getall(name, []))
            values[name] = ", ".join(filter(None, texts)) or None
    try:
        is_pending = await preferences.change(values)
    except InputError as error:
        typed = {name: value or "" for name, value in values.items()}
        return await _show(request, section, error, typed)
    where = "/settings" if section == "capture" else f"/settings/{section}"
    response = web.HTTPSeeOther(f"{where}?saved=1")
    if is_pending:
        # The next request must reach the restarted services: by then, these accept no connection.
        response.force_close()
        request.app[RELOAD].set()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await request.app[LISTENERS].closing.wait()
    raise response


async def settings(request: web.Request) -> web.StreamResponse:
    """Show a section of the settings; without a name, that of captures."""
    return await _show(request, request.match_info.get("section", "capture"))


async def _show(
    request: web.Request,
    section: str,
    error: InputError | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
) -> web.StreamResponse:
    """Show a section; after an error with the values as ``typed``."""
    app = request.app[RUNTIME]
    preferences = await app.preferences.all()
    view: dict[str, Any] = {
        "title": Message("Settings"),
        "section": section,
        "preferences": {name: preferences[name] for name in GROUPS[section]},
        "origin": public_origin(request),
        "key": auth.bookmarklet_key(request),
        "problem": error.sentence if error else "",
        "reasons": error.reasons if isinstance(error, InvalidValues) else {},
        "is_saved": "saved" in request.query,
        "typed": typed,
    }
    template = "pages/settings.html"
    if section == "maintenance":
        template = "pages/settings_maintenance.html"
        view |= {
            "title": Message("Maintenance"),
            "upkeep": app.upkeep,
            "checked": await last_check(app.settings.data),
            "storage": await app.crawl_status.storage_usage(),
            "free_bytes": await app.crawl_status.free_bytes(),
            "bin_days": app.settings.bin_days,
            "quiet_hour": app.settings.quiet_hour,
            "data": str(app.settings.data.absolute()),
        }
    return await render_with_sidebar(request, template, status=400 if error else 200, **view)


async def sites(request: web.Request) -> web.StreamResponse:
    """Show the rules and cookies of sites, and a form for one of them."""
    return await _sites(request, Site(request.query.get("host", "")))


async def change_sites(request: web.Request) -> web.StreamResponse:
    """Store the rule and cookies of a site, or remove them."""
    form, app = await request.post(), request.app[RUNTIME]
    typed_host = str(form.get("host", ""))
    values: dict[str, Any] = {name: str(form.get(name, "")).strip() for name in SITE_FIELDS}
    try:
        host = site_name(typed_host)
        if form.get("do") == "remove":
            is_removed = await app.preferences.remove_site_rule(host)
            await app.cookie_settings.remove(host, exactly=True, must_exist=not is_removed)
        else:
            await app.preferences.set_site_rule(host, values)
            file, pasted = form.get("file"), str(form.get("cookies", "")).strip()
            if isinstance(file, web.FileField) and (content := file.file.read(FORM_BYTES)):
                await app.cookie_settings.take(content)
            if pasted:
                is_secure = not typed_host.strip().lower().startswith("http://")
                await app.cookie_settings.paste(pasted, host, is_secure=is_secure)
    except InputError as error:
        edited = Site(typed_host, SiteRule(**values))
        return await _sites(request, edited, error)
    raise web.HTTPSeeOther(
        f"/settings/sites?saved={'all-ports' if names_port(typed_host) else '1'}"
    )


async def _sites(
    request: web.Request, edited: Site, error: InputError | None = None
) -> web.StreamResponse:
    app = request.app[RUNTIME]
    rules = await app.preferences.site_rules()
    cookies = Counter(each.host.removeprefix(".") for each in await app.cookie_settings.list())
    sites = {
        host: Site(host, rules.get(host, NO_RULE), cookies[host])
        for host in sorted(rules.keys() | cookies.keys())
    }
    return await render_with_sidebar(
        request,
        "pages/settings_sites.html",
        title=Message("Sites"),
        status=400 if error else 200,
        sites=sites.values(),
        edited=edited if error else sites.get(edited.host, edited),
        is_known=edited.host in sites,
        problem=error.sentence if error else "",
        reasons=error.reasons if isinstance(error, InvalidValues) else {},
        is_saved="saved" in request.query,
        named_port=request.query.get("saved") == "all-ports",
    )


async def maintain(request: web.Request) -> web.StreamResponse:
    """Start a maintenance task."""
    form = await request.post()
    request.app[RUNTIME].upkeep.start(str(form.get("do", "")))
    raise web.HTTPSeeOther("/settings/maintenance")


async def components(request: web.Request) -> web.StreamResponse:
    """Show all components of the design system, for contributors."""
    return await render_with_sidebar(request, "pages/components.html", title="Components")


async def bin_page(request: web.Request) -> web.StreamResponse:
    """List what was deleted and can be restored."""
    app = request.app[RUNTIME]
    binned = await app.deleting.bin(MAX_BINNED)
    return await render_with_sidebar(
        request,
        "pages/bin.html",
        title=Message("Bin"),
        binned=binned,
        more=await app.deleting.size_of_bin() - len(binned),
        days=app.settings.bin_days,
        upkeep=app.upkeep,
        notice=await notice_of(request),
        asks="empty" in request.query,
        was_emptied="emptied" in request.query,
    )


async def change_bin(request: web.Request) -> web.StreamResponse:
    """Restore the selected items, or everything; or erase everything."""
    form, app = await request.post(), request.app[RUNTIME]
    does = str(form.get("do", ""))
    if does == "empty":
        if form.get("sure") == "1":
            app.upkeep.start("empty-bin")
            raise web.HTTPSeeOther("/bin?emptied=1")
        raise web.HTTPSeeOther("/bin?empty=ask#empty")
    if does == "all":
        done = await app.deleting.restore_from_bin()
    elif does == "restore":
        selected: dict[int, list[str]] = defaultdict(list)
        for each in form.getall("item", []):
            text, _, key = str(each).partition(" ")
            selected[parse_number(text)].append(key)
        if not selected:
            raise web.HTTPSeeOther("/bin?nothing=1")
        done = await app.deleting.restore_items(
            {number: None if "" in keys else keys for number, keys in selected.items()}
        )
    else:
        raise InputError("This form is outdated. Reload the page and try again.")
    raise web.HTTPSeeOther(
        f"/bin?restored={done.entries or done.snapshots}&not_restored={done.not_restored}"
    )
