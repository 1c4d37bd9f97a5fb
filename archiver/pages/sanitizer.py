"""HTML sanitizer with an allow-list."""

import re
from html import escape
from typing import Final
from urllib.parse import quote

import nh3

from archiver.pages.article_text import without_tags
from archiver.pages.foreign_elements import MATHML, MATHML_ATTRIBUTES, SVG, SVG_ATTRIBUTES
from archiver.pages.parsing import is_too_deep, limit_attributes, may_say
from archiver.pages.writing_modes import VERTICAL

PREFIX: Final = "a-"
"""Before every id of an article, so that none is that of anything around it."""

TAGS: Final = frozenset(
    "a abbr address article aside audio b bdi bdo blockquote br caption cite code col colgroup dd "
    "del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins "
    "kbd li main mark ol p picture pre q rp rt ruby s samp section small source span strong sub "
    "summary sup table tbody td tfoot th thead time tr u ul var video wbr".split()
)
"""The elements of HTML that stay; of others, what is in them."""

_ATTRIBUTES = {
    "*": {"lang", "dir", "title", "id"},
    "a": {"href", "class"},
    "audio": {"src", "controls", "preload"},
    "img": {"src", "srcset", "sizes", "alt", "width", "height", "hidden"},
    "source": {"src", "srcset", "media", "type", "sizes"},
    "video": {"src", "poster", "controls", "preload", "width", "height"},
    "div": {"class"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "col": {"span"},
    "code": {"class"},
    "span": {"class"},
    "ol": {"start", "type", "reversed"},
    "li": {"value"},
    "time": {"datetime"},
    "blockquote": {"cite"},
    "q": {"cite"},
}
_UNQUOTED = re.compile(r"[\s\"#<>\[\]\\^`{|}]")
"""What can't stand in a fragment as it is."""

_BARE_LINK = re.compile(r'<a((?: (?!href=)[a-z]+="[^"]*")*) rel="noopener noreferrer">')
"""What leads nowhere is related to nothing."""

_URLS = frozenset({"href", "src", "poster", "cite"})
_CLASS = re.compile(r"language-[a-z0-9+#.-]{1,32}|embed|permalink")
_COLOUR = re.compile(
    "bp|c[1hmsp]?|cpf|d[l]|err|esc|fm|g[deghioprstu]?|ges|il|k[cdnprt]?|ld?|m[bfhio]?|"
    "n[abcdefilnotvx]?|ow?|pm?|py|s[12abcdehirsx]?|v[cgim]|w|x"
)
"""Pygments' short names of what code is made of."""
_ID = re.compile(r"[^\s\"'<>&]{1,200}")
_ABSOLUTE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_DRAWN = re.compile(r"data:image/(?:png|gif|jpe?g|webp|avif|svg\+xml)[;,]", re.IGNORECASE)
_PAINT = re.compile(r"url\(\s*(['\"]?)#(?P<id>[^\s'\"()<>&]{1,200})\1\s*\)")
_COMPUTED = re.compile(
    r"\s*(?:(?:matrix|translate[xy]?|scale[xy]?|rotate|skew[xy]|rgba?|hsla?)"
    r"\([\d\s.,%e/+-]{0,200}\)[\s,]*){1,20}",
    re.IGNORECASE,
)
"""Transforms and colours: the functions that load nothing."""

_FIRST_LINE = re.compile(r"(<pre(?:[^<>\"]|\"[^\"]*\")*>)\n+")
_MOST_ROUNDS = 8


def sanitise(html: str) -> str:
    """HTML with nothing in it but structure, text, links, media over http(s), formulas, drawings.

    What was sanitised stays as it is when it is sanitised again. What is nested too deep to be
    parsed in good time, or never comes to rest, gives its text.
    """
    if is_too_deep(html):
        return escape(without_tags(html))
    clean = _clean(limit_attributes(html))
    for _ in range(_MOST_ROUNDS):
        again = _clean(clean)
        if again == clean:
            return clean
        clean = again
    return escape(without_tags(clean))


def _clean(html: str) -> str:
    return _FIRST_LINE.sub(r"\1", _BARE_LINK.sub(r"<a\1>", _CLEANER.clean(html)))


def _attribute(tag: str, name: str, value: str) -> str | None:
    """What an allowed attribute may say; None where it may not be."""
    if name == "id":
        return _namespaced(value)
    if tag in SVG and name not in {"title", "lang", "dir"}:
        return _drawn(tag, name, value)
    if name in _URLS:
        return _address(tag, name, value)
    if tag not in MATHML and not may_say(tag, name, value):
        return None
    if name == "class":
        allowed = {"span": _COLOUR, "div": VERTICAL}.get(tag, _CLASS)
        return value if allowed.fullmatch(value) else None
    return value


def _namespaced(name: str) -> str | None:
    if not _ID.fullmatch(name):
        return None
    return name if name.startswith(PREFIX) else PREFIX + name


def _address(tag: str, name: str, value: str) -> str | None:
    if tag == "a" and value.startswith("#"):
        fragment = _namespaced(value[1:])
        return f"#{_UNQUOTED.sub(_quoted, fragment)}" if fragment else None
    if tag == "img" and name == "src" and _DRAWN.match(value):
        return value
    return value if _ABSOLUTE.match(value) else None


def _quoted(character: re.Match[str]) -> str:
    return quote(character[0])


def _drawn(tag: str, name: str, value: str) -> str | None:
    """An attribute of a drawing: it points at parts of the same drawing, or nowhere."""
    if name == "href":
        if tag == "a":
            return _address(tag, name, value)
        fragment = _namespaced(value[1:]) if value.startswith("#") else None
        return f"#{fragment}" if fragment else None
    if "(" not in value and "\\" not in value:
        return value
    if found := _PAINT.fullmatch(value.strip()):
        return f"url(#{_namespaced(found['id'])})"
    return value if _COMPUTED.fullmatch(value) else None


_CLEANER: Final = nh3.Cleaner(
    tags=set(TAGS | SVG | MATHML),
    attributes={
        **{tag: set(names) for tag, names in _ATTRIBUTES.items()},
        **{tag: set(SVG_ATTRIBUTES) for tag in SVG - {"a"}},
        **{tag: set(MATHML_ATTRIBUTES) for tag in MATHML},
    },
    url_schemes={"http", "https", "mailto", "data"},
    link_rel="noopener noreferrer",
    strip_comments=True,
    attribute_filter=_attribute,
)
