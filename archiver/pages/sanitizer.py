"""HTML sanitizer with an allow-list."""

import re
from html import escape
from typing import Final
from urllib.parse import quote

import nh3
from selectolax.lexbor import LexborHTMLParser

from archiver.pages.article_text import without_tags
from archiver.pages.foreign_elements import MATHML, MATHML_ATTRIBUTES, SVG, SVG_ATTRIBUTES
from archiver.pages.parsing import is_too_deep, is_valid_value, limit_attributes

PREFIX: Final = "a-"
"""Prefix of every id in an article, which keeps it different from ids of the surrounding page."""

TAGS: Final = frozenset(
    "a abbr address article aside audio b bdi bdo blockquote br caption cite code col colgroup dd "
    "del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins "
    "kbd li main mark ol p picture pre q rp rt ruby s samp section small source span strong sub "
    "summary sup table tbody td tfoot th thead time tr u ul var video wbr".split()
)
"""Allowed HTML elements; other elements are reduced to their content."""

_ATTRIBUTES = {
    "*": {"lang", "dir", "title", "id"},
    "a": {"href", "class"},
    "audio": {"src", "controls", "preload"},
    "img": {"src", "srcset", "sizes", "alt", "width", "height", "hidden"},
    "source": {"src", "srcset", "media", "type", "sizes"},
    "video": {"src", "poster", "controls", "preload", "width", "height"},
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
"""Characters that a fragment cannot contain unescaped."""

_ATTRIBUTE_LIST = r'(?: (?!rel=)[a-z]+="[^"]*")'
_EARLY_REL = re.compile(rf'<a({_ATTRIBUTE_LIST}*)( rel="[a-z ]*")({_ATTRIBUTE_LIST}+)>')
"""Link whose ``rel`` is not the last attribute, where it is after a second cleaning."""

_BARE_LINK = re.compile(r'<a((?: (?!href=)[a-z]+="[^"]*")*) rel="noopener noreferrer">')
"""Link without ``href``, which needs no ``rel``."""

_URLS = frozenset({"href", "src", "poster", "cite"})
_CLASS = re.compile(r"language-[a-z0-9+#.-]{1,32}|embed")
_COLOUR = re.compile(
    "bp|c[1hmsp]?|cpf|d[l]|err|esc|fm|g[deghioprstu]?|ges|il|k[cdnprt]?|ld?|m[bfhio]?|"
    "n[abcdefilnotvx]?|ow?|pm?|py|s[12abcdehirsx]?|v[cgim]|w|x"
)
"""Pygments' short class names of tokens."""
_ID = re.compile(r"(?:a-)?[^\s\"'<>&]{1,198}")
_ABSOLUTE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_IMAGE_DATA_URL = re.compile(r"data:image/(?:png|gif|jpe?g|webp|avif|svg\+xml)[;,]", re.IGNORECASE)
_PAINT = re.compile(r"url\(\s*(['\"]?)#(?P<id>[^\s'\"()<>&]{1,200})\1\s*\)")
_COMPUTED = re.compile(
    r"\s*(?:(?:matrix|translate[xy]?|scale[xy]?|rotate|skew[xy]|rgba?|hsla?)"
    r"\([\d\s.,%e/+-]{0,200}\)[\s,]*){1,20}",
    re.IGNORECASE,
)
"""Transforms and colours: functions that load nothing."""

_FIRST_LINE = re.compile(r"(<pre(?:[^<>\"]|\"[^\"]*\")*>)\n+")
_MAX_ROUNDS = 8


def sanitise(html: str) -> str:
    """Return HTML with only structure, text, links, media over http(s), formulas and SVG.

    Sanitising is idempotent. HTML that is nested too deep, or that still changes after several
    rounds, is reduced to its text.
    """
    if is_too_deep(html):
        return escape(without_tags(html))
    clean = _clean(limit_attributes(html))
    for _ in range(_MAX_ROUNDS):
        again = clean if _is_stable(clean) else _clean(clean)
        if again == clean:
            return clean
        clean = again
    return escape(without_tags(clean))


def _clean(html: str) -> str:
    ordered = _EARLY_REL.sub(r"<a\1\3\2>", _CLEANER.clean(html))
    return _FIRST_LINE.sub(r"\1", _BARE_LINK.sub(r"<a\1>", ordered))


def _is_stable(clean: str) -> bool:
    """Return whether a parser reads exactly the elements and attributes that are written.

    Then cleaning again changes nothing, and takes three times as long to find out.
    """
    body = LexborHTMLParser(f"<body>{clean}").body
    return body is not None and body.inner_html == clean


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Return the allowed value of an attribute; None if it is forbidden."""
    if name == "id":
        return _namespaced(value)
    if tag in SVG and name not in {"title", "lang", "dir"}:
        return _svg_value(tag, name, value)
    if name in _URLS:
        return _address(tag, name, value)
    if tag not in MATHML and not is_valid_value(tag, name, value):
        return None
    if name == "class":
        allowed = _COLOUR if tag == "span" else _CLASS
        return value if allowed.fullmatch(value) else None
    return value


def _namespaced(name: str) -> str | None:
    if not _ID.fullmatch(name):
        return None
    return name if name.startswith(PREFIX) else PREFIX + name


def _address(tag: str, name: str, value: str) -> str | None:
    if tag == "a" and value.startswith("#"):
        fragment = _UNQUOTED.sub(lambda each: quote(each[0]), _namespaced(value[1:]) or "")
        return f"#{fragment}" if _ID.fullmatch(fragment) else None
    if tag == "img" and name == "src" and _IMAGE_DATA_URL.match(value):
        return value
    return value if _ABSOLUTE.match(value) else None


def _svg_value(tag: str, name: str, value: str) -> str | None:
    """Return the allowed value of an SVG attribute; None if it is forbidden.

    References to other documents are allowed only in links.
    """
    if name == "href":
        if tag == "a":
            return _address(tag, name, value)
        fragment = _namespaced(value[1:]) if value.startswith("#") else None
        return f"#{fragment}" if fragment else None
    if "(" not in value and "\\" not in value:
        return value
    if (match := _PAINT.fullmatch(value.strip())) and (target := _namespaced(match["id"])):
        return f"url(#{target})"
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
