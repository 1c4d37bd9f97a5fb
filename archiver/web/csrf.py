"""Cross-site request forgery protection by `Sec-Fetch-Site`, `Origin` and `SameSite` cookies.

Forms carry no tokens. Every browser since 2020 says with each unsafe request where it comes from
(Fetch Metadata; RFC 6454), and the session's cookie is `SameSite=Strict`.
"""

from urllib.parse import urlsplit

from aiohttp import web

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_same_origin(request: web.Request) -> bool:
    """Return whether a page of this service, the user, or a program sent this request.

    `Sec-Fetch-Site` is checked first. Browsers leave it out on plain HTTP to other machines; then
    the host in `Origin` must be ours (the scheme may differ behind a TLS proxy). A request with
    neither header is not from a browser: every browser sends `Origin` with a cross-origin POST.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    return "Origin" not in request.headers or _is_our_origin(request.headers["Origin"], request)


def _is_our_origin(origin: str, request: web.Request) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == request.headers.get("Host", "").lower()
    except ValueError:
        return False
