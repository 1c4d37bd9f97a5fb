"""Authentication middleware."""

from urllib.parse import urlencode

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.model.message import marked
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.services.access import BEGINS, Scope
from archiver.web import auth, origin
from archiver.web.app_keys import RUNTIME, SESSION, SIGNED_IN
from archiver.web.pages.errors import passage
from archiver.web.rendering import render
from archiver.web.replay_requests import address_of, held_permission
from archiver.web.views import StepView

OPEN_ROUTES = frozenset({"healthz", "static", "manifest", "login", "sign_in", "choose_language"})
"""Routes without login: health check, static files and the login page."""

PEOPLES_ROUTES = frozenset({"access", "change_access"})
"""Routes that no token opens."""

ADDING_ROUTES = frozenset(
    {
        *("api_save", "api_hand_in", "api_import", "api_imports", "api_import_status"),
        *("api_import_look", "api_import_receipt", "api_import_failures"),
        *("api_jobs", "api_queue", "api_events"),
    }
)
"""Routes for programs that add pages and watch their progress."""

_MAY = {
    Scope.READ: "may read, and nothing else",
    Scope.ADD: "may add pages and imports, and hear what becomes of them",
    Scope.ALL: "may do all but say who may come in",
}
_FOR_PROGRAMS = ("/api/", "/metrics", "/cdx", "/web/cdx", "/wayback/", "/timegate/", "/timemap/")
_PAGES = frozenset({None, "document"})
_DOCUMENTS = _PAGES | {"iframe", "frame", "object", "embed"}
_LOOKED_AT = frozenset({Modifier.NONE, Modifier.FRAME, Modifier.IDENTITY})


@web.middleware
async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Identify the client, and reject it if it has no access."""
    request[SESSION] = auth.ANONYMOUS
    await auth.keep_up(request.app)
    is_locked = request.app[RUNTIME].access.is_locked
    admitted = not is_locked or await _is_known(request) or _is_open(request)
    if admitted:
        return await handler(request)
    if _is_offered_by_another_site(request):
        return render(request, "pages/step.html", StepView(request.raw_path))
    address = _page_of_replay(request)
    if address is not None:
        return passage(request, address)
    raise _refusal(request)


async def _is_known(request: web.Request) -> bool:
    session = await auth.session_of(request)
    if session is not None:
        request[SESSION], request[SIGNED_IN] = session, True
        return True
    given = auth.credentials_of(request)
    if given is None:
        return False
    if given.startswith(BEGINS):
        await _admit_token(request, given)
    elif not await auth.check_password(request, given):
        raise _unauthorized("The password in the Authorization header is wrong.")
    request[SESSION] = auth.BY_HEADER
    return True


async def _admit_token(request: web.Request, given: str) -> None:
    token = await auth.check_token(request, given)
    if token is None:
        raise _unauthorized("The token in the Authorization header is none of this archive's.")
    route = request.match_info.route.name or ""
    if not opens(token.scope, route, request.method):
        raise web.HTTPForbidden(
            text=f"The token “{token.name}” does not open this: it {_MAY[token.scope]}."
        )


def opens(scope: Scope, route: str, method: str) -> bool:
    """Return whether a token opens a route; access settings are for signed-in users only."""
    if route in PEOPLES_ROUTES:
        return False
    if scope is Scope.READ:
        return method in origin.SAFE_METHODS
    return scope is Scope.ALL or route in ADDING_ROUTES


def _is_open(request: web.Request) -> bool:
    route = request.match_info.route.name
    if route == "replay" and request.method in origin.SAFE_METHODS:
        return held_permission(request) is not None
    return route in OPEN_ROUTES


def _is_offered_by_another_site(request: web.Request) -> bool:
    """Return whether the bookmarklet opened this page, in which case the session cookie is missing.

    The cookie is ``SameSite=Strict``; after a click within this site the browser sends it.
    """
    is_elsewhere = request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    return request.match_info.route.name == "save" and is_elsewhere


def _page_of_replay(request: web.Request) -> ReplayAddress | None:
    """Return the requested memento if it is requested as a page or a frame."""
    if request.match_info.route.name != "replay" or request.method not in origin.SAFE_METHODS:
        return None
    if request.headers.get("Sec-Fetch-Dest") not in _DOCUMENTS:
        return None
    address = address_of(request.raw_path)
    return address if address and address.modifier in _LOOKED_AT else None


def _refusal(request: web.Request) -> web.HTTPException:
    """Redirect a browser to the login page; return 401 to a program."""
    is_program = request.path.startswith(_FOR_PROGRAMS)
    if request.headers.get("Sec-Fetch-Dest") not in _PAGES or is_program:
        return _unauthorized(marked("Sign in first: this archive has a password."))
    if request.method in origin.SAFE_METHODS:
        return web.HTTPSeeOther("/login?" + urlencode({"next": request.raw_path}))
    return _unauthorized(
        marked(
            "You are signed out, so nothing was changed. Sign in in another tab, then reload this "
            "page to send the form again."
        )
    )


def _unauthorized(message: str) -> web.HTTPUnauthorized:
    return web.HTTPUnauthorized(
        text=message, headers={"WWW-Authenticate": 'Bearer realm="archiver"'}
    )
