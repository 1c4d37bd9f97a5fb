"""What a page leaves to scripts to make players and cards of: frames, as the scripts would make."""

import re

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.tree import replace

GIST = re.compile(r"(?:https?:)?//gist\.github\.com/([\w-]{1,60}/[0-9a-f]{5,64})\.js(?:\?|$)")
"""The address of a script that shows code which lies at GitHub."""

_PLAYERS = {
    "lite-youtube": ("videoid", "https://www.youtube.com/embed/"),
    "amp-youtube": ("data-videoid", "https://www.youtube.com/embed/"),
    "lite-vimeo": ("videoid", "https://player.vimeo.com/video/"),
    "amp-vimeo": ("data-videoid", "https://player.vimeo.com/video/"),
}
"""Elements of players, what holds the name of what they play, and where that is played."""

_NAME = re.compile(r"[\w-]{4,40}", re.ASCII)
_POST = re.compile(r"(https://www\.instagram\.com/(?:p|reel|tv)/[\w-]{1,60}/)")


def settle_widgets(body: Element) -> None:
    """Make frames of players, of code that lies elsewhere, and of posts that have no words yet."""
    for element in list(body.iter("script", "blockquote", *_PLAYERS)):
        url = _played(element)
        if url and element.getparent() is not None:
            frame = etree.Element("iframe", {"src": url})
            title = element.get("title") or element.get("playlabel")
            if title:
                frame.set("title", title)
            replace(element, frame)


def _played(element: Element) -> str:
    """Where a frame would be; empty for what is none."""
    if element.tag == "script":
        found = GIST.match((element.get("src") or "").strip())
        return f"https://gist.github.com/{found[1]}" if found else ""
    if element.tag == "blockquote":
        post = _POST.match(element.get("data-instgrm-permalink") or "")
        has_words = any(each.strip() for each in element.itertext())
        return f"{post[1]}embed/" if post and not has_words else ""
    attribute, address = _PLAYERS[element.tag]
    name = element.get(attribute) or ""
    return address + name if _NAME.fullmatch(name) else ""
