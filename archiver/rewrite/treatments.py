"""Attributes that act without pointing: what rewriting does about each.

Which of them are event handlers, their names tell.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from archiver.references.elements import EVERYWHERE, HTML, MATHML, PAINT, SVG


class Treatment(StrEnum):
    """What is done to such an attribute."""

    INERT = "inert"
    CROSSORIGIN = "crossorigin"
    TARGET = "target"
    BASE = "base"
    EQUIVALENT = "equivalent"
    REFERRER = "referrer"
    RESTING = "resting"


Treatments = Mapping[str, Treatment]

_CROSSORIGIN: Final[Treatments] = {"crossorigin": Treatment.CROSSORIGIN}
_TARGET: Final[Treatments] = {"target": Treatment.TARGET}
_SUBMIT: Final[Treatments] = {"formtarget": Treatment.TARGET}
_FRAME: Final[Treatments] = {"csp": Treatment.INERT}

ACTING: Final[Mapping[str, Treatments]] = {
    **dict.fromkeys(("audio", "image", "img", "script", "source", "track", "video"), _CROSSORIGIN),
    **dict.fromkeys(("a", "area", "form"), _TARGET),
    **dict.fromkeys(("button", "input"), _SUBMIT),
    **dict.fromkeys(("frame", "iframe"), _FRAME),
    "base": {"href": Treatment.BASE, **_TARGET},
    "link": {**_CROSSORIGIN, **_TARGET},
    "meta": {"http-equiv": Treatment.EQUIVALENT, "name": Treatment.REFERRER},
}
"""By lower-case element name, in HTML and elsewhere."""

ACTING_EVERYWHERE: Final[Treatments] = {
    **dict.fromkeys(("nonce", "integrity", "referrerpolicy"), Treatment.INERT),
    "autofocus": Treatment.RESTING,
}

_COMMON: Final = frozenset({"content", "value"})
"""Attributes that point on a few elements and are found on many."""

LOOKED_AT: Final = frozenset(name for name, rules in HTML.items() if _COMMON & rules.keys())
"""Elements of HTML that are looked at whatever attributes they have."""

HOT: Final = frozenset(EVERYWHERE).union(
    ACTING_EVERYWHERE,
    *(rules for table in (HTML, ACTING) for name, rules in table.items() if name not in LOOKED_AT),
)
"""Attributes for which any other element of HTML is looked at."""

HANDLER: Final = re.compile("on[a-z]{3,}+", re.ASCII)
"""Names of event handlers, lower case, and of little else."""

_ANIMATED = "attributename"
HOT_ANYWHERE: Final = (HOT | {_ANIMATED}).union(MATHML, *SVG.values()) - {*PAINT}
"""The same in SVG, MathML and XML, where any attribute with a function is looked at, too."""
