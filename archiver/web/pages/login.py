"""``/login``: the password, where one is set."""

from aiohttp import web

from archiver.model.message import Message
from archiver.web import auth
from archiver.web.access_views import LoginView
from archiver.web.keys import SIGNED_IN
from archiver.web.render import render


async def form(request: web.Request) -> web.StreamResponse:
    """Show the form; who is signed in already goes on to where they wanted to be."""
    target = auth.local_path(request.query.get("next", "/"))
    if request[SIGNED_IN]:
        raise web.HTTPSeeOther(target)
    view = LoginView(target)
    return render(request, "pages/login.html", view)


async def sign_in(request: web.Request) -> web.StreamResponse:
    """Check the password; begin a session and go on to where the person wanted to be."""
    sent = await request.post()
    target = auth.local_path(str(sent.get("next", "/")))
    if not await auth.check_password(request, str(sent.get("password", ""))):
        view = LoginView(target, problem=Message("Wrong password."))
        return render(request, "pages/login.html", view, status=401)
    response = web.Response(status=303, headers={"Location": target})
    await auth.start_session(request, response)
    return response


async def sign_out(request: web.Request) -> web.StreamResponse:
    """End the session."""
    response = web.Response(status=303, headers={"Location": "/login"})
    await auth.end_session(request, response)
    return response
