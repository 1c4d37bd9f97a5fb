"""Walls: what is sent in a page's place to whoever is not taken for a person. Pure.

A page that only speaks of them has more to read, and the marks stand in its text. What guards add
to whole pages is no mark.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from archiver.html.signals import MOST_COUNTED

_CHALLENGES: Final = (
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "challenge", "AWS WAF"),
    ("x-amzn-waf-action", "captcha", "AWS WAF"),
    ("x-vercel-mitigated", "challenge", "Vercel"),
)
"""(name, value, whose wall it is)."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """What tells a wall: all that is given of title, source and text must be there."""

    guard: str
    title: str = ""
    source: str = ""


_MARKS = (
    _Mark("Cloudflare", source=r"cf_chl_opt|cf-challenge-running"),
    _Mark("Cloudflare", title=r"^Just a moment", source=r"challenge-platform|cf-|cloudflare"),
    _Mark("Cloudflare", title=r"^Attention Required! \| Cloudflare"),
    _Mark("DataDome", source=r"https?://(?:geo|ct|interstitial)\.captcha-delivery\.com"),
    _Mark("DataDome", source=r"var dd\s*=\s*\{[^}]{0,400}captcha-delivery\.com"),
    _Mark("HUMAN", source=r"id=[\"']?px-captcha|window\._pxMobileSdk|/px/captcha"),
    _Mark("HUMAN", title=r"^Access to this page has been denied"),
    _Mark("Akamai", title=r"^Access Denied", source=r"Reference\s*(?:#|&#35;|&#32;&#35;)\s*\d+\."),
    _Mark("Akamai", source=r"id=[\"']?sec-if-cpt-container|[?&]bm-verify="),
    _Mark("Imperva", source=r"<iframe[^>]{0,400}_Incapsula_Resource|Incapsula incident ID"),
    _Mark("Imperva", title=r"^Pardon Our Interruption"),
    _Mark("Kasada", source=r"KPSDK[^<]{0,2000}</script>\s*<script[^>]{0,400}/ips\.js"),
    _Mark("Anubis", source=r"id=[\"']?anubis_challenge"),
    _Mark("Sucuri", source=r"sucuri_cloudproxy_js"),
    _Mark("AWS WAF", source=r"awsWafCookieDomainList|window\.gokuProps"),
)
_COMPILED = tuple(
    (
        each.guard,
        re.compile(each.title, re.IGNORECASE) if each.title else None,
        re.compile(each.source, re.IGNORECASE) if each.source else None,
    )
    for each in _MARKS
)
_LOOKED_AT: Final = 128 << 10
"""Characters of the source: walls are short."""


def wall_in_headers(headers: Sequence[tuple[str, str]]) -> str:
    """Whose challenge a response says it is; empty where it says nothing.

    Args:
        headers: (name, value), names lower case.
    """
    for name, value in headers:
        for wanted, challenge, guard in _CHALLENGES:
            if name == wanted and value.strip().lower() == challenge:
                return guard
    return ""


def wall_in_page(tree: LexborHTMLParser, source: str, text: str) -> str:
    """Whose wall a page is; empty for a page.

    Args:
        tree: of the page.
        source: of the page.
        text: the start of what can be read of it, as ``signals.readable_start`` gives it.
    """
    if len(text) >= MOST_COUNTED:
        return ""
    node = tree.css_first("title")
    title = (node.text() if node else "").strip()
    start = source[:_LOOKED_AT]
    for guard, in_title, in_source in _COMPILED:
        if in_title and not in_title.search(title):
            continue
        if in_source and not in_source.search(start):
            continue
        return guard
    return ""
