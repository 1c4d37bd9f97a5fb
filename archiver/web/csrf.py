"""Whether an unsafe request was meant by the person: where it comes from, and a token in forms.

Two checks, either of which would do in a browser of today: the browser's own word about the
origin of a request (Fetch Metadata, RFC 6454), and a token that only our own pages show. The
token is an HMAC over the session with a salt, so nothing is stored, and no GET makes a session.
"""

import secrets
from urllib.parse import urlsplit

from aiohttp import web

from archiver.web.keys import SESSION, SIGNER

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FIELD = "csrf_token"

_PURPOSE = "form"
_SALT_LENGTH = 22


def new_token(request: web.Request) -> str:
    """Return a token for forms on the answer to this request.

    It is salted, so that no two pages show the same one (against BREACH).
    """
    salt = secrets.token_urlsafe(16)
    return salt + request.app[SIGNER].sign(_PURPOSE, f"{salt} {request[SESSION]}")


def is_valid(request: web.Request, token: str) -> bool:
    """Tell whether a token was made for this request's session."""
    salt, signature = token[:_SALT_LENGTH], token[_SALT_LENGTH:]
    return request.app[SIGNER].verifies(_PURPOSE, f"{salt} {request[SESSION]}", signature)


def comes_from_us(request: web.Request) -> bool:
    """Tell whether the browser says that one of our own pages sent this request.

    ``Sec-Fetch-Site`` is believed first; browsers leave it out on plain http to other machines,
    so ``Origin`` is next: its host must be ours (schemes may differ behind a TLS proxy). A client
    that sends neither is no browser: every browser sends ``Origin`` with a cross-origin POST.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    return "Origin" not in request.headers or _is_our_origin(request)


def is_sent_by_our_page(request: web.Request) -> bool:
    """Tell whether a browser says outright that a page of ours sent this, and no program did."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    return "Origin" in request.headers and _is_our_origin(request)


def _is_our_origin(request: web.Request) -> bool:
    origin = request.headers["Origin"]
    try:
        return urlsplit(origin).netloc.lower() == request.headers.get("Host", "").lower()
    except ValueError:
        return False
