"""Which language a page is in: the person's choice, else the browser's, else the service's."""

from urllib.parse import urlsplit

from aiohttp import web

from archiver.model.language import LANGUAGES, asked_for
from archiver.web import auth
from archiver.web.keys import RUNTIME, WORDINGS
from archiver.web.wording import Wording

COOKIE = "archiver_language"
_YEAR = 366 * 24 * 3600


def wording_of(request: web.Request) -> Wording:
    """How the answer to a request is worded."""
    known = request.app[WORDINGS]
    chosen = choice_of(request)
    if chosen in known:
        return known[chosen]
    wanted = asked_for(request.headers.get("Accept-Language", ""))
    return known.get(wanted) or known[request.app[RUNTIME].settings.language]


def choice_of(request: web.Request) -> str:
    """The tag that the person chose in this browser; empty for none that there is."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in request.app[WORDINGS] else ""


async def choose(request: web.Request) -> web.StreamResponse:
    """Keep the language that the footer's form names, and show the same page in it."""
    form = await request.post()
    tag = str(form.get("language", ""))
    response = web.Response(status=303, headers={"Location": _page_before(request)})
    if tag in {each.tag for each in LANGUAGES}:
        response.set_cookie(
            COOKIE, tag, max_age=_YEAR, httponly=True, samesite="Lax", secure=auth.is_https(request)
        )
    else:
        response.del_cookie(COOKIE)
    return response


def _page_before(request: web.Request) -> str:
    """The page that the form stood on, by the browser's word.

    A field would say the same, but nothing of a request may stand beside a permission (BREACH).
    """
    try:
        before = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return "/"
    if before.netloc != request.host:
        return "/"
    return auth.local_path(f"{before.path}?{before.query}" if before.query else before.path)
