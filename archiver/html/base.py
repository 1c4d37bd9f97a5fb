"""What the references of a page are resolved against."""

from selectolax.lexbor import LexborHTMLParser

from archiver.references.use import clean_reference
from archiver.urls.parse import join


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """The base of a parsed page at an address: the first one it names counts (HTML §4.2.3)."""
    element = tree.css_first("base[href]")
    given = (element.attributes.get("href") or "") if element else ""
    return join(url, clean_reference(given)) or url
