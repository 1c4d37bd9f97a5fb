"""References in HTML and SVG: attributes that contain them, also for lazy loading, and syntax.

This includes the syntax of ``srcset``, refreshes and ``Link`` header fields. The discovery of page
requisites and replay use this module. ``itemid``, ``itemtype`` and RDFa's attributes are not
included, because they are identifiers.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from archiver.http.headers import link_values
from archiver.model.requisite import RequisiteKind


class Use(StrEnum):
    """Use of a reference.

    ``ANCHOR`` is followed, not loaded; ``SCRIPT`` is not loaded by a page without scripts;
    ``PAINT`` is an image in CSS, which some properties load with CORS (masks, clip paths, shapes);
    ``INERT`` has no use in an archive: pings, preconnects, obsolete plugins.
    """

    ANCHOR = "anchor"
    FRAME = "frame"
    IMAGE = "image"
    PAINT = "paint"
    STYLE = "style"
    SCRIPT = "script"
    FONT = "font"
    ICON = "icon"
    MEDIA = "media"
    OTHER = "other"
    INERT = "inert"

    __hash__ = str.__hash__  # hashed for every reference, and the hash of an enumeration is slow


class Form(StrEnum):
    """Syntax of the references in an attribute's value."""

    URL = "url"
    SRCSET = "srcset"
    CSS = "css"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Pointer:
    """Syntax and use of the references in an attribute's value.

    With ``CSS`` and ``DOCUMENT``, the value may contain references with other uses.
    """

    use: Use
    form: Form = Form.URL


ValueOf = Callable[[str], str]
"""Function that returns an element's attribute by lower-case name; empty if it is missing."""


@dataclass(frozen=True, slots=True)
class ConditionalPointer:
    """Attribute whose use depends on the element's other attributes.

    Attributes:
        uses: the possible uses.
        choose: returns the pointer for one element, given a function that reads its attributes;
            None if the attribute is not a reference on this element.
    """

    uses: frozenset[Use]
    choose: Callable[[ValueOf], Pointer | None]


Rule = Pointer | ConditionalPointer

REQUISITE_KINDS: Final = {
    Use.FRAME: RequisiteKind.FRAME,
    Use.IMAGE: RequisiteKind.IMAGE,
    Use.PAINT: RequisiteKind.IMAGE,
    Use.STYLE: RequisiteKind.STYLE,
    Use.FONT: RequisiteKind.FONT,
    Use.ICON: RequisiteKind.ICON,
    Use.MEDIA: RequisiteKind.MEDIA,
    Use.OTHER: RequisiteKind.OTHER,
}
"""Kinds of requisites, by use; uses that a page without scripts does not load are missing."""

POINTERS: Final = {use: Pointer(use) for use in Use}
"""Pointers for attributes that hold exactly one URL, by use."""


MAX_NESTED_DOCUMENTS: Final = 3
"""Maximum depth of nested ``srcdoc`` documents that are read."""

_AROUND: Final = "".join(map(chr, range(0x21)))
_WITHOUT_LINES: Final = {ord("\t"): None, ord("\n"): None, ord("\r"): None}


def resolve(rule: Rule | None, value_of: ValueOf) -> Pointer | None:
    """Return the pointer of an attribute on one element.

    Args:
        rule: the rule of the attribute; None if it has none.
        value_of: returns the attributes of the element.

    Returns:
        None if the attribute is not a reference on this element.
    """
    return rule.choose(value_of) if isinstance(rule, ConditionalPointer) else rule


def is_loaded(rule: Rule) -> bool:
    """Return whether a browser may load the reference of an attribute."""
    if isinstance(rule, ConditionalPointer):
        return not rule.uses.isdisjoint(REQUISITE_KINDS)
    return rule.use in REQUISITE_KINDS


def clean_reference(reference: str) -> str:
    """Remove the characters that browsers ignore in a URL (WHATWG URL §4.4)."""
    stripped = reference.strip(_AROUND)
    if "\n" in stripped or "\t" in stripped or "\r" in stripped:
        return stripped.translate(_WITHOUT_LINES)
    return stripped


HINTS: Final = frozenset({"dns-prefetch", "preconnect", "prerender"})
"""Link relations without effect in an archive."""

PRELOADS: Final = frozenset({"preload", "modulepreload", "prefetch"})
"""Link relations that load early what this page, or the next one, requests anyway."""

_PRELOADED: Final = {
    "style": Use.STYLE,
    "font": Use.FONT,
    "image": Use.IMAGE,
    "audio": Use.MEDIA,
    "video": Use.MEDIA,
    "track": Use.MEDIA,
    "script": Use.SCRIPT,
    "worker": Use.SCRIPT,
    "sharedworker": Use.SCRIPT,
    "serviceworker": Use.SCRIPT,
    "audioworklet": Use.SCRIPT,
    "paintworklet": Use.SCRIPT,
}

LINK_USES: Final = frozenset(
    {Use.STYLE, Use.ICON, Use.OTHER, Use.ANCHOR, Use.INERT, *_PRELOADED.values()}
)
"""Possible uses of links."""


def link_use(rel: str, loaded_as: str) -> Use:
    """Return the use of a link with this ``rel`` and ``as``.

    Prefetches for the next page, and preloads that only scripts use (``as=fetch``), are
    ``ANCHOR``, because a page without scripts does not need them.
    """
    relations = frozenset(rel.lower().split())
    if "stylesheet" in relations:
        return Use.STYLE
    if any("icon" in relation for relation in relations):
        return Use.ICON
    if "manifest" in relations:
        return Use.OTHER
    if "modulepreload" in relations:
        return Use.SCRIPT
    if "preload" in relations:
        return _PRELOADED.get(loaded_as.strip().lower(), Use.ANCHOR)
    return Use.INERT if relations and relations <= HINTS else Use.ANCHOR


_USUAL: Final = (
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-original-src",
    "data-lazy",
    "data-url",
)
"""Lazy-loading attributes that are used even if ``src`` has no placeholder."""

LAZY: Final = {
    "src": (
        *_USUAL,
        *(
            "data-lazyload",
            "data-lazy-load",
            "data-ll-src",
            "data-cfsrc",
            "data-ezsrc",
            "data-echo",
        ),
        *("data-opt-src", "data-breeze", "nitro-lazy-src", "lazy-src", "v-lazy", "data-defer-src"),
        *("data-flickity-lazyload", "data-delayed-url", "data-actualsrc", "data-runner-src"),
        *("data-full-src", "data-hi-res-src", "data-raw-src", "data-img-src", "data-image-src"),
        *("data-src-large", "data-src-medium", "data-src-retina", "data-src-small", "data-image"),
        *("data-large-file", "data-orig-file", "data-pin-media", "original", "real_src", "_src"),
        *("data-full-url", "data-full", "data-hires", "data-hi-res", "data-high-res-src"),
        *("data-highres", "data-default-src", "data-real-src", "data-origin-src", "data-origin"),
        *("data-spai-src", "data-wpfc-original-src", "data-pagespeed-lazy-src", "data-mars-src"),
        *("data-pagespeed-high-res-src", "data-splide-lazy", "data-url-large", "data-large-src"),
        *("data-large", "data-src-full", "data-lazysrc", "data-lazy-image", "data-lazy-img"),
        *("data-load-src", "data-async-src", "data-imgsrc", "data-img", "data-img-url"),
        *("data-image-url", "data-native-src", "data-smartload-src", "data-realurl"),
        *("loadlate", "lazysrc", "realsrc", "osrc", "lay-src", "zoomfile", "file"),
    ),
    "srcset": (
        *("data-srcset", "data-lazy-srcset", "data-original-set", "data-bgset", "data-ll-srcset"),
        *("data-flickity-lazyload-srcset", "nitro-lazy-srcset", "data-opt-srcset", "lazy-srcset"),
        *("data-splide-lazy-srcset", "data-pagespeed-lazy-srcset", "data-wpfc-original-srcset"),
        *("data-spai-srcset", "data-ezsrcset", "data-full-srcset", "data-hires-srcset"),
    ),
    "poster": ("data-poster",),
}
"""Lazy-loading attributes by the attribute to which scripts copy their value, likeliest first.

The attributes for ``src`` that are not in ``_USUAL`` are used only if ``src`` is missing, a
placeholder or a preview. The same applies to those for ``poster``.
"""

BACKGROUNDS: Final = (
    *("data-bg", "data-background", "data-background-image", "data-bg-image", "data-bg-src"),
    *("data-bg-url", "data-lazy-background", "data-lazy-bg", "data-lazy-background-image"),
)
"""Lazy-loading attributes for background images; the value is a URL or ``url(…)``."""

LAZY_IMAGES: Final = (
    *("data-src", "data-lazy-src", "data-original", "data-lazy", "data-img", "data-img-url"),
    *("data-image", "data-image-url", "data-image-src", "data-img-src"),
)
"""Lazy-loading attributes of any element; the value is a URL if it ends like an image name."""

_MAX_URL = 8192
_MAX_PLACEHOLDER = 2048
_PLACEHOLDER = re.compile(
    r"data:|about:blank|#|(?:[^?#]*/)?(?:blank|none|empty|dummy|spacer|placeholder|pixel|transparent|trans|clear"
    r"|loading|loader|lazy|lazyload|grey|gray|1x1)[-_.0-9a-z]*\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|\Z)"
    r"|(?:[^?#]*/)?(?:[a-z]|px|pix|dot|[a-z]{2,3}_trans|[0-9]{1,2})\.gif(?:[?#]|\Z)",
    re.IGNORECASE,
)
_PREVIEW = re.compile(
    r"(?:[^?#]*[/._-])?(?:tiny|blur(?:red|ry)?|lqip|low-?res|thumb(?:nail)?s?|preview|small)"
    r"(?:[-_.][-_.0-9a-z]*)?\.(?:gif|png|svg|jpe?g|webp|avif)(?:[?#]|\Z)",
    re.IGNORECASE,
)
_LAZY_NAME = re.compile(r"lazy|lqip|blur|progressive", re.IGNORECASE)
_IMAGE_END = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp)\Z", re.IGNORECASE)
_ABSOLUTE = re.compile(r"(?:https?:)?/{1,2}\S", re.IGNORECASE)
_NO_URL = re.compile(r"[\s{}<>\"']")
_TEMPLATE = re.compile(r"\{(?:width|height|size)\}|\{\{")
"""Variables that a script replaces, such as those of Shopify and Vue."""
_SUFFIX = re.compile(r"[^?#]\.\w{2,5}(?:[?#]|\Z)")


def is_placeholder(value: str) -> bool:
    """Return whether an image's source is only a placeholder."""
    url = value.strip()
    return not url or _PLACEHOLDER.match(url[:_MAX_PLACEHOLDER]) is not None


def is_preview(value_of: ValueOf) -> bool:
    """Return whether an image shows a preview that a script replaces, by its name or class."""
    if _LAZY_NAME.search(value_of("class")[:_MAX_PLACEHOLDER]):
        return True
    return _PREVIEW.match(value_of("src").strip()[:_MAX_PLACEHOLDER]) is not None


def is_image_url(value: str) -> bool:
    """Return whether a value is a URL whose path ends like the name of an image."""
    url = value.strip()
    if not url or len(url) > _MAX_URL or _NO_URL.search(url):
        return False
    return _IMAGE_END.search(url.partition("?")[0].partition("#")[0]) is not None


def lazy_rules(eager: dict[str, Rule]) -> dict[str, Rule]:
    """Return the rules of the lazy-loading attributes of an element, by attribute name.

    ``eager`` contains the rules of its other attributes, such as ``src``.
    """
    return {
        lazy: _rule(lazy, pointer, name)
        for name, pointer in eager.items()
        if name in LAZY and isinstance(pointer, Pointer)
        for lazy in LAZY[name]
    }


def background_rules() -> dict[str, Rule]:
    """Return the rules of lazy-loading attributes for background images on any element."""
    return {name: _background_rule(name) for name in BACKGROUNDS} | {
        "data-bgset": _rule("data-bgset", Pointer(Use.IMAGE, Form.SRCSET)),
        **{name: _image_rule(name) for name in LAZY_IMAGES},
    }


def _background_rule(name: str) -> Rule:
    def choose(value_of: ValueOf) -> Pointer | None:
        value = value_of(name).strip()
        if value[:4].lower() == "url(":
            return Pointer(Use.IMAGE, Form.CSS)
        return POINTERS[Use.IMAGE] if _is_like_a_url(value) else None

    return ConditionalPointer(frozenset({Use.IMAGE}), choose)


def _rule(name: str, pointer: Pointer, eager: str = "") -> Rule:
    """Return a rule for an attribute that may also hold other data: JSON, titles, flags.

    ``eager`` is the attribute whose value it replaces; empty if the attribute is used in any case.
    """
    is_usual = name in _USUAL or pointer.form is Form.SRCSET or not eager
    is_source = pointer.form is Form.SRCSET or name.endswith("src")
    is_meant = _is_no_data if is_source else _is_like_a_url

    def choose(value_of: ValueOf) -> Pointer | None:
        if not is_meant(value_of(name).strip()):
            return None
        is_waiting = is_usual or is_placeholder(value_of(eager)) or is_preview(value_of)
        return pointer if is_waiting else None

    return ConditionalPointer(frozenset({pointer.use}), choose)


def _image_rule(name: str) -> Rule:
    """Return a rule for an attribute whose value is an image if it ends like an image name."""

    def choose(value_of: ValueOf) -> Pointer | None:
        return POINTERS[Use.IMAGE] if is_image_url(value_of(name)) else None

    return ConditionalPointer(frozenset({Use.IMAGE}), choose)


def _is_no_data(value: str) -> bool:
    return value != "" and value[0] not in "{[" and _TEMPLATE.search(value[:_MAX_URL]) is None


def _is_like_a_url(value: str) -> bool:
    if len(value) > _MAX_URL:
        return False
    if _ABSOLUTE.match(value):
        return True
    return _NO_URL.search(value) is None and _SUFFIX.search(value) is not None


ROOTS: Final = frozenset({"svg", "math"})
"""Root elements of foreign content; their names are also the kinds of the elements in them."""

HTML_AGAIN: Final = {
    "svg": frozenset({"foreignobject", "desc", "title"}),
    "math": frozenset({"mi", "mo", "mn", "ms", "mtext", "annotation-xml"}),
}
"""Integration points: elements of each kind that contain HTML."""


def element_kind(name: str, around: str) -> str:
    """Return the kind of an element: ``svg``, ``math``, or empty for HTML.

    Args:
        name: lower case.
        around: the kind of its parent's content.
    """
    return around or (name if name in ROOTS else "")


def kind_inside(name: str, kind: str) -> str:
    """Return the kind of an element's content."""
    return "" if kind and name in HTML_AGAIN[kind] else kind


Rules = Mapping[str, Rule]

_ANCHOR: Final = POINTERS[Use.ANCHOR]
_FRAME: Final = POINTERS[Use.FRAME]
_IMAGE: Final = POINTERS[Use.IMAGE]
_MEDIA: Final = POINTERS[Use.MEDIA]
_OTHER: Final = POINTERS[Use.OTHER]
_SCRIPT: Final = POINTERS[Use.SCRIPT]
_INERT: Final = POINTERS[Use.INERT]
_SRCSET: Final = Pointer(Use.IMAGE, Form.SRCSET)
_CSS: Final = Pointer(Use.PAINT, Form.CSS)
_SRCDOC: Final = Pointer(Use.FRAME, Form.DOCUMENT)
_RASTER = re.compile(r"image/(?!svg)", re.IGNORECASE)
_URL_PARAMETERS = frozenset({"movie", "src", "url", "data", "code", "filename", "href"})


def _link(value_of: ValueOf) -> Pointer:
    return POINTERS[link_use(value_of("rel"), value_of("as"))]


def _parameter(value_of: ValueOf) -> Pointer | None:
    return _OTHER if value_of("name").strip().lower() in _URL_PARAMETERS else None


def _object_rule(attribute: str) -> Rule:
    """Return the rule of an ``object`` or ``embed`` element.

    It is an image if its type is an image type other than SVG, otherwise a frame.
    """

    def choose(value_of: ValueOf) -> Pointer:
        media_type = value_of("type").strip() or value_of(attribute).strip().partition("data:")[2]
        return _IMAGE if _RASTER.match(media_type) else _FRAME

    return ConditionalPointer(frozenset({Use.IMAGE, Use.FRAME}), choose)


def _with_lazy_rules(rules: dict[str, Rule]) -> dict[str, Rule]:
    """Add the rules of lazy-loading attributes to those of an element."""
    return {**rules, **lazy_rules(rules)}


EVERYWHERE: Final[Rules] = {"style": _CSS, "attributionsrc": _INERT, **background_rules()}
"""Attributes that hold references on any element."""

CUSTOM: Final[Rules] = {"src": _image_rule("src")}
"""Attributes of custom elements, such as ``<lazy-image src=…>``."""

_LINK: Final[dict[str, Rule]] = {"href": _ANCHOR, "xlink:href": _ANCHOR, "ping": _INERT}
_BACKGROUND: Final[Rules] = {"background": _IMAGE}
_CITE: Final[Rules] = {"cite": _ANCHOR}
_IMG: Final = _with_lazy_rules(
    {
        "src": _IMAGE,
        "srcset": _SRCSET,
        "longdesc": _ANCHOR,
        "lowsrc": _IMAGE,
        "dynsrc": _MEDIA,
    }
)
_PLAYED: Final = _with_lazy_rules({"src": _MEDIA, "poster": POINTERS[Use.PAINT]})
_FRAMED: Final = _with_lazy_rules({"src": _FRAME, "srcdoc": _SRCDOC, "longdesc": _ANCHOR})
_SCRIPTED: Final[Rules] = {"src": _SCRIPT, "href": _SCRIPT, "xlink:href": _SCRIPT}

HTML: Final[Mapping[str, Rules]] = {
    "a": _LINK,
    "amp-anim": _IMG,
    "amp-audio": _PLAYED,
    "amp-img": _IMG,
    "amp-video": _PLAYED,
    "applet": dict.fromkeys(("codebase", "code", "archive", "object"), _INERT),
    "area": _LINK,
    "audio": _PLAYED,
    "bgsound": {"src": _MEDIA},
    "blockquote": _CITE,
    "body": _BACKGROUND,
    "button": {"formaction": _ANCHOR},
    "command": {"icon": _IMAGE},
    "del": _CITE,
    "embed": _with_lazy_rules({"src": _FRAME}) | {"src": _object_rule("src")},
    "fencedframe": {"src": _FRAME},
    "form": {"action": _ANCHOR},
    "frame": _FRAMED,
    "head": {"profile": _ANCHOR},
    "html": {"manifest": _INERT},
    "iframe": _FRAMED,
    "image": _IMG,
    "img": _IMG,
    "input": {"formaction": _ANCHOR, "src": _IMAGE},
    "ins": _CITE,
    "link": {"href": ConditionalPointer(LINK_USES, _link), "imagesrcset": _SRCSET},
    "menuitem": {"icon": _IMAGE},
    "object": {"data": _object_rule("data"), "codebase": _INERT, "longdesc": _ANCHOR},
    "param": {"value": ConditionalPointer(frozenset({Use.OTHER}), _parameter)},
    "portal": {"src": _FRAME},
    "q": _CITE,
    "script": _SCRIPTED,
    "source": _with_lazy_rules({"src": _MEDIA, "srcset": _SRCSET}),
    "table": _BACKGROUND,
    "tbody": _BACKGROUND,
    "td": _BACKGROUND,
    "tfoot": _BACKGROUND,
    "th": _BACKGROUND,
    "thead": _BACKGROUND,
    "tr": _BACKGROUND,
    "track": {"src": _MEDIA},
    "video": _PLAYED,
}
"""Rules by lower-case element name.

``base`` is missing, because it changes the base URL of the other references.
"""

PAINT: Final = tuple(
    "fill stroke filter mask clip-path cursor marker marker-start marker-mid marker-end".split()
)
"""SVG attributes that contain CSS (SVG 2 §6.6)."""

_PAINTED: Final[Rules] = dict.fromkeys(PAINT, _CSS)
SVG_ANY: Final[Rules] = {"href": _IMAGE, "xlink:href": _IMAGE, "src": _IMAGE, **_PAINTED}
"""Attributes of any SVG element; browsers load some of them."""

SVG: Final[Mapping[str, Rules]] = {
    "a": {**_LINK, **_PAINTED},
    "image": {**_IMG, **SVG_ANY},
    "script": _SCRIPTED,
}
MATHML: Final[Rules] = {"href": _ANCHOR, "xlink:href": _ANCHOR, "src": _IMAGE}
_NONE: Final[Rules] = {}


def rules_for(name: str, *, foreign: bool, kind: str) -> Rules:
    """Return the rules of an element.

    Args:
        name: lower case.
        foreign: whether it is SVG, MathML, or in an XML document.
        kind: ``svg`` or ``math``; empty for HTML, and for elements of XML whose kind is unknown.
    """
    if not foreign:
        return HTML.get(name, CUSTOM if "-" in name else _NONE)
    if kind == "math":
        return MATHML
    if kind or name not in HTML:
        return SVG.get(name, SVG_ANY)
    return SVG.get(name, HTML[name])


_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_DESCRIPTORS = re.compile(r"(?>(?:[^,(]++|\([^)]*+\)?)*)")


_BETWEEN = "\t\n\f\r ,"


def read_candidates(value: str) -> list[tuple[str, str]]:
    """Return the URL and the descriptors of each image candidate of a ``srcset``."""
    places = [*find_candidates(value)]
    ends = [start for start, _ in places[1:]] + [len(value)] * bool(places)
    return [
        (value[start:url_end], value[url_end:end].strip(_BETWEEN))
        for (start, url_end), end in zip(places, ends, strict=True)
    ]


def find_candidates(value: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each URL in a ``srcset``; descriptors are between the URLs."""
    pos = 0
    while match := _CANDIDATE.match(value, pos):
        start, end = match.span(1)
        url_end = start + len(value[start:end].rstrip(","))
        yield start, url_end
        pos = end
        if url_end == end and (descriptors := _DESCRIPTORS.match(value, pos)):
            pos = descriptors.end()


_REFRESH_START = re.compile(
    r"[\t\n\f\r ]*+([0-9]*+)[0-9.]*+(?:[\t\n\f\r ]*+[;,]|[\t\n\f\r ])[\t\n\f\r ]*+"
    r"(?>(?:[uU][rR][lL][\t\n\f\r ]*+=[\t\n\f\r ]*+)?)"
)


MAX_DELAY = 999_999_999
"""Maximum delay of a refresh in seconds; longer delays are capped."""


def read_refresh(value: str) -> tuple[int, str] | None:
    """Return the delay in seconds and the URL of a refresh ("shared declarative refresh steps").

    Return None if it has no URL: then it reloads its own page.

    >>> read_refresh("0; url='/next'")
    (0, '/next')
    """
    match = _REFRESH_START.match(value)
    if not match or match.end() == len(value):
        return None
    if not match[1] and not value.lstrip("\t\n\f\r ").startswith("."):
        return None
    url = value[match.end() :]
    if url[0] in "\"'":
        url = url[1:].partition(url[0])[0]
    return min(int(match[1][:10] or "0"), MAX_DELAY), url


MAX_LINK_HEADER: Final = 8192
"""Maximum characters of a response's ``Link`` fields that are parsed."""

_LOADING = frozenset({"stylesheet", "preload", "modulepreload", "icon"})


@dataclass(frozen=True, slots=True)
class LoadingLink:
    """Link that loads a resource.

    Attributes:
        reference: the URI reference as found, decoded as latin-1.
        use: the use of the resource.
        relations: the loading relations, in lower case.
        parameters: all parameters of the link, with lower-case names.
    """

    reference: str
    use: Use
    relations: frozenset[str]
    parameters: dict[str, str]


def read_link_header(value: str) -> Iterator[LoadingLink]:
    """Yield the links of a field's value that load a resource, in order."""
    for reference, parameters in link_values(value[:MAX_LINK_HEADER]):
        rel = parameters.get("rel", "").lower()
        relations = frozenset(rel.split()) & _LOADING
        if relations:
            use = link_use(rel, parameters.get("as", ""))
            yield LoadingLink(reference, use, relations, parameters)
