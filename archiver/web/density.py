"""How lists are set: roomy, in rows of one line, or as covers; asked for once, then remembered."""

from enum import StrEnum

from aiohttp import web

COOKIE = "view"
_YEAR = 365 * 86400


class Density(StrEnum):
    """How much of each entry a list shows."""

    COMFORTABLE = "comfortable"
    DENSE = "dense"
    COVERS = "covers"


def density_of(request: web.Request) -> Density:
    """What the request asks for with ``view``, else what this browser asked for last."""
    for given in (request.query.get(COOKIE), request.cookies.get(COOKIE)):
        if given in set(Density):
            return Density(given)
    return Density.COMFORTABLE


def remember(request: web.Request, response: web.StreamResponse) -> None:
    """Let the browser keep what was asked for; it is no secret, and no other site is told."""
    asked = request.query.get(COOKIE)
    if asked in set(Density) and asked != request.cookies.get(COOKIE):
        response.set_cookie(
            COOKIE, density_of(request), max_age=_YEAR, samesite="Lax", httponly=True
        )
