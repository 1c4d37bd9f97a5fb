"""Rewriting of documents and style sheets inside data URLs."""

from typing import Final

from archiver.http.data_urls import read_data_url, write_data_url
from archiver.pages.css_references import lead_css
from archiver.pages.reference_attributes import Use
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.url_rewriter import BLOCKED, UrlRewriter

_HTML: Final = "text/html"


def rewrite_data_url(url: str, use: Use, links: UrlRewriter) -> str | None:
    """Return the replacement of a data URL that is a style sheet or is shown in a frame.

    Args:
        url: the data URL.
        use: ``STYLE`` or ``FRAME``.
        links: rewriter of the references in its content.

    Returns:
        None if the URL can stay; ``BLOCKED`` if it must be disabled.
    """
    given = read_data_url(url)
    if given is None:
        return BLOCKED
    kind = given.media_type.essence
    if use is Use.STYLE:
        text = lead_css(given.text, links.rewrite)
    elif kind == _HTML or given.media_type.is_xml:
        rewriter = HtmlRewriter(links, xml=kind != _HTML, rests=True)
        text = rewriter.feed(given.text) + rewriter.close()
    else:
        return None
    return None if text == given.text else write_data_url(kind, text, given.fragment)
