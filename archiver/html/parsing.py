"""Parses pages of strangers in time linear in their length, or not at all."""

from selectolax.lexbor import LexborHTMLParser

from archiver.html.attribute_floods import limit_attributes
from archiver.html.depth import is_too_deep


def parse(html: str) -> LexborHTMLParser | None:
    """The tree of a page; None of one nested too deep to be parsed in good time."""
    return None if is_too_deep(html) else LexborHTMLParser(limit_attributes(html))
