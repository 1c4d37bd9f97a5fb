"""Headers of replayed responses.

``Content-Language`` is kept; ``Location`` and ``Link`` are rewritten. All headers are repeated as
``X-Archive-Orig-<name>``, so that they are visible but have no effect. Policies
(Content-Security-Policy, Strict-Transport-Security, Clear-Site-Data, Service-Worker-Allowed …) must
have no effect, because the original site sent them for its own origin. Cookies are dropped because
they are secrets. The caller sets the headers that describe the bytes (``Content-Type``,
``Content-Encoding``, ``Content-Length``).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from archiver.http.headers import attachment, readable
from archiver.http.urls import escape_bytes
from archiver.pages.references import PRELOADS, LoadingLink, Use, read_link_header
from archiver.replay.url_rewriter import UrlRewriter

ORIGINAL_PREFIX: Final = "X-Archive-Orig-"

_COPIED_HEADERS = frozenset({"content-language"})
_LEFT_OUT = frozenset({"set-cookie", "set-cookie2"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_FIELDS = 100
_MAX_VALUE_LENGTH = 4096

_LINK_PARAMETERS = ("as", "media", "type", "fetchpriority")


def rewrite_headers(fields: Iterable[tuple[str, str]], links: UrlRewriter) -> list[tuple[str, str]]:
    """Return the archived headers for replay.

    Args:
        fields: (name, value) as archived.
        links: URL rewriter of the response; redirect targets are rewritten like links to pages.
    """
    effective: list[tuple[str, str]] = []
    kept_fields: list[tuple[str, str]] = []
    has_location = False
    for original_name, value in fields:
        name = original_name.lower()
        if name in _LEFT_OUT or not _TOKEN.fullmatch(name) or len(value) > _MAX_VALUE_LENGTH:
            continue
        clean = _CONTROL.sub(" ", value)
        kept_fields.append((ORIGINAL_PREFIX + name, readable(clean)))
        if name in _COPIED_HEADERS:
            effective.append((name.title(), clean))
        elif name in _REWRITTEN and clean and not (name == "location" and has_location):
            if rewritten := _REWRITTEN[name](clean, links):
                effective.append((name.title(), rewritten))
            if name == "location":  # only the first Location counts, as in the crawler
                has_location = True
    return effective + kept_fields[:_MAX_FIELDS]


def _location(value: str, links: UrlRewriter) -> str:
    return links.rewrite(escape_bytes(value), Use.ANCHOR) or ""


def _link(value: str, links: UrlRewriter) -> str:
    """Rewrite links that load resources, such as style sheets, and drop all other links.

    Other links could be mistaken for links of the archive itself. Preloads are dropped too: the
    page requests the resources that it uses, and the other preloads are for scripts.
    """
    written = []
    for link in read_link_header(value):
        if link.relations <= PRELOADS:
            continue
        rewritten = links.rewrite(escape_bytes(link.reference), link.use)
        written += [_write_link(rewritten, link)] if rewritten else []
    return ", ".join(written)


def _write_link(path: str, link: LoadingLink) -> str:
    rel = " ".join(sorted(link.relations))
    parameters = link.parameters
    attributes = (
        f'; {name}="{parameters[name]}"' for name in _LINK_PARAMETERS if name in parameters
    )
    return f'<{path}>; rel="{rel}"{"".join(attributes)}'


_REWRITTEN: Final[dict[str, Callable[[str, UrlRewriter], str]]] = {
    "location": _location,
    "link": _link,
}


MAX_NAME_LENGTH = 120
_EXTENDED = re.compile(r"""filename\*\s*=\s*[\w-]*'[^']*'([^\s;]+)""", re.IGNORECASE)
_PLAIN = re.compile(r"""filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))""", re.IGNORECASE)
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*%\u2028\u2029\u202a-\u202e\u2066-\u2069]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)


def content_disposition(archived: str | None, url: str, *, is_shown: bool) -> str | None:
    """Return the Content-Disposition of a download; None if the file is displayed.

    Args:
        archived: the archived header, if any.
        url: URL of the capture; its last path segment is the default file name.
        is_shown: whether browsers display the media type.
    """
    archived = readable((archived or "")[:4096])
    if is_shown and not archived.strip().lower().startswith("attachment"):
        return None
    given_name = _given_name(archived) or unquote(urlsplit(url).path.rpartition("/")[2])
    return attachment(safe_name(given_name))


def safe_name(name: str) -> str:
    """Return a file name without folders, drives, bidirectional overrides or a leading dot.

    >>> safe_name("../../etc/passwd"), safe_name("con.txt"), safe_name("")
    ('etc_passwd', '_con.txt', 'file')
    """
    name = _UNSAFE.sub("_", name).strip(" ._")[-MAX_NAME_LENGTH:].lstrip(" ._")
    if _RESERVED.match(name):
        name = f"_{name}"
    return name or "file"


def _given_name(name: str) -> str:
    extended = _EXTENDED.search(name)
    if extended:
        return unquote(extended[1])
    plain = _PLAIN.search(name)
    return (plain[1] or plain[2] or "") if plain else ""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Properties of the client that the response depends on.

    Attributes:
        origin: ``http://host[:port]`` of the replay origin as requested, validated.
        has_token: whether the request has a valid access token, which only the archive's own pages
            know. The response to such a request may be framed, and loaded with CORS.
        base: path under which a reverse proxy serves the application; empty for the root.
    """

    origin: str
    has_token: bool = False
    base: str = ""


def security_headers(viewer: Viewer, *, is_sandboxed: bool = True) -> tuple[tuple[str, str], ...]:
    """Return the security headers of every replay response.

    The origin of a replayed page is opaque, so the page's requests to this server are cross-origin.
    Browsers load fonts, masks, clip paths, shapes and subtitles with CORS. So responses to requests
    with an access token allow the origin ``null``. Without a token, no site may read a response.
    """
    policy = content_security_policy(viewer, is_sandboxed=is_sandboxed)
    granted = (("Access-Control-Allow-Origin", "null"),) if viewer.has_token else ()
    return (
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Robots-Tag", "noindex, nofollow, noarchive"),
        ("Cross-Origin-Opener-Policy", "unsafe-none"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
        *granted,
    )


def content_security_policy(viewer: Viewer, *, is_sandboxed: bool = True) -> str:
    """Return the Content-Security-Policy: no scripts, no forms, and resources only from replay.

    Sources are absolute because ``'self'`` matches nothing in an opaque origin. ``http:`` sources
    also match ``https:`` of the same host (CSP §6.7.2.8), so a TLS proxy needs no configuration.
    ``frame-ancestors`` cannot list the origins that may frame a response: a replayed page that
    contains a frame has an opaque origin, which no source matches. So responses without an access
    token must not be framed at all. Only the page with the replay banner, and the archived pages in
    its frame, have a token.

    Args:
        viewer: properties of the client.
        is_sandboxed: whether the content gets an opaque origin.
    """
    replay_root = f"{viewer.origin}{viewer.base}/web/"
    return "; ".join(
        (
            *(("sandbox",) if is_sandboxed else ()),
            "default-src 'none'",
            f"img-src {replay_root} data:",
            f"style-src {replay_root} 'unsafe-inline' data:",
            f"font-src {replay_root} data:",
            f"media-src {replay_root} data:",
            f"frame-src {replay_root} data:",
            f"object-src {replay_root} data:",
            "form-action 'none'",
            f"base-uri {replay_root}",
            *(() if viewer.has_token else ("frame-ancestors 'none'",)),
        )
    )
