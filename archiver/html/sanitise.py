"""Makes HTML of a stranger's safe to show: an allow-list, absolute links, no way to act."""

from html import escape

import nh3

from archiver.html.attribute_floods import limit_attributes
from archiver.html.depth import is_too_deep
from archiver.html.text import without_tags

_TAGS = frozenset(
    "a abbr address article aside b bdi bdo blockquote br caption cite code col colgroup dd del "
    "details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd "
    "li main mark ol p picture pre q rp rt ruby s samp section small source span strong sub "
    "summary sup table tbody td tfoot th thead time tr u ul var wbr".split()
)
_ATTRIBUTES = {
    "*": {"lang", "dir", "title"},
    "a": {"href"},
    "img": {"src", "srcset", "alt", "width", "height"},
    "source": {"srcset", "media", "type", "sizes"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "col": {"span"},
    "ol": {"start", "type", "reversed"},
    "li": {"value"},
    "time": {"datetime"},
    "blockquote": {"cite"},
    "q": {"cite"},
}


def sanitise(html: str) -> str:
    """HTML with nothing in it but structure, text, links and images over http(s).

    What is nested too deep to be parsed in good time gives its text.
    """
    if is_too_deep(html):
        return escape(without_tags(html))
    return nh3.clean(
        limit_attributes(html),
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
        strip_comments=True,
    )
