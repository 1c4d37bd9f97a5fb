"""Leads the media of a sanitised article into the archive, so that reading asks nobody else."""

import re
from html import escape, unescape

from archiver.model.capture import Timestamp
from archiver.rewrite.address import Modifier, PathWriter, ReplayAddress, plain_path
from archiver.rewrite.values import rewrite_srcset

_TAG = re.compile(r'<(?:img|source|video|audio)(?:[^<>"]|"[^"]*")*>')
_HEADING = re.compile(
    r"(?:<(?:div|article|section|main|header)[^<>]*>\s*)*"
    r"(?P<heading><h[12](?:[^<>]*)>(?P<words>.{0,400}?)</h[12]>)",
    re.DOTALL,
)
_ANY_TAG = re.compile(r"<[^<>]*>")
_ATTRIBUTE = re.compile(r'(\s(src|srcset|poster)=)"([^"]*)"')


def archive_images(html: str, timestamp: Timestamp, *, write: PathWriter = plain_path) -> str:
    """Rewrite what images, films and recordings are loaded from; links stay as they are.

    What an image holds itself, as ``data:``, stays, too.

    Args:
        html: as ``html.sanitise`` gives it: attributes in double quotes, URLs absolute.
        timestamp: of the snapshot the article is of.
        write: writes where an image is asked for.
    """

    def lead(url: str) -> str:
        if not url.startswith(("http://", "https://")):
            return ""
        return write(ReplayAddress(timestamp, Modifier.IMAGE, url))

    def attribute(found: re.Match[str]) -> str:
        value = unescape(found[3])
        if found[2] == "src" and value.startswith("data:image/"):
            return found[0]
        led = rewrite_srcset(value, lead) if found[2] == "srcset" else lead(value)
        return f'{found[1]}"{escape(led)}"'

    return _TAG.sub(lambda tag: _ATTRIBUTE.sub(attribute, tag[0]), html)


def without_title(html: str, title: str) -> str:
    """An article without a first heading that only repeats the page's title."""
    found = _HEADING.match(html)
    if found and " ".join(unescape(_ANY_TAG.sub("", found["words"])).split()) in title:
        return html[: found.start("heading")] + html[found.end("heading") :]
    return html
