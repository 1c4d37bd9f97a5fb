"""Answers only to names that are ours, so that no other site's name can be pointed at us.

A page at ``evil.example`` whose name now resolves to 127.0.0.1 (DNS rebinding) is, to a browser,
of one origin with us; only the Host header gives it away (RFC 9110 §7.2). Addresses can't be
rebound, so they are always ours.
"""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.config import Settings
from archiver.web.keys import ORIGIN, RUNTIME

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9_][a-z0-9._-]{0,253})(?::[0-9]{1,5})?")


@web.middleware
async def check_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a request for a host name that is not ours (421) or not sayable (400)."""
    given = request.headers.getall("Host", [])
    authority = given[0].lower() if len(given) == 1 else ""
    match = _AUTHORITY.fullmatch(authority)
    if match is None or not request.raw_path.startswith("/"):
        raise web.HTTPBadRequest(text="The request does not say plainly which host it is for.")
    name = match[1].rstrip(".")
    if not _is_ours(name, request.app[RUNTIME].settings):
        raise web.HTTPMisdirectedRequest(
            text=f"This archive does not answer to the name {name}. "
            "If it should, add the name to ARCHIVER_ALLOW_HOSTS (or --allow-hosts)."
        )
    request[ORIGIN] = f"http://{authority}"
    return await handler(request)


def _is_ours(name: str, settings: Settings) -> bool:
    if name == "localhost" or name.endswith(".localhost"):  # RFC 6761 §6.3
        return True
    second = urlsplit(settings.replay_origin or "").hostname or ""
    known = (*settings.allow_hosts, settings.host, second)
    if name in {host.lower().rstrip(".") for host in known if host}:
        return True
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
