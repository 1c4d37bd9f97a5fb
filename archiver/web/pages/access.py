"""Access and login pages."""

from dataclasses import dataclass
from typing import Final

from aiohttp import web

from archiver.errors import InputError
from archiver.model.message import Message
from archiver.services.access import Scope, Session
from archiver.web import auth
from archiver.web.app_keys import RUNTIME, SESSION, SIGNED_IN
from archiver.web.rendering import render, render_with_sidebar


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session, the name of its browser, and whether it is the session of the request."""

    session: Session
    browser: Message | str
    is_this: bool


async def form(request: web.Request) -> web.StreamResponse:
    """Show the login form; signed-in users are redirected."""
    target = auth.local_path(request.query.get("next", "/"))
    if request[SIGNED_IN]:
        raise web.HTTPSeeOther(target)
    return _login_page(request, target)


def _login_page(
    request: web.Request, target: str, *, problem: Message | str = "", status: int = 200
) -> web.Response:
    """Show the login form; ``target`` is the page to open after login."""
    title = Message("Sign in")
    return render(
        request, "pages/login.html", title=title, status=status, next_path=target, problem=problem
    )


async def sign_in(request: web.Request) -> web.StreamResponse:
    """Check the password, start a session, and redirect."""
    sent = await request.post()
    target = auth.local_path(str(sent.get("next", "/")))
    if not await auth.check_password(request, str(sent.get("password", ""))):
        return _login_page(request, target, problem=Message("Wrong password."), status=401)
    response = web.Response(status=303, headers={"Location": target})
    await auth.start_session(request, response)
    return response


async def sign_out(request: web.Request) -> web.StreamResponse:
    """End the session."""
    response = web.Response(status=303, headers={"Location": "/login"})
    await auth.end_session(request, response)
    return response


_Form = dict[str, str]
_BROWSERS: Final = (
    ("Firefox/", "Firefox"),
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""(Text in the user agent, name) of browsers.

A browser whose user agent also contains the text of another browser comes before that browser.
"""
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS X", "macOS"),
    ("Windows", "Windows"),
    ("Linux", "Linux"),
)


async def change(request: web.Request) -> web.StreamResponse:
    """Change the password, tokens or sessions; errors are shown above the form."""
    sent = await request.post()
    form = {key: value for key, value in sent.items() if isinstance(value, str)}
    try:
        return await _changed(request, form)
    except InputError as error:
        return await access(request, problem=error.sentence, status=400)


async def access(
    request: web.Request, *, status: int = 200, token: str = "", problem: Message | str = ""
) -> web.StreamResponse:
    """Show the access page."""
    control = request.app[RUNTIME].access
    session = control.session(request[SESSION])
    return await render_with_sidebar(
        request,
        "pages/access.html",
        title=Message("Access"),
        status=status,
        has_password=control.password_version is not None,
        is_configured=control.is_configured,
        tokens=control.tokens,
        sessions=tuple(
            SessionView(each, browser_name(each.browser), is_this=each == session)
            for each in control.sessions
        ),
        made=token,
        problem=problem,
        done=request.query.get("done", ""),
    )


def browser_name(user_agent: str) -> Message | str:
    """Return a readable name for a user agent; the user agent itself if it is unknown.

    >>> str(browser_name("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"))
    'Firefox on Linux'
    """
    name = next((name for mark, name in _BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    if not (name and system):
        return user_agent
    return Message("{browser} on {system}", browser=name, system=system)


async def _changed(request: web.Request, form: _Form) -> web.StreamResponse:
    control, does = request.app[RUNTIME].access, form.get("do", "")
    if does == "set-password":
        return await _set_password(request, form)
    if does == "remove-password":
        await _require_password(request, form)
        await control.remove_password()
        raise web.HTTPSeeOther("/access?done=removed")
    if does == "make-token":
        if form.get("scope") not in set(Scope):
            raise InputError("Choose what the token can do: read only, add only, or full access.")
        token = await control.make_token(form.get("name", ""), Scope(form["scope"]))
        return await access(request, token=token)
    if does == "revoke":
        await control.revoke(form.get("token", ""))
    elif does == "end":
        await control.end_session(form.get("session", ""))
    elif does == "end-others":
        session = control.session(request[SESSION])
        await control.end_other_sessions(session.digest if session else "")
    else:
        raise InputError("This form is outdated. Reload the page and try again.")
    raise web.HTTPSeeOther("/access")


async def _set_password(request: web.Request, form: _Form) -> web.StreamResponse:
    await _require_password(request, form)
    if form.get("again") != form.get("new"):
        raise InputError("The two new passwords differ. Type the same one twice.")
    await request.app[RUNTIME].access.set_password(form.get("new", ""))
    response = web.Response(status=303, headers={"Location": "/access?done=set"})
    await auth.start_session(request, response)
    return response


async def _require_password(request: web.Request, form: _Form) -> None:
    """Raise if a password is set and the form does not contain it."""
    if request.app[RUNTIME].access.password_version is None:
        return
    if not await auth.check_password(request, form.get("current", "")):
        raise InputError("The current password is wrong.")
