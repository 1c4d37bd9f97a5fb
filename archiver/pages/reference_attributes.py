"""HTML and SVG attributes that hold references.

``itemid``, ``itemtype`` and RDFa's attributes name things and are none of it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from archiver.model.requisite import RequisiteKind


class Use(StrEnum):
    """What a reference is for.

    ``ANCHOR`` is followed, not loaded; ``SCRIPT`` is not loaded by a page that runs no scripts;
    ``INERT`` is of no use in an archive: pings, connections opened ahead, plugins of the past.
    """

    ANCHOR = "anchor"
    FRAME = "frame"
    IMAGE = "image"
    STYLE = "style"
    SCRIPT = "script"
    FONT = "font"
    ICON = "icon"
    MEDIA = "media"
    OTHER = "other"
    INERT = "inert"

    __hash__ = str.__hash__  # every reference looked up hashes one, and an enumeration's is slow


class Form(StrEnum):
    """How an attribute's value holds its references."""

    URL = "url"
    SRCSET = "srcset"
    CSS = "css"
    DOCUMENT = "document"
    REFRESH = "refresh"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What an attribute points with; in ``CSS`` and ``DOCUMENT`` each reference has its own use."""

    use: Use
    form: Form = Form.URL


ValueOf = Callable[[str], str]
"""Gives what an attribute of an element means, by lower-case name; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An attribute whose meaning the element's attributes decide.

    Attributes:
        uses: what it can be for.
        choose: tells what it is on one element; None where it is no reference.
    """

    uses: frozenset[Use]
    choose: Callable[[ValueOf], Pointer | None]


Rule = Pointer | Choice

REQUISITE_KINDS: Final = {
    Use.FRAME: RequisiteKind.FRAME,
    Use.IMAGE: RequisiteKind.IMAGE,
    Use.STYLE: RequisiteKind.STYLE,
    Use.FONT: RequisiteKind.FONT,
    Use.ICON: RequisiteKind.ICON,
    Use.MEDIA: RequisiteKind.MEDIA,
    Use.OTHER: RequisiteKind.OTHER,
}
"""Uses that make a browser load something for a page whose scripts don't run."""

POINTERS: Final = {use: Pointer(use) for use in Use}
"""A pointer for each use whose attribute holds one URL and nothing else."""


MOST_NESTED_DOCUMENTS: Final = 3
"""So deep are documents read that stand in a ``srcdoc`` of another."""

_AROUND: Final = "".join(map(chr, range(0x21)))
_WITHOUT_LINES: Final = {ord("\t"): None, ord("\n"): None, ord("\r"): None}


def resolve(rule: Rule | None, value_of: ValueOf) -> Pointer | None:
    """What an attribute points with on this element, if it does."""
    return rule.choose(value_of) if isinstance(rule, Choice) else rule


def is_loaded(rule: Rule) -> bool:
    """Whether what an attribute names can be something that a browser loads."""
    if isinstance(rule, Choice):
        return not rule.uses.isdisjoint(REQUISITE_KINDS)
    return rule.use in REQUISITE_KINDS


def clean_reference(given: str) -> str:
    """A reference without what browsers pass over in it (WHATWG URL §4.4)."""
    stripped = given.strip(_AROUND)
    if "\n" in stripped or "\t" in stripped or "\r" in stripped:
        return stripped.translate(_WITHOUT_LINES)
    return stripped


HINTS: Final = frozenset({"dns-prefetch", "preconnect", "prerender"})
"""Relations of which nothing is left to do in an archive."""

AHEAD: Final = frozenset({"preload", "modulepreload", "prefetch"})
"""Relations that have a browser fetch ahead what a page, or the next one, asks for itself."""

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
"""What links can be for."""


def link_use(rel: str, loaded_as: str) -> Use:
    """What a link with that ``rel`` and that ``as`` is for.

    What is preloaded for scripts alone, or for the page that may come next, is not loaded.
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


LAZY: Final = {
    "src": (
        "data-src",
        "data-lazy-src",
        "data-original",
        "data-original-src",
        "data-lazy",
        "data-url",
    ),
    "srcset": ("data-srcset", "data-lazy-srcset", "data-original-set"),
    "poster": ("data-poster",),
}
"""What scripts of the field set, and from which attributes, the likeliest first."""

_BACKGROUNDS = ("data-bg", "data-background", "data-background-image")
_LONGEST_URL = 8192
_LONGEST_PLACEHOLDER = 2048
_PLACEHOLDER = re.compile(
    r"data:|about:blank|#|(?:[^?#]*/)?(?:blank|spacer|placeholder|pixel|transparent|trans|clear"
    r"|loading|loader|lazy|lazyload|grey|gray|1x1)[-_.0-9a-z]*\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|\Z)",
    re.IGNORECASE,
)
_ABSOLUTE = re.compile(r"(?:https?:)?/{1,2}\S", re.IGNORECASE)
_NO_URL = re.compile(r"[\s{}<>\"']")
_SUFFIX = re.compile(r"[^?#]\.\w{2,5}(?:[?#]|\Z)")


def is_placeholder(value: str) -> bool:
    """Whether an image's source only holds its place."""
    given = value.strip()
    return not given or _PLACEHOLDER.match(given[:_LONGEST_PLACEHOLDER]) is not None


def lazy_rules(eager: dict[str, Rule]) -> dict[str, Rule]:
    """The rules of the attributes that stand for those of an element."""
    return {
        lazy: _rule(lazy, pointer)
        for name, pointer in eager.items()
        if name in LAZY and isinstance(pointer, Pointer)
        for lazy in LAZY[name]
    }


def background_rules() -> dict[str, Rule]:
    """The rules of the attributes that stand for a background in any element's style."""
    return {name: _rule(name, POINTERS[Use.IMAGE]) for name in _BACKGROUNDS}


def _rule(name: str, pointer: Pointer) -> Rule:
    """Such attributes hold other things, too: settings in JSON, titles, flags."""
    is_source = pointer.form is Form.SRCSET or name.endswith("src")
    is_meant = _is_no_data if is_source else _is_like_a_url

    def choose(value_of: ValueOf) -> Pointer | None:
        return pointer if is_meant(value_of(name).strip()) else None

    return Choice(frozenset({pointer.use}), choose)


def _is_no_data(value: str) -> bool:
    return value != "" and value[0] not in "{["


def _is_like_a_url(value: str) -> bool:
    if len(value) > _LONGEST_URL:
        return False
    if _ABSOLUTE.match(value):
        return True
    return _NO_URL.search(value) is None and _SUFFIX.search(value) is not None


ROOTS: Final = frozenset({"svg", "math"})
"""Elements that begin them; their names are also the names of the kinds."""

HTML_AGAIN: Final = {
    "svg": frozenset({"foreignobject", "desc", "title"}),
    "math": frozenset({"mi", "mo", "mn", "ms", "mtext", "annotation-xml"}),
}
"""Elements of each kind in which HTML begins again."""


def kind_of(name: str, around: str) -> str:
    """What an element is: ``svg``, ``math``, or empty for HTML.

    Args:
        name: lower case.
        around: what stands around it, likewise.
    """
    return around or (name if name in ROOTS else "")


def kind_inside(name: str, kind: str) -> str:
    """What stands inside an element of a kind."""
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
_CSS: Final = Pointer(Use.IMAGE, Form.CSS)
_SRCDOC: Final = Pointer(Use.FRAME, Form.DOCUMENT)
_REFRESH: Final = Pointer(Use.ANCHOR, Form.REFRESH)
_URL_PARAMETERS = frozenset({"movie", "src", "url", "data", "code", "filename", "href"})


def _link(value_of: ValueOf) -> Pointer:
    return POINTERS[link_use(value_of("rel"), value_of("as"))]


def _refresh(value_of: ValueOf) -> Pointer | None:
    return _REFRESH if value_of("http-equiv").strip().lower() == "refresh" else None


def _parameter(value_of: ValueOf) -> Pointer | None:
    return _OTHER if value_of("name").strip().lower() in _URL_PARAMETERS else None


def _plugged(attribute: str) -> Rule:
    """Objects and embeds can be pages; what says that it is an image is none."""

    def choose(value_of: ValueOf) -> Pointer:
        is_image = value_of("type").strip().lower().startswith("image/")
        is_data = value_of(attribute).strip()[:11].lower() == "data:image/"
        return _IMAGE if is_image or is_data else _FRAME

    return Choice(frozenset({Use.IMAGE, Use.FRAME}), choose)


def _loading(rules: dict[str, Rule]) -> dict[str, Rule]:
    """The rules of an element that scripts of the field load lazily."""
    return {**rules, **lazy_rules(rules)}


EVERYWHERE: Final[Rules] = {"style": _CSS, "attributionsrc": _INERT, **background_rules()}
"""Attributes that point on any element."""

_LINK: Final[dict[str, Rule]] = {"href": _ANCHOR, "xlink:href": _ANCHOR, "ping": _INERT}
_BACKGROUND: Final[Rules] = {"background": _IMAGE}
_CITE: Final[Rules] = {"cite": _ANCHOR}
_IMG: Final = _loading(
    {
        "src": _IMAGE,
        "srcset": _SRCSET,
        "longdesc": _ANCHOR,
        "lowsrc": _IMAGE,
        "dynsrc": _MEDIA,
    }
)
_PLAYED: Final = _loading({"src": _MEDIA, "poster": _IMAGE})
_FRAMED: Final = _loading({"src": _FRAME, "srcdoc": _SRCDOC, "longdesc": _ANCHOR})
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
    "embed": _loading({"src": _FRAME}) | {"src": _plugged("src")},
    "form": {"action": _ANCHOR},
    "frame": _FRAMED,
    "head": {"profile": _ANCHOR},
    "html": {"manifest": _INERT},
    "iframe": _FRAMED,
    "image": _IMG,
    "img": _IMG,
    "input": {"formaction": _ANCHOR, "src": _IMAGE},
    "ins": _CITE,
    "link": {"href": Choice(LINK_USES, _link), "imagesrcset": _SRCSET},
    "menuitem": {"icon": _IMAGE},
    "meta": {"content": Choice(frozenset({Use.ANCHOR}), _refresh)},
    "object": {"data": _plugged("data"), "codebase": _INERT, "longdesc": _ANCHOR},
    "param": {"value": Choice(frozenset({Use.OTHER}), _parameter)},
    "q": _CITE,
    "script": _SCRIPTED,
    "source": _loading({"src": _MEDIA, "srcset": _SRCSET}),
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
"""By lower-case element name. ``base`` is none of them: it moves what the others point with."""

PAINT: Final = (
    "fill",
    "stroke",
    "filter",
    "mask",
    "clip-path",
    "cursor",
    "marker",
    "marker-start",
    "marker-mid",
    "marker-end",
)
"""Attributes of SVG that hold CSS (SVG 2 §6.6)."""

_PAINTED: Final[Rules] = dict.fromkeys(PAINT, _CSS)
SVG_ANY: Final[Rules] = {"href": _IMAGE, "xlink:href": _IMAGE, "src": _IMAGE, **_PAINTED}
"""Any element of SVG can have these; browsers load what some of them name."""

SVG: Final[Mapping[str, Rules]] = {
    "a": {**_LINK, **_PAINTED},
    "image": {**_IMG, **SVG_ANY},
    "script": _SCRIPTED,
}
MATHML: Final[Rules] = {"href": _ANCHOR, "xlink:href": _ANCHOR, "src": _IMAGE}
_NONE: Final[Rules] = {}


def rules_for(name: str, *, foreign: bool, kind: str) -> Rules:
    """The rules of an element.

    Args:
        name: lower case.
        foreign: whether it is SVG, MathML, or in an XML document.
        kind: ``svg``, ``math``, or empty for HTML and for XML, where the name alone must tell.
    """
    if not foreign:
        return HTML.get(name, _NONE)
    if kind == "math":
        return MATHML
    if kind or name not in HTML:
        return SVG.get(name, SVG_ANY)
    return SVG.get(name, HTML[name])
