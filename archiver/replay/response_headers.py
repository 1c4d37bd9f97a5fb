"""Header fields of replayed responses.

``Content-Language`` stays; ``Location``, ``Refresh`` and ``Link`` lead into the archive. Every
other field is shown as ``X-Archive-Orig-<name>``, so that it can be read and does nothing: policies
(Content-Security-Policy, Strict-Transport-Security, Clear-Site-Data, Service-Worker-Allowed …) were
given for another origin. Cookies are left out: they were secrets. What describes the bytes
(``Content-Type``, ``Content-Encoding``, ``Content-Length``) is for the one who serves them.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from archiver.http.headers import attachment, readable
from archiver.http.urls import escape_bytes
from archiver.pages.reference_attributes import AHEAD, Use
from archiver.pages.reference_values import LoadingLink, read_link_header
from archiver.replay.url_rewriter import UrlRewriter, rewrite_refresh

ORIGINAL_PREFIX: Final = "X-Archive-Orig-"

_KEPT = frozenset({"content-language"})
_LEFT_OUT = frozenset({"set-cookie", "set-cookie2"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MOST_FIELDS = 100
_LONGEST_VALUE = 4096

_LINK_PARAMETERS = ("as", "media", "type", "fetchpriority")


def rewrite_headers(fields: Iterable[tuple[str, str]], links: UrlRewriter) -> list[tuple[str, str]]:
    """The fields to replay a response with.

    Args:
        fields: (name, value) as they were.
        links: of the response's URL; what a redirect leads to gets the modifier of its pages.
    """
    acting: list[tuple[str, str]] = []
    shown: list[tuple[str, str]] = []
    for given, value in fields:
        name = given.lower()
        if name in _LEFT_OUT or not _TOKEN.fullmatch(name) or len(value) > _LONGEST_VALUE:
            continue
        clean = _CONTROL.sub(" ", value)
        shown.append((ORIGINAL_PREFIX + name, readable(clean)))
        if name in _KEPT:
            acting.append((name.title(), clean))
        elif name in _REWRITTEN and (rewritten := _REWRITTEN[name](clean, links)):
            acting.append((name.title(), rewritten))
    return acting + shown[:_MOST_FIELDS]


def _location(value: str, links: UrlRewriter) -> str:
    return links.lead(escape_bytes(value), Use.ANCHOR) or ""


def _refresh(value: str, links: UrlRewriter) -> str:
    return rewrite_refresh(value, lambda url: links.lead(url, Use.ANCHOR))


def _link(value: str, links: UrlRewriter) -> str:
    """Only links that load something are kept: others could be taken for the archive's own.

    What is only preloaded the page asks for itself, if it needs it, or else scripts would have.
    """
    kept = []
    for link in read_link_header(value):
        if link.relations <= AHEAD:
            continue
        led = links.lead(escape_bytes(link.reference), link.use)
        kept += [_write_link(led, link)] if led else []
    return ", ".join(kept)


def _write_link(path: str, link: LoadingLink) -> str:
    rel = " ".join(sorted(link.relations))
    given = link.parameters
    others = (f'; {name}="{given[name]}"' for name in _LINK_PARAMETERS if name in given)
    return f'<{path}>; rel="{rel}"{"".join(others)}'


_REWRITTEN: Final[dict[str, Callable[[str, UrlRewriter], str]]] = {
    "location": _location,
    "refresh": _refresh,
    "link": _link,
}

LONGEST = 120
_EXTENDED = re.compile(r"""filename\*\s*=\s*[\w-]*'[^']*'([^\s;]+)""", re.IGNORECASE)
_PLAIN = re.compile(r"""filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))""", re.IGNORECASE)
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*%\u2028\u2029\u202a-\u202e\u2066-\u2069]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)


def content_disposition(given: str | None, url: str, *, is_shown: bool) -> str | None:
    """The Content-Disposition to replay a file with; None where it is shown and not saved.

    Args:
        given: the archived header, if there was one.
        url: of the capture; its last part is the name where none was given.
        is_shown: whether browsers show what it is.
    """
    given = readable((given or "")[:4096])
    if is_shown and not given.strip().lower().startswith("attachment"):
        return None
    given_name = _given_name(given) or unquote(urlsplit(url).path.rpartition("/")[2])
    return attachment(safe_name(given_name))


def safe_name(name: str) -> str:
    """A file name without a folder, a drive, a trick of writing direction, or a hidden file's dot.

    >>> safe_name("../../etc/passwd"), safe_name("con.txt"), safe_name("")
    ('etc_passwd', '_con.txt', 'file')
    """
    name = _UNSAFE.sub("_", name).strip(" ._")[-LONGEST:].lstrip(" ._")
    if _RESERVED.match(name):
        name = f"_{name}"
    return name or "file"


def _given_name(given: str) -> str:
    extended = _EXTENDED.search(given)
    if extended:
        return unquote(extended[1])
    plain = _PLAIN.search(given)
    return (plain[1] or plain[2] or "") if plain else ""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whoever asks, as far as an answer depends on it.

    Attributes:
        origin: ``http://host[:port]`` of replay as it was asked for, checked.
        is_framed: whether the answer may be framed.
        wants_font: whether it is fetched as a font.
    """

    origin: str
    is_framed: bool = False
    wants_font: bool = False


def protection(viewer: Viewer, *, is_sandboxed: bool = True) -> tuple[tuple[str, str], ...]:
    """What every answer of replay states, whatever the archived one did.

    The page's origin is opaque, so all it loads from us is cross-origin, and its fonts, which
    browsers fetch with CORS, are granted to ``null``; nothing else is readable by anyone.
    """
    policy = content_security_policy(viewer, is_sandboxed=is_sandboxed)
    granted = (("Access-Control-Allow-Origin", "null"),) if viewer.wants_font else ()
    return (
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Robots-Tag", "noindex, nofollow, noarchive"),
        ("Cross-Origin-Opener-Policy", "unsafe-none"),
        ("Cross-Origin-Resource-Policy", "cross-origin"),
        ("Vary", "Sec-Fetch-Dest"),
        *granted,
    )


def content_security_policy(viewer: Viewer, *, is_sandboxed: bool = True) -> str:
    """The policy of a replayed answer: no script, no form, and one place to load from.

    Sources are absolute, since ``'self'`` is nothing in an opaque origin. ``http:`` sources also
    match ``https:`` of the same host (CSP §6.7.2.8), so a TLS proxy needs no word of ours.
    ``frame-ancestors`` can't name who may frame: above a frame inside a replayed page stands an
    opaque origin, which matches nothing. So what is asked for without a token may not be framed
    at all, and only our banner and the pages in it know one.

    Args:
        viewer: whoever asks.
        is_sandboxed: whether the content gets an opaque origin.
    """
    here = f"{viewer.origin}/web/"
    return "; ".join(
        (
            *(("sandbox",) if is_sandboxed else ()),
            "default-src 'none'",
            f"img-src {here} data:",
            f"style-src {here} 'unsafe-inline' data:",
            f"font-src {here} data:",
            f"media-src {here} data:",
            f"frame-src {here}",
            f"object-src {here}",
            "form-action 'none'",
            f"base-uri {here}",
            *(() if viewer.is_framed else ("frame-ancestors 'none'",)),
        )
    )
