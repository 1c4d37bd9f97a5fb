"""A sanitised article as XHTML, with the shape that EPUB 3 asks for (EPUB 3.3 §6.1)."""

import re
from collections.abc import Iterator
from html import escape, unescape
from urllib.parse import quote

from lxml import etree
from lxml.etree import _Element as Element

from archiver.urls.parse import is_kept

XHTML = "http://www.w3.org/1999/xhtml"
_SPACES = {"math": "http://www.w3.org/1998/Math/MathML", "svg": "http://www.w3.org/2000/svg"}
_TOKEN = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>\"]|\"[^\"]*\")*)>")
_ATTRIBUTE = re.compile(r'\s([a-zA-Z-]+)="([^"]*)"')
_VOID = frozenset("br col hr img wbr".split())
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_PLAIN = frozenset("article aside section header footer main address details samp".split())
"""Elements that may not stand everywhere, for which another does as well."""
_INLINE = frozenset(
    "abbr b bdi bdo cite code dfn em i kbd mark q s small span strong sub sup u var h1 h2 h3 h4 h5 "
    "h6 p pre caption summary ruby rt".split()
)
"""Elements that hold words, and no blocks."""
_BLOCKS = frozenset(
    "blockquote div dl dt dd figure figcaption h1 h2 h3 h4 h5 h6 hr li ol p pre table ul".split()
)
_ALLOWED = {
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start", "reversed"},
    "li": {"value"},
}
_NUMBERS = frozenset({"colspan", "rowspan", "start", "value", "width", "height"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_ID = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_UNSAFE = "!#$%&'()*+,/:;=?@[]~"


def to_xhtml(html: str) -> str:
    """The content of a body. What can't be made well-formed gives its text."""
    source = f'<body xmlns="{XHTML}">{"".join(_as_xml(html))}</body>'
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        body = etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError:
        return f"<p>{escape(_NO_XML.sub('', unescape(_TOKEN.sub(' ', html))))}</p>"
    _settle(body)
    text: str = etree.tostring(body, encoding="unicode")
    inner = text[text.index(">") + 1 :].removesuffix("</body>")
    return inner if not text.endswith("/>") else ""


def _as_xml(html: str) -> Iterator[str]:
    at = 0
    for tag in _TOKEN.finditer(html):
        yield _text(html[at : tag.start()])
        at = tag.end()
        closing, name, attributes = tag.groups()
        if closing:
            yield f"</{name}>" if name not in _VOID else ""
            continue
        written = "".join(
            f' {key}="{_text(value)}"' for key, value in _ATTRIBUTE.findall(attributes)
        )
        space = f' xmlns="{_SPACES[name]}"' if name in _SPACES else ""
        yield f"<{name}{space}{written}{'/' if name in _VOID else ''}>"
    yield _text(html[at:])


def _text(html: str) -> str:
    return escape(_NO_XML.sub("", unescape(html)))


def _settle(body: Element) -> None:
    for element in list(body.iter()):
        if element is not body and isinstance(element.tag, str):
            _settle_one(element)
    for element in list(body.iter()):
        if element is not body and _name(element) in _INLINE and _holds_blocks(element):
            _become(element, "div")
    for element in list(body.iter()):
        _settle_children(element)
    _settle_ids(body)


def _settle_one(element: Element) -> None:
    name = _name(element)
    if not name:
        element.attrib.pop("lang", None)
        element.attrib.pop("dir", None)
        return
    if name in _PLAIN:
        _become(element, "div" if name != "samp" else "code")
    elif name in {"time", "ins", "del", "bdo", "wbr", "picture"}:
        _become(element, "")
    elif name == "summary":
        _become(element, "p")
    kept = _ALLOWED.get(_name(element), set()) | {"id", "title", "class"}
    if element.get("dir") in {"ltr", "rtl", "auto"}:
        kept |= {"dir"}
    language = element.get("lang")
    for key, value in list(element.attrib.items()):
        if key not in kept or (key in _NUMBERS and not value.isdecimal()):
            del element.attrib[key]
    if language and _LANGUAGE.fullmatch(language):
        element.set("lang", language)
        element.set("{http://www.w3.org/XML/1998/namespace}lang", language)


def _settle_children(element: Element) -> None:
    name = _name(element)
    if name in {"ul", "ol"}:
        _wrap(element, {"li"}, "li")
    elif name == "dl" and not _is_list_of_definitions(element):
        for child in element:
            _become(child, "div")
        _become(element, "div")
    elif name == "figure":
        captions = [each for each in element if _name(each) == "figcaption"]
        at_edge = [each for each in captions if each in (element[0], element[-1])][:1]
        for each in captions:
            if each not in at_edge:
                _become(each, "div")
    elif name in {"li", "dt", "dd", "figcaption"} and not _stands_well(element):
        _become(element, "div")


def _stands_well(element: Element) -> bool:
    above = element.getparent()
    within = {"li": {"ul", "ol"}, "figcaption": {"figure"}}.get(_name(element), {"dl", "div"})
    return above is not None and _name(above) in within


def _is_list_of_definitions(element: Element) -> bool:
    """Whether it is groups of terms with what they mean, and no words beside them."""
    names = [_name(each) for each in element]
    beside = [element.text, *(each.tail for each in element)]
    pairs = [(one, other) for one, other in zip(["dd", *names], [*names, "dt"], strict=True)]
    return (
        bool(names)
        and {*names} <= {"dt", "dd"}
        and not any((text or "").strip() for text in beside)
        and ("dt", "dt") not in pairs[-1:]
        and names[0] == "dt"
        and names[-1] == "dd"
        and not any(
            _name(each) in {"h1", "h2", "h3", "h4", "h5", "h6"}
            for term in element
            if _name(term) == "dt"
            for each in term.iter()
        )
    )


def _wrap(element: Element, allowed: set[str], into: str) -> None:
    """Put children that may not stand there, and words, into one that may."""
    for text, after in [(element.text, None), *((each.tail, each) for each in element)]:
        if text and text.strip():
            made = etree.Element(f"{{{XHTML}}}{into}")
            made.text = text
            if after is None:
                element.text = None
                element.insert(0, made)
            else:
                after.tail = None
                element.insert(element.index(after) + 1, made)
    for child in list(element):
        if _name(child) not in allowed:
            made = etree.Element(f"{{{XHTML}}}{into}")
            element.replace(child, made)
            made.append(child)
    if not len(element):
        _become(element, "div")


def _settle_ids(body: Element) -> None:
    """Each id once, in a form that XML takes; links lead to those that are there."""
    seen: set[str] = set()
    for element in body.iter():
        name = element.get("id")
        if name is None:
            continue
        if name in seen or not _ID.fullmatch(name):
            del element.attrib["id"]
        else:
            seen.add(name)
    for link in list(body.iter(f"{{{XHTML}}}a")):
        href = link.get("href", "")
        if href.startswith("#"):
            is_there = href[1:] in seen
        else:
            is_there = href.startswith("mailto:") or is_kept(href)
            link.set("href", quote(href, safe=_UNSAFE))
        if not is_there or any(_name(each) == "a" for each in link.iterancestors()):
            link.attrib.pop("href", None)


def _holds_blocks(element: Element) -> bool:
    return any(_name(each) in _BLOCKS for each in element.iterdescendants())


def _name(element: Element) -> str:
    """The name of an element of XHTML; empty for another's."""
    tag = element.tag
    return tag.removeprefix(f"{{{XHTML}}}") if isinstance(tag, str) and XHTML in tag else ""


def _become(element: Element, name: str) -> None:
    """Give an element another name; without one it is a span."""
    element.tag = f"{{{XHTML}}}{name or 'span'}"
