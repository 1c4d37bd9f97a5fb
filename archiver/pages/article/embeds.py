"""Embedded content of other sites."""

import re
from itertools import islice
from urllib.parse import parse_qsl, urlsplit

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.tree import (
    Marked,
    ancestors,
    first_text,
    outermost,
    remove,
    replace,
    space_around,
    with_words,
)
from archiver.pages.references import is_image_url

GIST = re.compile(
    r"(?:https?:)?//gist\.github\.com/((?:[\w-]{1,60}/)?[0-9a-f]{5,64})\.js"
    r"(?:(\?file=[\w.%+-]{1,200})|\?|$)"
)
"""URL of a script that embeds a GitHub gist; groups: owner (if stated) and id, query for a file."""

_PLAYERS = {
    "lite-youtube": ("videoid", "https://www.youtube.com/embed/"),
    "amp-youtube": ("data-videoid", "https://www.youtube.com/embed/"),
    "lite-vimeo": ("videoid", "https://player.vimeo.com/video/"),
    "amp-vimeo": ("data-videoid", "https://player.vimeo.com/video/"),
}
"""Player elements: the attribute with the media id, and the URL of the player."""

_AMP_ELEMENTS = {
    "amp-img": "img",
    "amp-anim": "img",
    "amp-video": "video",
    "amp-audio": "audio",
    "amp-iframe": "iframe",
}
"""AMP elements and their HTML equivalents (amp.dev/documentation/components)."""

_NAME = re.compile(r"[\w-]{4,40}", re.ASCII)
_POST = re.compile(r"(https://www\.instagram\.com/(?:p|reel|tv)/[\w-]{1,60}/)")


def normalise_widgets(body: Element, marked: Marked) -> None:
    """Replace players, GitHub gists, and Instagram posts without text by frames.

    AMP images and videos become HTML elements. Images in custom elements and objects become
    ``<img>``.
    """
    for element in [*marked["src"], *marked["data-src"]]:
        if "-" in element.tag:
            _normalise_image(element)
    for element in list(body.iter("object", "embed")):
        _normalise_image(element)
    for element in outermost(body, *_AMP_ELEMENTS):
        _normalise_amp(element)
    posts = [each for each in body.iter("blockquote") if _post_url(each)]
    worded = with_words(body) if posts else set()
    empty = (each for each in posts if each not in worded)
    for element in [*body.iter("script", *_PLAYERS), *empty]:
        url = _frame_url(element)
        if url and element.getparent() is not None:
            frame = etree.Element("iframe", {"src": url})
            title = element.get("title") or element.get("playlabel")
            if title:
                frame.set("title", title)
            replace(element, frame)


def _normalise_image(element: Element) -> None:
    """Turn an element that shows only an image into ``<img>``, such as ``<lazy-image src=…>``."""
    url = next(filter(None, map(element.get, ("data-src", "src", "data"))), "")
    is_image = is_image_url(url) or (element.get("type") or "").startswith("image/")
    if is_image and url and element.tag not in _AMP_ELEMENTS and not first_text(element, 1):
        etree.strip_elements(element, "*", with_tail=False)
        element.tag, element.text = "img", None
        element.set("src", url)


def _normalise_amp(element: Element) -> None:
    """Replace an AMP element by its HTML equivalent, unless it contains the equivalent as fallback.

    Other content of AMP images and frames is a placeholder, so it is removed.
    """
    tag = _AMP_ELEMENTS[element.tag]
    if next(element.iter(tag), None) is not None:
        return
    element.tag = tag
    if tag in {"img", "iframe"}:
        element.text = None
        for child in list(element):
            element.remove(child)


def _frame_url(element: Element) -> str:
    """Return the URL of a player's frame; empty for other elements."""
    if element.tag == "script":
        match = GIST.match((element.get("src") or "").strip())
        return f"https://gist.github.com/{match[1]}{match[2] or ''}" if match else ""
    if element.tag == "blockquote":
        return _post_url(element)
    attribute, address = _PLAYERS[element.tag]
    name = element.get(attribute) or ""
    return address + name if _NAME.fullmatch(name) else ""


def _post_url(quote: Element) -> str:
    """Return the frame URL of the Instagram post that a ``blockquote`` represents; else empty."""
    post = _POST.match(quote.get("data-instgrm-permalink") or "")
    return f"{post[1]}embed/" if post else ""


MAX_TITLE = 200
MAX_URL = 4096
_MAX_AROUND = 20
"""Maximum number of elements in a figure that is checked for containing only a card."""

_SHOWN = frozenset("figcaption img svg video audio table pre math".split())
"""Elements that are content of a figure in addition to an embed."""

_NAMES = (
    "youtube youtu[.]be vimeo dailymotion dai[.]ly twitch wistia soundcloud spotify bandcamp "
    "mixcloud podcast codepen jsfiddle codesandbox gist observablehq datawrapper dwcdn flourish "
    "infogram twitter instagram tiktok facebook bsky mastodon reddit slideshare speakerdeck "
    "scribd documentcloud archive[.]org ted[.]com maps openstreetmap loom rumble peertube "
    "bilibili ustream streamable jwplatform jwplayer brightcove kaltura player embed video "
    "docs[.]google drive[.]google"
)
_NAMED = re.compile(rf"(?:^|[./-])(?:{'|'.join(_NAMES.split())})", re.IGNORECASE)
"""Names in hosts and paths of players and other widgets."""

_NOT_CONTENT = re.compile(
    r"doubleclick|adservice|/ads?[/.?]|googletag|recaptcha|like\.php|plugins/(?:like|share|follow)"
    r"|widgets/follow|subscribe|newsletter|signup|disqus|comments",
    re.IGNORECASE,
)
_PDF = re.compile(r"(?:https?:|(?![\w+.-]*:)).*?\.pdf(?:$|[?#&])", re.IGNORECASE)
"""URL of a PDF or its viewer, with no scheme other than http(s)."""

_YOUTUBE = re.compile(r"/(?:embed|v|e|shorts)/([A-Za-z0-9_-]{6,})")
_VIMEO = re.compile(r"/video/([0-9]+)")


def normalise_embeds(root: Element) -> None:
    """Replace embeds by cards (links to the embedded page); remove those that are not content."""
    _show_empty_posts(root)
    holding = ancestors(root.iter("img"))
    for element in list(root.iter("iframe", "embed", "object")):
        if element.getparent() is None:
            continue
        url = (element.get("src") or element.get("data-src") or element.get("data") or "").strip()
        url = url or _parameter(element)
        if is_embed(element, url):
            card = _card(element, url)
            replace(element, card)
            space_around(card)
            _normalise_figure(card)
        elif element.tag == "object" and element in holding:
            element.tag = "span"
        else:
            remove(element)


def _show_empty_posts(root: Element) -> None:
    """Replace quotations that consist of a link without text, such as of posts, by cards."""
    quotes = [*root.iter("blockquote")]
    worded = with_words(root) if quotes else set()
    for quote in quotes:
        link = next(quote.iter("a"), None) if quote not in worded else None
        if link is None or len(link):
            continue
        url = link.get("href") or ""
        if url.startswith(("http:", "https:")) and len(url) <= MAX_URL:
            replace(quote, _card(quote, url))


def _normalise_figure(card: Element) -> None:
    """Turn the figure around a card into a ``div``, if it contains nothing else."""
    figure = next(card.iterancestors("figure"), None)
    inside = [*islice(figure.iter(), _MAX_AROUND)] if figure is not None else []
    if figure is None or len(inside) == _MAX_AROUND or any(each.tag in _SHOWN for each in inside):
        return
    if first_text(figure, 2 * MAX_TITLE) == " ".join((card.text or "").split()):
        figure.tag = "div"


def is_embed(element: Element, url: str) -> bool:
    """Return whether an embedded frame belongs to the content."""
    if len(url) > MAX_URL:
        return False
    if _PDF.match(url):
        return True
    is_page = url.startswith(("http:", "https:", "//", "/"))
    if not is_page or _NOT_CONTENT.search(url):
        return False
    if _NAMED.search(url.partition("?")[0]):
        return True
    if element.tag != "iframe" and element.get("type") == "application/pdf":
        return True
    return "allowfullscreen" in element.attrib or element.getparent().tag == "figure"


def _card(element: Element, url: str) -> Element:
    link = media_page(url)
    host = _host(link) or "this site"
    title = " ".join((element.get("title") or element.get("aria-label") or "").split())
    card = etree.Element("a", {"class": "embed", "href": link})
    card.text = f"{title[:MAX_TITLE]} \u00b7 {host}" if title else f"Embedded from {host}"
    return card


def media_page(url: str) -> str:
    """Return the URL of the page with a player's media, or the URL itself if it is unknown."""
    host = _host(url)
    if not host:
        return url
    parts = urlsplit(url)
    if match := _YOUTUBE.match(parts.path):
        if "youtube" in host and match[1] != "videoseries":
            return f"https://www.youtube.com/watch?v={match[1]}"
    elif "vimeo" in host and (match := _VIMEO.match(parts.path)):
        return f"https://vimeo.com/{match[1]}"
    elif "instagram" in host:
        return url.removesuffix("embed/")
    elif "twitter" in host:
        number = dict(parse_qsl(parts.query[:2048])).get("id", "")
        if number.isdigit():
            return f"https://twitter.com/i/status/{number}"
    return url


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower().removeprefix("www.")
    except ValueError:
        return ""


def _parameter(element: Element) -> str:
    for each in element:
        name = (each.get("name") or "").lower()
        is_source = each.tag == "param" and name in {"movie", "src", "url"}
        if is_source or each.tag == "embed":
            return (each.get("value") or each.get("src") or "").strip()
    return ""
