"""The step from a replayed page to another one, where a password is set.

No cookie comes with what a replayed page leads to, since its origin is opaque. So whoever follows
a link in it gets this page, of the service's own origin: alone, it goes on by itself to where a
session counts; below a banner, that leads its frame on, being signed in; in any other frame, and
where no scripts run, a person goes on from it.
"""

from urllib.parse import urlencode

from aiohttp import web

from archiver.rewrite.address import Modifier, ReplayAddress, plain_path
from archiver.web.keys import PERMISSIONS, SHOWN
from archiver.web.origin import is_there
from archiver.web.permissions import Permission
from archiver.web.render import render
from archiver.web.replay_address import token_of
from archiver.web.shown import Shown
from archiver.web.views import PassageView

_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'"
"""It says nothing of the archive, so anyone may frame it."""
_FRAMES = frozenset({"iframe", "frame", "object", "embed"})


def passage(request: web.Request, address: ReplayAddress) -> web.Response:
    """Answer 401 with the way on; 200 below a banner, which hears of it: nothing went wrong."""
    permission, dest = _past(request, address), request.headers.get("Sec-Fetch-Dest")
    is_framed = address.modifier is Modifier.FRAME and dest != "document"
    banner = permission.banner if permission and is_framed else ""
    if banner:
        request.app[SHOWN].note(banner, Shown(address.url, wanted=address))
    modifier = Modifier.NONE if address.modifier is Modifier.FRAME else address.modifier
    path = plain_path(ReplayAddress(address.timestamp_prefix, modifier, address.url))
    if is_there(request):
        home = permission.home if permission else ""
        onward = by_itself = home and home + path
    else:
        onward, by_itself = path, "/login?" + urlencode({"next": path})
    response = render(
        request,
        "pages/passage.html",
        PassageView(address.url, onward, "" if banner or dest in _FRAMES else by_itself),
        status=200 if banner else 401,
    )
    response.headers["Content-Security-Policy"] = _POLICY
    if not banner:
        response.headers["WWW-Authenticate"] = 'Bearer realm="archiver"'
    return response


def _past(request: web.Request, address: ReplayAddress) -> Permission | None:
    """The permission that is over: it says where the service is, and which banner is above."""
    token = token_of(request.raw_path)
    return request.app[PERMISSIONS].given(token, address) if token else None
