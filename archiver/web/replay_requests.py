"""Parsing of replay requests.

The path contains an archived URL with its query, double slashes, dots and escapes, which a router
would normalise, so the raw request target is parsed.
"""

import re

from aiohttp import web

from archiver.errors import InvalidUrl
from archiver.replay.addresses import ReplayAddress, parse_replay_path
from archiver.web.app_keys import PERMISSIONS
from archiver.web.signing import Permission

ROOT = "/web/"
_TOKEN = re.compile(r"~([A-Za-z0-9_.-]{1,220})/")


def token_of(raw_path: str) -> str | None:
    """Return the access token in ``/web/~token/…``, if any."""
    if not raw_path.startswith(ROOT):
        return None
    match = _TOKEN.match(raw_path, len(ROOT))
    return match[1] if match else None


def without_token(raw_path: str) -> str | None:
    """Return ``/web/…`` without access token and fragment; None if it is not a replay path."""
    target = raw_path.partition("#")[0]
    if not target.startswith(ROOT):
        return None
    match = _TOKEN.match(target, len(ROOT))
    return ROOT + target[match.end() :] if match else target


def address_of(raw_path: str) -> ReplayAddress | None:
    """Return the memento that a path requests; None if it is not a replay path."""
    path = without_token(raw_path)
    try:
        return parse_replay_path(path) if path else None
    except InvalidUrl:
        return None


def held_permission(request: web.Request) -> Permission | None:
    """Return the permission in a path, if its access token is valid for that path."""
    token = token_of(request.raw_path)
    address = address_of(request.raw_path) if token else None
    if token is None or address is None:
        return None
    return request.app[PERMISSIONS].opens(token, address)
