"""What a page leaves to scripts to make players and cards of: frames, as the scripts would make."""

import re

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.tree import outermost, replace, with_words

GIST = re.compile(
    r"(?:https?:)?//gist\.github\.com/((?:[\w-]{1,60}/)?[0-9a-f]{5,64})\.js"
    r"(?:(\?file=[\w.%+-]{1,200})|\?|$)"
)
"""The address of a script that shows code which lies at GitHub: of whom, if it says, and a file."""

_PLAYERS = {
    "lite-youtube": ("videoid", "https://www.youtube.com/embed/"),
    "amp-youtube": ("data-videoid", "https://www.youtube.com/embed/"),
    "lite-vimeo": ("videoid", "https://player.vimeo.com/video/"),
    "amp-vimeo": ("data-videoid", "https://player.vimeo.com/video/"),
}
"""Elements of players, what holds the name of what they play, and where that is played."""

_OF_AMP = {
    "amp-img": "img",
    "amp-anim": "img",
    "amp-video": "video",
    "amp-audio": "audio",
    "amp-iframe": "iframe",
}
"""Elements of AMP, and what its script makes of them (amp.dev/documentation/components)."""

_NAME = re.compile(r"[\w-]{4,40}", re.ASCII)
_POST = re.compile(r"(https://www\.instagram\.com/(?:p|reel|tv)/[\w-]{1,60}/)")


def settle_widgets(body: Element) -> None:
    """Make frames of players, of code that lies elsewhere, and of posts that have no words yet.

    Pictures and films of AMP become those of HTML.
    """
    for element in outermost(body, *_OF_AMP):
        _settle_amp(element)
    posts = [each for each in body.iter("blockquote") if _post(each)]
    worded = with_words(body) if posts else set()
    empty = (each for each in posts if each not in worded)
    for element in [*body.iter("script", *_PLAYERS), *empty]:
        url = _played(element)
        if url and element.getparent() is not None:
            frame = etree.Element("iframe", {"src": url})
            title = element.get("title") or element.get("playlabel")
            if title:
                frame.set("title", title)
            replace(element, frame)


def _settle_amp(element: Element) -> None:
    """Make of an element of AMP what it stands for, unless that stands in it for want of scripts.

    What else stands in a picture or a frame is shown until that is there.
    """
    meant = _OF_AMP[element.tag]
    if next(element.iter(meant), None) is not None:
        return
    element.tag = meant
    if meant in {"img", "iframe"}:
        element.text = None
        for child in list(element):
            element.remove(child)


def _played(element: Element) -> str:
    """Where a frame would be; empty for what is none."""
    if element.tag == "script":
        found = GIST.match((element.get("src") or "").strip())
        return f"https://gist.github.com/{found[1]}{found[2] or ''}" if found else ""
    if element.tag == "blockquote":
        return _post(element)
    attribute, address = _PLAYERS[element.tag]
    name = element.get(attribute) or ""
    return address + name if _NAME.fullmatch(name) else ""


def _post(quote: Element) -> str:
    """Where a frame with a post would be, which a quote stands for; empty if for none."""
    post = _POST.match(quote.get("data-instgrm-permalink") or "")
    return f"{post[1]}embed/" if post else ""
