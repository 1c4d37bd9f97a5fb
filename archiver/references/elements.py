"""Which attribute of which element points where (HTML §Attributes; SVG 2 §16; older HTML).

``itemid``, ``itemtype`` and RDFa's attributes name things and are none of it.
"""

from collections.abc import Mapping
from typing import Final

from archiver.references.lazy import background_rules, lazy_rules
from archiver.references.relations import LINK_USES, link_use
from archiver.references.use import POINTERS, Choice, Form, Pointer, Rule, Use, ValueOf

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
