"""Which pictures an article shows, and putting others in their places."""

import re
from collections.abc import Callable, Iterator
from html import escape, unescape

_IMAGE = re.compile(r'<img(?:[^<>"]|"[^"]*")*>')
_SOURCE = re.compile(r'<source(?:[^<>"]|"[^"]*")*>')
_PLAYED = re.compile(r"<(video|audio)((?:[^<>\"]|\"[^\"]*\")*)>(.*?)</\1>", re.DOTALL)
_ATTRIBUTE = re.compile(r'\s(src|srcset|poster|alt|width|height|hidden)="([^"]*)"')
_CANDIDATE = re.compile(r"\s*([^\s,]\S*[^\s,]|[^\s,])(?:\s[^,]*)?(?:,|$)")


def candidates(html: str) -> Iterator[tuple[str, ...]]:
    """Of each picture of a sanitised article the addresses it may be at, the best first."""
    for image in _IMAGE.finditer(html):
        attributes = dict(_ATTRIBUTE.findall(image[0]))
        given = [unescape(attributes.get("src", ""))]
        given += [each[1] for each in _CANDIDATE.finditer(unescape(attributes.get("srcset", "")))]
        yield tuple(dict.fromkeys(each for each in given if each.startswith(("http:", "https:"))))


def with_pictures(html: str, place: Callable[[tuple[str, ...]], str]) -> str:
    """The article with each picture where ``place`` says it is, and nothing that is loaded else.

    Args:
        html: sanitised.
        place: from the addresses a picture may be at to where it is now; empty if it is nowhere.
    """
    html = _SOURCE.sub("", _PLAYED.sub(_as_link, html))
    return _IMAGE.sub(lambda image: _placed(image[0], place), html)


def _placed(image: str, place: Callable[[tuple[str, ...]], str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(image))
    kept = [
        (name, attributes[name])
        for name in ("width", "height")
        if attributes.get(name, "").isdecimal()
    ]
    source = unescape(attributes.get("src", ""))
    if not source.startswith("data:image/"):
        source = place(next(candidates(image)))
    words = attributes.get("alt", "")
    if not source:
        return f"<em>[{words or 'a picture that was not kept'}]</em>"
    sizes = "".join(f' {name}="{value}"' for name, value in kept)
    return f'<img src="{escape(source)}" alt="{words}"{sizes}>'


def _as_link(played: re.Match[str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(played[2] + played[3]))
    name = "film" if played[1] == "video" else "recording"
    url = attributes.get("src", "")
    return f'<a href="{url}">[a {name}]</a>' if url else f"<em>[a {name}]</em>"
