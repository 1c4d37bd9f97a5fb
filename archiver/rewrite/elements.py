"""Which attribute of which element points where (HTML §Attributes; SVG 2 §16; older HTML).

``itemid``, ``itemtype`` and RDFa's attributes name things and are left as they are; event handlers
are, too, since nothing runs in a replay.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from archiver.rewrite.url_rewriter import Use


class Treatment(StrEnum):
    """What is done to an attribute that does not simply hold a URL."""

    SRCSET = "srcset"
    CSS = "css"
    SRCDOC = "srcdoc"
    TARGET = "target"
    INERT = "inert"


Rule = Use | Treatment
Rules = Mapping[str, Rule]

EVERYWHERE: Final[Rules] = {
    "style": Treatment.CSS,
    "nonce": Treatment.INERT,
    "integrity": Treatment.INERT,
    "attributionsrc": Treatment.INERT,
    "referrerpolicy": Treatment.INERT,
}
_IMAGE: Final[Rules] = {
    "src": Use.IMAGE,
    "srcset": Treatment.SRCSET,
    "longdesc": Use.ANCHOR,
    "lowsrc": Use.IMAGE,
    "dynsrc": Use.IMAGE,
    "crossorigin": Treatment.INERT,
}
_ANCHOR: Final[Rules] = {
    "href": Use.ANCHOR,
    "xlink:href": Use.ANCHOR,
    "ping": Treatment.INERT,
    "target": Treatment.TARGET,
}
_MEDIA: Final[Rules] = {
    "src": Use.IMAGE,
    "poster": Use.IMAGE,
    "srcset": Treatment.SRCSET,
    "crossorigin": Treatment.INERT,
}
_FRAME: Final[Rules] = {
    "src": Use.FRAME,
    "srcdoc": Treatment.SRCDOC,
    "longdesc": Use.ANCHOR,
    "csp": Treatment.INERT,
}
_BACKGROUND: Final[Rules] = {"background": Use.IMAGE}
_CITE: Final[Rules] = {"cite": Use.ANCHOR}
_SUBMIT: Final[Rules] = {"formaction": Use.ANCHOR, "formtarget": Treatment.TARGET}
_NONE: Final[Rules] = {}

HTML: Final[Mapping[str, Rules]] = {
    "a": _ANCHOR,
    "applet": {
        "codebase": Treatment.INERT,
        "code": Treatment.INERT,
        "archive": Treatment.INERT,
        "object": Treatment.INERT,
    },
    "area": _ANCHOR,
    "audio": _MEDIA,
    "base": {"target": Treatment.TARGET},
    "bgsound": {"src": Use.IMAGE},
    "blockquote": _CITE,
    "body": _BACKGROUND,
    "button": _SUBMIT,
    "command": {"icon": Use.IMAGE},
    "del": _CITE,
    "embed": {"src": Use.FRAME},
    "form": {"action": Use.ANCHOR, "target": Treatment.TARGET},
    "frame": _FRAME,
    "head": {"profile": Use.ANCHOR},
    "html": {"manifest": Treatment.INERT},
    "iframe": _FRAME,
    "image": _IMAGE,
    "img": _IMAGE,
    "input": {**_SUBMIT, "src": Use.IMAGE},
    "ins": _CITE,
    "link": {
        "imagesrcset": Treatment.SRCSET,
        "crossorigin": Treatment.INERT,
        "target": Treatment.TARGET,
    },
    "menuitem": {"icon": Use.IMAGE},
    "object": {"codebase": Treatment.INERT, "longdesc": Use.ANCHOR},
    "q": _CITE,
    "script": {
        "src": Use.SCRIPT,
        "href": Use.SCRIPT,
        "xlink:href": Use.SCRIPT,
        "crossorigin": Treatment.INERT,
    },
    "source": _MEDIA,
    "table": _BACKGROUND,
    "tbody": _BACKGROUND,
    "td": _BACKGROUND,
    "tfoot": _BACKGROUND,
    "th": _BACKGROUND,
    "thead": _BACKGROUND,
    "tr": _BACKGROUND,
    "track": _MEDIA,
    "video": _MEDIA,
}
"""By lower-case element name; ``base``, ``link``, ``meta`` and others have more done to them."""

_PAINT: Final[Rules] = dict.fromkeys(
    (
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
    ),
    Treatment.CSS,
)
_SVG_ANY: Final[Rules] = {"href": Use.IMAGE, "xlink:href": Use.IMAGE, "src": Use.IMAGE, **_PAINT}
_SVG: Final[Mapping[str, Rules]] = {
    "a": {**_ANCHOR, **_PAINT},
    "image": {**_IMAGE, **_SVG_ANY},
    "script": HTML["script"],
}
_MATHML: Final[Rules] = {"href": Use.ANCHOR, "xlink:href": Use.ANCHOR, "src": Use.IMAGE}


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
        return _MATHML
    if kind or name not in HTML:
        return _SVG.get(name, _SVG_ANY)
    return _SVG.get(name, HTML[name])
