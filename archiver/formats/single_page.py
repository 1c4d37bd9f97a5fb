"""Articles as one self-contained page."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from html import escape, unescape

from archiver.http.timestamps import to_datetime
from archiver.model.page import Chapter, Picture
from archiver.pages.shown_article import without_title

_IMAGE = re.compile(r'<img(?:[^<>"]|"[^"]*")*>')
_SOURCE = re.compile(r'<source(?:[^<>"]|"[^"]*")*>')
_PLAYED = re.compile(r"<(video|audio)((?:[^<>\"]|\"[^\"]*\")*)>(.*?)</\1>", re.DOTALL)
_ATTRIBUTE = re.compile(r'\s(src|srcset|poster|alt|width|height|hidden)="([^"]*)"')
_CANDIDATE = re.compile(r"\s*([^\s,]\S*[^\s,]|[^\s,])(?:\s[^,]*)?(?:,|$)")


def image_candidates(html: str) -> Iterator[tuple[str, ...]]:
    """Yield the candidate addresses of each image of a sanitised article, the best first."""
    for image in _IMAGE.finditer(html):
        attributes = dict(_ATTRIBUTE.findall(image[0]))
        sources = [unescape(attributes.get("src", ""))]
        sources += [each[1] for each in _CANDIDATE.finditer(unescape(attributes.get("srcset", "")))]
        yield tuple(dict.fromkeys(each for each in sources if each.startswith(("http:", "https:"))))


def with_pictures(html: str, place: Callable[[tuple[str, ...]], str]) -> str:
    """Return the article with images replaced by ``place`` and without other external content.

    Args:
        html: sanitised HTML.
        place: returns the new address of an image, given its candidate addresses from the best to
            the worst; empty if the image is not archived.
    """
    html = _SOURCE.sub("", _PLAYED.sub(_as_link, html))
    return _IMAGE.sub(lambda image: _placed(image[0], place), html)


def _placed(image: str, place: Callable[[tuple[str, ...]], str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(image))
    placed = [
        (name, attributes[name])
        for name in ("width", "height")
        if attributes.get(name, "").isdecimal()
    ]
    source = unescape(attributes.get("src", ""))
    if not source.startswith("data:image/"):
        source = place(next(image_candidates(image)))
    words = attributes.get("alt", "")
    if not source:
        return f"<em>[{words or 'image not archived'}]</em>"
    sizes = "".join(f' {name}="{value}"' for name, value in placed)
    return f'<img src="{escape(source)}" alt="{words}"{sizes}>'


def _as_link(played: re.Match[str]) -> str:
    attributes = dict(_ATTRIBUTE.findall(played[2] + played[3]))
    name = "film" if played[1] == "video" else "recording"
    url = attributes.get("src", "")
    return f'<a href="{url}">[a {name}]</a>' if url else f"<em>[a {name}]</em>"


STYLE = """
:root { color-scheme: light dark; }
body { font: 1.1rem/1.65 Georgia, serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }
body { overflow-wrap: break-word; }
h1, h2, h3, h4, .about, nav, figcaption, table { font-family: system-ui, sans-serif; }
h1, h2, h3, h4 { line-height: 1.3; }
.about, figcaption { font-size: .9rem; opacity: .8; }
img, svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; font-size: .85rem; line-height: 1.5; padding: .8rem; }
pre { border: 1px solid #8886; }
blockquote { margin-inline: 0; padding-inline-start: 1rem; border-inline-start: 3px solid #8886; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { padding: .3rem .6rem; border-bottom: 1px solid #8886; vertical-align: top; }
th { text-align: start; }
article + article { margin-block-start: 4rem; border-block-start: 1px solid #8886; }
.note { border-inline-start: 3px solid #287; padding-inline-start: .8rem; white-space: pre-line; }
"""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def opening(title: str, contents: list[str]) -> str:
    """Return the start of a page, with a table of contents if there are several articles."""
    listed = "".join(
        f'<li><a href="#c-{n}">{escape(each)}</a></li>' for n, each in enumerate(contents)
    )
    head = f"<h1>{escape(title)}</h1>\n<nav><ol>{listed}</ol></nav>\n" if len(contents) > 1 else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{head}"
    )


def article(chapter: Chapter, number: int) -> str:
    """Return one article, with ids that are unique on the page."""
    language = f' lang="{escape(chapter.language)}"' if chapter.language else ""
    html = without_title(chapter.html, chapter.title)
    html = html.replace(' id="a-', f' id="a{number}-').replace(' href="#a-', f' href="#a{number}-')
    html = html.replace('"url(#a-', f'"url(#a{number}-')
    body = with_pictures(html, lambda urls: _inline(urls, chapter.pictures))
    note = f'<p class="note" lang="en">{escape(chapter.note)}</p>\n' if chapter.note else ""
    return (
        f'<article id="c-{number}"{language}>\n<h1>{escape(chapter.title)}</h1>\n'
        f'<p class="about" lang="en">{about(chapter)}</p>\n{note}{body}\n</article>\n'
    )


CLOSING = "</body>\n</html>\n"


def about(chapter: Chapter) -> str:
    """Return author, source and date as HTML."""
    parts = [
        escape(each) for each in (chapter.byline, chapter.site, chapter.published[:10]) if each
    ]
    if chapter.captured:
        when = to_datetime(chapter.captured)
        parts.append(f"saved {when.day} {when:%b} {when.year}")
    parts.append(f'<a href="{escape(chapter.url)}">{escape(chapter.url)}</a>')
    return " · ".join(parts)


def _inline(urls: tuple[str, ...], pictures: Mapping[str, Picture]) -> str:
    for url in urls:
        if picture := pictures.get(url):
            return f"data:{picture.media_type};base64,{b64encode(picture.data).decode()}"
    return ""
