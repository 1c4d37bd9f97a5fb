"""Authentication by session cookie or token."""

import time
from base64 import b64decode

from aiohttp import web

from archiver.model.message import counted
from archiver.services.access import SESSION_SECONDS
from archiver.web.app_keys import LOGIN_THROTTLE, PERMISSIONS, RUNTIME, SESSION, SIGNED_IN, SIGNER
from archiver.web.responses import refusing

COOKIE = "archiver_session"
ANONYMOUS = "anonymous"
BY_HEADER = "authorization"

_SESSION = "session"
_MAX_COOKIE = 256
_MAX_CREDENTIALS = 4096


async def refresh_access(app: web.Application) -> None:
    """Load the current password, so that keys derived from an old password become invalid."""
    access = app[RUNTIME].access
    await access.refresh()
    app[SIGNER].derive_keys(access.password_version)
    app[PERMISSIONS].has_password = access.is_locked


async def check_password(request: web.Request, password: str) -> bool:
    """Return whether the password is correct; count failures by client address.

    Raises:
        web.HTTPTooManyRequests: too many failures; the response has the time to wait.
    """
    _refuse_guessing(request)
    throttle = request.app[LOGIN_THROTTLE]
    # Counted before the slow hash, or many attempts at the same time would all be admitted.
    throttle.wrong(request.remote)
    is_right = await request.app[RUNTIME].access.is_password(password)
    if is_right:
        throttle.right(request.remote)
    return is_right


def _refuse_guessing(request: web.Request) -> None:
    wait = request.app[LOGIN_THROTTLE].wait(request.remote)
    if wait > 0:
        seconds = int(wait) + 1
        sentence = counted(
            "Too many wrong passwords. Try again in {count} second.",
            "Too many wrong passwords. Try again in {count} seconds.",
            count=seconds,
        )
        refusal = web.HTTPTooManyRequests(headers={"Retry-After": str(seconds)})
        raise refusing(refusal, sentence)


async def start_session(request: web.Request, response: web.StreamResponse) -> None:
    """Start a session of 30 days and set its cookie on the response."""
    set_session_cookie(request, response, await begin_session(request))


async def begin_session(request: web.Request) -> str:
    """Start a session, sign in the current request, and return the session's id."""
    await refresh_access(request.app)
    browser = request.headers.get("User-Agent", "")
    identity = await request.app[RUNTIME].access.begin_session(browser)
    request[SESSION], request[SIGNED_IN] = identity, True
    return identity


def set_session_cookie(request: web.Request, response: web.StreamResponse, identity: str) -> None:
    """Set the cookie of a session on the response."""
    text = f"{int(time.time()) + SESSION_SECONDS}.{identity}"
    response.set_cookie(
        COOKIE,
        f"{text}.{request.app[SIGNER].sign(_SESSION, text)}",
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="Strict",
        secure=is_https(request),
    )


async def end_session(request: web.Request, response: web.StreamResponse) -> None:
    """End the session and delete its cookie."""
    access = request.app[RUNTIME].access
    session = access.session(request[SESSION])
    if session:
        await access.end_session(session.digest)
    response.del_cookie(COOKIE, httponly=True, samesite="Strict", secure=is_https(request))


async def session_of(request: web.Request) -> str | None:
    """Return the id of the request's session if its cookie is valid and not expired."""
    cookie = request.cookies.get(COOKIE, "")
    text, _, signature = cookie[:_MAX_COOKIE].rpartition(".")
    if not request.app[SIGNER].verifies(_SESSION, text, signature):
        return None
    expires, _, identity = text.partition(".")
    if int(expires) <= time.time():
        return None
    return identity if await request.app[RUNTIME].access.is_session(identity) else None


def credentials_of(request: web.Request) -> str | None:
    """Return the password or token in the Authorization header.

    The scheme is Bearer, or Basic with any user name.
    """
    header = request.headers.get("Authorization")
    if header is None or len(header) > _MAX_CREDENTIALS:
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
    """Return ``text`` if it is a path on this server, for the redirect after login; else ``/``.

    A second slash, a backslash, or control characters, which browsers drop, could lead to another
    site.
    """
    plain = text.isascii() and text.isprintable() and "\\" not in text
    return text if plain and text.startswith("/") and not text.startswith("//") else "/"


def bookmarklet_key(request: web.Request) -> str:
    """Return the key by which the user's own bookmarklet identifies itself to ``/save``.

    The key changes with the password.
    """
    return request.app[SIGNER].sign("bookmarklet", "")


def is_https(request: web.Request) -> bool:
    """Return whether the client uses HTTPS, also behind a proxy.

    A client that forges the proxy's header only makes its own cookie stricter.
    """
    return request.secure or request.headers.get("X-Forwarded-Proto") == "https"
