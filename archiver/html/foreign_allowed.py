"""What formulas (MathML Core) and drawings (SVG 2) of an article may be made of.

Nothing that runs, moves, loads or holds HTML: no ``script``, ``style``, ``foreignObject``,
``image``, ``animate``, ``annotation-xml`` or filter.
"""

from typing import Final

SVG: Final = frozenset(
    "svg circle clipPath defs desc ellipse g line linearGradient marker mask path pattern polygon "
    "polyline radialGradient rect stop symbol text textPath tspan use".split()
)
_GEOMETRY = (
    "x y x1 y1 x2 y2 cx cy r rx ry fx fy dx dy d points width height viewBox transform rotate "
    "preserveAspectRatio refX refY markerWidth markerHeight markerUnits orient offset spreadMethod "
    "gradientUnits gradientTransform patternUnits patternContentUnits patternTransform "
    "clipPathUnits maskUnits maskContentUnits startOffset textLength lengthAdjust pathLength"
)
_PAINTED = (
    "fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin "
    "stroke-dasharray stroke-dashoffset stroke-miterlimit opacity color stop-color stop-opacity "
    "clip-path clip-rule mask marker-start marker-mid marker-end paint-order vector-effect "
    "text-anchor dominant-baseline alignment-baseline baseline-shift font-family font-size "
    "font-style font-weight letter-spacing word-spacing text-decoration display visibility "
    "shape-rendering text-rendering writing-mode"
)
PRESENTATION: Final = frozenset(_PAINTED.split())
"""Attributes that say what a style would (SVG 2 §6.6)."""

SVG_ATTRIBUTES: Final = (
    frozenset(_GEOMETRY.split()) | PRESENTATION | {"href", "role", "aria-label", "id"}
)
MATHML: Final = frozenset(
    "math annotation maction menclose merror mfrac mi mlabeledtr mmultiscripts mn mo mover mpadded "
    "mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr "
    "munder munderover none semantics".split()
)
MATHML_ATTRIBUTES: Final = frozenset(
    "display displaystyle scriptlevel mathvariant mathsize mathcolor mathbackground stretchy fence "
    "separator lspace rspace minsize maxsize symmetric largeop movablelimits accent accentunder "
    "form width height depth voffset linethickness columnspan rowspan columnalign rowalign frame "
    "rowspacing columnspacing columnlines rowlines notation encoding alttext intent arg".split()
)
