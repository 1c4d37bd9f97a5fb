"""Replay requests: parsing, access tokens, and the last request of each replay frame.

The path contains an archived URL with its query, double slashes, dots and escapes, which a router
would normalise, so the raw request target is parsed.

The banner is the page above the frame with the archived page. It shows what the frame requested
last. Each banner has a random number, which is part of the signed access token in the frame's
address. Links and redirects inherit the number; frames within the archived page do not. The last
requests are kept in memory for the most recently used banners.
"""

import re
from dataclasses import dataclass

from aiohttp import web

from archiver.errors import InvalidUrl
from archiver.model.capture import Timestamp
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


def requested_memento(raw_path: str) -> ReplayAddress | None:
    """Return the memento that a path requests; None if it is not a replay path."""
    path = without_token(raw_path)
    try:
        return parse_replay_path(path) if path else None
    except InvalidUrl:
        return None


def permission_of(request: web.Request) -> Permission | None:
    """Return the permission in a path, if its access token is valid for that path."""
    token = token_of(request.raw_path)
    address = requested_memento(request.raw_path) if token else None
    if token is None or address is None:
        return None
    return request.app[PERMISSIONS].opens(token, address)


MAX_BANNERS = 1000


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """Request of a frame: a memento, or a URL without a memento.

    Attributes:
        url: the requested URL.
        timestamp: timestamp of the memento; None without one.
        wanted: an address that the frame requested without an access token; the page with the
            banner requests a token for it.
        has_form: whether the page contains a form, which cannot be sent.
    """

    url: str
    timestamp: Timestamp | None = None
    wanted: ReplayAddress | None = None
    has_form: bool = False
