"""Who may come in: the password and sessions.

Nothing about a session is stored: it is a text signed with the archive's secret.
"""

import secrets
import time
from base64 import b64decode

from aiohttp import web

from archiver.web.keys import ATTEMPTS, RUNTIME, SIGNER
from archiver.web.signing import same

COOKIE = "archiver_session"
SESSION_SECONDS = 30 * 86400
ANONYMOUS = "anonymous"
BY_HEADER = "authorization"

_SESSION = "session"
_MOST_COOKIE = 256
_MOST_CREDENTIALS = 4096


def password_of(request: web.Request) -> str | None:
    """Return the password that is set, if one is."""
    return request.app[RUNTIME].settings.password


def check_password(request: web.Request, given: str) -> bool:
    """Compare in constant time, and count wrong tries by the client's address.

    Raises:
        web.HTTPTooManyRequests: too many wrong ones; the answer says how long to wait.
    """
    attempts = request.app[ATTEMPTS]
    wait = attempts.wait(request.remote)
    if wait > 0:
        seconds = int(wait) + 1
        raise web.HTTPTooManyRequests(
            text=f"Too many wrong passwords: try again in {seconds} seconds.",
            headers={"Retry-After": str(seconds)},
        )
    password = password_of(request)
    if password is not None and same(given, password):
        attempts.right(request.remote)
        return True
    attempts.wrong(request.remote)
    return False


def start_session(request: web.Request, response: web.StreamResponse) -> None:
    """Give the browser a session of 30 days with this response."""
    text = f"{int(time.time()) + SESSION_SECONDS}.{secrets.token_urlsafe(16)}"
    response.set_cookie(
        COOKIE,
        f"{text}.{request.app[SIGNER].sign(_SESSION, text)}",
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="Strict",
        secure=is_https(request),
    )


def end_session(request: web.Request, response: web.StreamResponse) -> None:
    """Take the session from the browser."""
    response.del_cookie(COOKIE, httponly=True, samesite="Strict", secure=is_https(request))


def session_of(request: web.Request) -> str | None:
    """Return the id of the request's session if it carries one that is ours and not over."""
    cookie = request.cookies.get(COOKIE, "")
    text, _, signature = cookie[:_MOST_COOKIE].rpartition(".")
    if not request.app[SIGNER].verifies(_SESSION, text, signature):
        return None
    expires, _, identity = text.partition(".")
    return identity if int(expires) > time.time() else None


def credentials_of(request: web.Request) -> str | None:
    """Return the password in the Authorization header (Bearer, or Basic with any user name)."""
    header = request.headers.get("Authorization")
    if header is None or len(header) > _MOST_CREDENTIALS:
        return header and ""
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        return b64decode(value, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def local_path(text: str) -> str:
    """Return ``text`` if it is a path of this service to go on to after signing in, else ``/``.

    A second slash, a backslash, and control characters, which browsers drop, lead elsewhere.
    """
    plain = text.isascii() and text.isprintable() and "\\" not in text
    return text if plain and text.startswith("/") and not text.startswith("//") else "/"


def is_https(request: web.Request) -> bool:
    """Also behind a proxy; who forges the header only hardens their own cookie."""
    return request.secure or request.headers.get("X-Forwarded-Proto") == "https"
