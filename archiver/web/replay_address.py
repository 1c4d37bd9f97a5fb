"""Reads the address of a replay from the request line as it came.

An archived URL stands in our path with its query, double slashes, dots and escapes, all of which
a router would tidy away; so only the raw request target is looked at.
"""

import re

ROOT = "/web/"
_TOKEN = re.compile(r"~([A-Za-z0-9_-]{1,64})/")


def token_of(raw_path: str) -> str | None:
    """Return the permission in ``/web/~token/…``, if there is one."""
    if not raw_path.startswith(ROOT):
        return None
    match = _TOKEN.match(raw_path, len(ROOT))
    return match[1] if match else None


def without_token(raw_path: str) -> str | None:
    """Return ``/web/…`` without permission and fragment; None if it is no address of replay."""
    target = raw_path.partition("#")[0]
    if not target.startswith(ROOT):
        return None
    match = _TOKEN.match(target, len(ROOT))
    return ROOT + target[match.end() :] if match else target
