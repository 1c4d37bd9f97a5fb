"""What holds off the content that strangers wrote: the fields every answer of replay carries."""

from dataclasses import dataclass


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
