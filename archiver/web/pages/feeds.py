"""Feed page."""

from aiohttp import web
from aiohttp.web_request import FileField

from archiver.errors import FetchError, InputError
from archiver.model.message import Message
from archiver.services.feeds import OtherFormat, Subscriptions
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
        done = await _changed(request.app[RUNTIME].subscriptions, form)
    except InputError as error:
        return await feeds(
            request,
            problem=_why(request, error),
            url=_text(form, "url"),
            is_other_form=isinstance(error, OtherFormat),
            status=400,
        )
    raise web.HTTPSeeOther(f"/feeds?done={done}")


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


async def _changed(subscriptions: Subscriptions, form: _Form) -> str:
    """Apply the action of a form; return its result for ``done``."""
    does, url, everything = _text(form, "do"), _text(form, "url"), "everything" in form
    if does == "follow":
        before = len(await subscriptions.all())
        await subscriptions.follow(url, _text(form, "tags").split(","), everything=everything)
        added = len(await subscriptions.all()) - before
        return f"followed-{added}" if added else "checked"
    if does == "unfollow":
        await subscriptions.unfollow(url)
        return "unfollowed"
    if does in ("check", "capture-all"):
        await subscriptions.check(url, everything=does == "capture-all")
        return "checked"
    if does != "take-in":
        raise InputError("This form is outdated. Reload the page and try again.")
    file = form.get("file")
    if not isinstance(file, FileField):
        raise InputError("Choose the OPML file exported by your feed reader.")
    content, name = file.file.read(), file.filename
    return f"followed-{await subscriptions.import_outline(content, name, everything=everything)}"


def _text(form: _Form, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""
