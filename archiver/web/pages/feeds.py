"""Feed page."""

from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web
from aiohttp.web_request import FileField

from archiver.errors import FetchError, InputError
from archiver.model.message import Message
from archiver.services.feeds import OtherFormat
from archiver.web.app_keys import RUNTIME
from archiver.web.pages.crawl import outcome_of
from archiver.web.rendering import render_with_sidebar, wording_of
from archiver.web.wording import why

_Form = dict[str, str | FileField]


async def change(request: web.Request) -> web.StreamResponse:
    """Follow, check or unfollow feeds; errors are shown above the form."""
    sent = await request.post()
    form = {key: value for key, value in sent.items() if not isinstance(value, bytes | bytearray)}
    try:
        return await _ACTIONS.get(_text(form, "do"), _unknown)(request, form)
    except InputError as error:
        return await feeds(
            request,
            problem=_why(request, error),
            url=_text(form, "url"),
            is_other_form=isinstance(error, OtherFormat),
            status=400,
        )


def _why(request: web.Request, error: InputError) -> Message | str:
    """Return the message of an error; if the feed could not be fetched, return the reason."""
    cause = error.__cause__
    return (
        why(wording_of(request), cause.failure) if isinstance(cause, FetchError) else error.sentence
    )


async def export_opml(request: web.Request) -> web.StreamResponse:
    """Export the feeds as OPML."""
    return web.Response(
        body=await request.app[RUNTIME].subscriptions.export_opml(),
        content_type="text/x-opml",
        charset="utf-8",
        headers={"Content-Disposition": 'attachment; filename="feeds.opml"'},
    )


async def feeds(
    request: web.Request,
    *,
    problem: Message | str = "",
    url: str = "",
    is_other_form: bool = False,
    status: int = 200,
) -> web.StreamResponse:
    """Show the feeds."""
    runtime = request.app[RUNTIME]
    followed = await runtime.subscriptions.all()
    outcome, count = outcome_of(request)
    return await render_with_sidebar(
        request,
        "pages/feeds.html",
        title=Message("Feeds"),
        status=status,
        feeds=followed,
        contents=await runtime.subscriptions.contents(followed),
        problem=problem,
        is_other_form=is_other_form,
        given=url or request.query.get("url", ""),
        outcome=outcome,
        count=count,
    )


async def _follow(request: web.Request, form: _Form) -> web.StreamResponse:
    subscriptions = request.app[RUNTIME].subscriptions
    before = len(await subscriptions.all())
    await subscriptions.follow(
        _text(form, "url"), _text(form, "tags").split(","), everything="everything" in form
    )
    added = len(await subscriptions.all()) - before
    return _done(f"followed-{added}" if added else "checked")


async def _unfollow(request: web.Request, form: _Form) -> web.StreamResponse:
    await request.app[RUNTIME].subscriptions.unfollow(_text(form, "url"))
    return _done("unfollowed")


async def _check(request: web.Request, form: _Form) -> web.StreamResponse:
    await request.app[RUNTIME].subscriptions.check(_text(form, "url"))
    return _done("checked")


async def _check_everything(request: web.Request, form: _Form) -> web.StreamResponse:
    await request.app[RUNTIME].subscriptions.check(_text(form, "url"), everything=True)
    return _done("checked")


async def _import_opml(request: web.Request, form: _Form) -> web.StreamResponse:
    file = form.get("file")
    if not isinstance(file, FileField):
        raise InputError("Choose the OPML file exported by your feed reader.")
    added = await request.app[RUNTIME].subscriptions.import_outline(
        file.file.read(), file.filename, everything="everything" in form
    )
    return _done(f"followed-{added}")


async def _unknown(_: web.Request, __: _Form) -> web.StreamResponse:
    raise InputError("This form is outdated. Reload the page and try again.")


def _text(form: _Form, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _done(what: str) -> web.Response:
    return web.Response(status=303, headers={"Location": f"/feeds?done={what}"})


_ACTIONS: Final[dict[str, Callable[[web.Request, _Form], Awaitable[web.StreamResponse]]]] = {
    "follow": _follow,
    "unfollow": _unfollow,
    "check": _check,
    "capture-all": _check_everything,
    "take-in": _import_opml,
}
