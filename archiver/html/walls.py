"""Walls: what is sent in a page's place to whoever is not taken for a person. Pure.

A page that only speaks of them has more to read, and the marks stand in its text. What guards add
to whole pages is no mark.
"""

from collections.abc import Sequence
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from archiver.html.marks import Mark, marked_by

_CHALLENGES: Final = (
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "challenge", "AWS WAF"),
    ("x-amzn-waf-action", "captcha", "AWS WAF"),
    ("x-vercel-mitigated", "challenge", "Vercel"),
)
"""(name, value, whose wall it is)."""


_MARKS = (
    Mark("Cloudflare", source=r"cf_chl_opt|cf-challenge-running"),
    Mark("Cloudflare", title=r"^Just a moment", source=r"challenge-platform|cf-|cloudflare"),
    Mark("Cloudflare", title=r"^Attention Required! \| Cloudflare"),
    Mark("DataDome", source=r"https?://(?:geo|ct|interstitial)\.captcha-delivery\.com"),
    Mark("DataDome", source=r"var dd\s*=\s*\{[^}]{0,400}captcha-delivery\.com"),
    Mark("HUMAN", source=r"id=[\"']?px-captcha|window\._pxMobileSdk|/px/captcha"),
    Mark("HUMAN", title=r"^Access to this page has been denied"),
    Mark("Akamai", title=r"^Access Denied", source=r"Reference\s*(?:#|&#35;|&#32;&#35;)\s*\d+\."),
    Mark("Akamai", source=r"id=[\"']?sec-if-cpt-container|[?&]bm-verify="),
    Mark("Imperva", source=r"<iframe[^>]{0,400}_Incapsula_Resource|Incapsula incident ID"),
    Mark("Imperva", title=r"^Pardon Our Interruption"),
    Mark("Kasada", source=r"KPSDK[^<]{0,2000}</script>\s*<script[^>]{0,400}/ips\.js"),
    Mark("Anubis", source=r"id=[\"']?anubis_challenge"),
    Mark("Sucuri", source=r"sucuri_cloudproxy_js"),
    Mark("AWS WAF", source=r"awsWafCookieDomainList|window\.gokuProps"),
)


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
    return marked_by(_MARKS, tree, source, text)
