"""The step from a replayed page to another one, where a password is set.

No cookie comes with what a replayed page leads to, since its origin is opaque. So whoever follows
a link in it gets this page, of the service's own origin: alone, it goes on by itself to where a
session counts; in a frame, where nothing goes by itself, a person goes on from it.
"""

from urllib.parse import urlencode

from aiohttp import web

from archiver.rewrite.address import Modifier, ReplayAddress, plain_path
from archiver.web.keys import PERMISSIONS
from archiver.web.origin import is_there
from archiver.web.render import render
from archiver.web.replay_address import token_of
from archiver.web.views import PassageView

_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'"
"""It says nothing of the archive, so anyone may frame it."""


def passage(request: web.Request, address: ReplayAddress) -> web.Response:
    """Answer 401 with the way on."""
    modifier = Modifier.NONE if address.modifier is Modifier.FRAME else address.modifier
    path = plain_path(ReplayAddress(address.timestamp_prefix, modifier, address.url))
    if is_there(request):
        home = _home(request, address)
        onward = by_itself = home and home + path
    else:
        onward, by_itself = path, "/login?" + urlencode({"next": path})
    response = render(
        request, "pages/passage.html", PassageView(address.url, onward, by_itself), status=401
    )
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["WWW-Authenticate"] = 'Bearer realm="archiver"'
    return response


def _home(request: web.Request, address: ReplayAddress) -> str:
    """Where the service is, as the permission that is over says."""
    token = token_of(request.raw_path)
    permission = request.app[PERMISSIONS].given(token, address) if token else None
    return permission.home if permission else ""
