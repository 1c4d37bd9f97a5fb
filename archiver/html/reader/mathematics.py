"""Formulas, however a page writes them, as MathML, which browsers show without help.

Where what rendered a formula kept its MathML, that is taken. Where only its LaTeX is there, it is
turned into MathML; what can't be stays as the page wrote it.
"""

import re
from functools import cache
from importlib import import_module
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.macros import Macros, read_macros, with_macros
from archiver.html.reader.math_letters import set_letters
from archiver.html.reader.tree import outermost, remove, replace

LONGEST: Final = 1500
"""Characters of LaTeX that are turned into MathML."""

MOST_CHARACTERS: Final = 60_000
"""Of LaTeX on one page, with all that the commands in it stand for."""

TEX: Final = "application/x-tex"
_RENDERED = re.compile(r"\b(?:katex|katex-display|mwe-math-element|MathJax(?:_Display|_SVG)?)\b")
_PREVIEW = re.compile(r"\b(?:MathJax_Preview|MathJax_Display|MathJax|MathJax_SVG|katex)\b")
_MARKED = re.compile(r"\bmath(?:-inline|-display)?\b")
_PANDOC = re.compile(r"math (?:inline|display)")
"""Pandoc writes LaTeX without delimiters for KaTeX, and formulas of one sign as they are."""

_DISPLAYED = re.compile(r"\b(?:display|block|math-display)\b")
_RENDERERS = (b"mathjax", b"katex")
_DOLLAR = re.compile(r"['\"]\$['\"]")
_OPENS = re.compile(
    r"\\\(|\\\[|\$\$|(?<![\\$\w])\$(?=[^\s$])"
    r"|\\begin\{(?P<name>(?:equation|align|gather|multline|eqnarray)\*?)\}"
)
_CLOSES = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}
_INLINE = frozenset({"\\(", "$"})
_WRITTEN = frozenset("pre code kbd samp script style textarea math svg annotation option".split())
_FRAME = re.compile(r"\A\s*(?:\\\(|\\\[|\$\$?)(.*?)(?:\\\)|\\\]|\$\$?)\s*\Z", re.DOTALL)


def is_mathematical(html: str) -> bool:
    """Whether a page loads something that renders formulas."""
    lowered = html.encode("utf-8", "ignore").lower()
    return any(name in lowered for name in _RENDERERS)


def has_dollars(html: str) -> bool:
    """Whether it is told to take single dollar signs for delimiters."""
    return _DOLLAR.search(html) is not None


def settle_mathematics(body: Element, source: str) -> None:
    """Make MathML of every formula.

    Args:
        body: of the page, before what is hidden was taken away: most renderers hide the source.
        source: of the whole page: it tells what would render formulas, and how they are delimited.
    """
    scripted = is_mathematical(source)
    formulas = _Formulas(read_macros(source) if scripted else {})
    lifted: set[Element] = set()
    for math in outermost(body, "math"):
        _lift(math, lifted)
    for script in list(body.iter("script")):
        _settle_script(script, formulas)
    if scripted:
        for element in list(body.iter("span", "div")):
            if _MARKED.search(element.get("class") or "") and not len(element):
                _settle_marked(element, formulas)
        _settle_text(body, formulas, dollars=has_dollars(source))
    set_letters(body)


class _Formulas:
    """Makes MathML of LaTeX, each source once, up to a length of all."""

    def __init__(self, macros: Macros) -> None:
        self._left = MOST_CHARACTERS
        self._macros = macros
        self._made: dict[tuple[str, bool], str] = {}

    def make(self, source: str, *, display: bool) -> Element:
        """A ``math`` element with its source, or ``code`` with the source alone."""
        source = source.strip()
        key = source, display
        if key not in self._made:
            self._made[key] = self._convert(source, display=display)
        made = self._made[key]
        if made:
            math = etree.fromstring(made)
            return _without_namespace(math)
        code = etree.Element("code", {"class": "language-tex"})
        code.text = source
        return code

    def _convert(self, source: str, *, display: bool) -> str:
        if not source or len(source) > LONGEST or self._left < 0:
            return ""
        try:
            shown = "block" if display else "inline"
            meant, size = with_macros(source, self._macros)
            self._left -= size
            if not meant:
                return "<span/>"
            math = etree.fromstring(_converter().convert(meant, display=shown))
        except (ValueError, LookupError, etree.LxmlError, RecursionError, TypeError):
            return ""
        except Exception as refused:
            if type(refused).__module__.startswith("latex2mathml"):
                return ""
            raise
        _without_namespace(math)
        semantics = etree.Element("semantics")
        row = etree.SubElement(semantics, "mrow")
        row.extend(list(math))
        note = etree.SubElement(semantics, "annotation", encoding=TEX)
        note.text = source
        math.append(semantics)
        return str(etree.tostring(math, encoding="unicode"))


def _without_namespace(math: Element) -> Element:
    for each in math.iter():
        if isinstance(each.tag, str):
            each.tag = each.tag.rpartition("}")[2]
    etree.cleanup_namespaces(math)
    return math


def _lift(math: Element, lifted: set[Element]) -> None:
    """Put a formula in the place of all that was rendered of it."""
    rendered, display = math, math.get("display") == "block"
    above = math.getparent()
    for _ in range(6):
        if above is None or above.tag not in {"span", "div", "mjx-container", "mjx-assistive-mml"}:
            break
        name = above.get("class") or ""
        if above.tag == "mjx-container" or _RENDERED.search(name):
            rendered = above
            display = display or "display" in name.lower() or above.get("display") == "true"
        above = above.getparent()
    if display:
        math.set("display", "block")
    if rendered is math or rendered in lifted:
        return
    lifted.add(rendered)
    picture = next(rendered.iter("img"), None)
    replace(rendered, math)
    if picture is not None:
        picture.tail = math.tail
        picture.set("hidden", "")
        math.tail = None
        math.addnext(picture)


def _settle_script(script: Element, formulas: _Formulas) -> None:
    """MathJax 2 keeps LaTeX in a script, and what it rendered of that before it."""
    for _ in range(3):
        before = script.getprevious()
        name = before.get("class") or "" if before is not None else ""
        if before is None or (before.tail or "").strip() or not _PREVIEW.search(name):
            break
        remove(before)
    before = script.getprevious()
    if before is not None and before.tag == "math" and not (before.tail or "").strip():
        remove(script)
        return
    display = "display" in (script.get("type") or "")
    replace(script, formulas.make(script.text or "", display=display))


def _settle_marked(element: Element, formulas: _Formulas) -> None:
    """Pandoc and others mark what is LaTeX; delimiters stand around it or not."""
    text = element.text or ""
    framed = _FRAME.match(text)
    name = element.get("class") or ""
    display = _DISPLAYED.search(name) is not None or text.lstrip().startswith(("\\[", "$$"))
    if framed or "math-" in name or "katex" in name or _PANDOC.fullmatch(name):
        replace(element, formulas.make(framed[1] if framed else text, display=display))


def _settle_text(body: Element, formulas: _Formulas, *, dollars: bool) -> None:
    """LaTeX between delimiters, in the text."""
    stack = [body]
    while stack:
        element = stack.pop()
        inside = [] if element.tag in _WRITTEN else list(element)
        stack += inside
        if element.tag not in _WRITTEN:
            _settle_own(element, formulas, dollars=dollars)
        for child in inside:
            if _may_hold(child.tail):
                made = _part(child.tail, formulas, dollars=dollars)
                if made:
                    child.tail = made[0][1]
                    _insert_behind(child, made[1:])


def _settle_own(element: Element, formulas: _Formulas, *, dollars: bool) -> None:
    made = _part(element.text, formulas, dollars=dollars) if _may_hold(element.text) else []
    if made:
        element.text = made[0][1]
        for formula, tail in reversed(made[1:]):
            if formula is not None:
                formula.tail = tail
                element.insert(0, formula)


def _insert_behind(child: Element, made: list[tuple[Element | None, str]]) -> None:
    at = child
    for formula, tail in made:
        if formula is None:
            continue
        text, at.tail = at.tail, None
        at.addnext(formula)
        at.tail, formula.tail = text, tail
        at = formula


def _may_hold(text: str | None) -> bool:
    return text is not None and ("\\" in text or "$" in text)


def _part(text: str, formulas: _Formulas, *, dollars: bool) -> list[tuple[Element | None, str]]:
    """Text parted at its formulas: each with what follows it, the first without a formula."""
    made: list[tuple[Element | None, str]] = []
    formula: Element | None = None
    done = at = 0
    while opened := _OPENS.search(text, at):
        at = opened.end()
        found = _closed(text, opened) if dollars or opened[0] != "$" else None
        if found:
            made.append((formula, text[done : opened.start()]))
            formula = formulas.make(found[0], display=opened[0] not in _INLINE)
            done = at = found[1]
    return [*made, (formula, text[done:])] if made else []


def _closed(text: str, opened: re.Match[str]) -> tuple[str, int] | None:
    """The source behind an opening delimiter, and where the closing one ends."""
    start = opened.end()
    name = opened["name"]
    closing = f"\\end{{{name}}}" if name else _CLOSES[opened[0]]
    end = text.find(closing, start, start + LONGEST)
    if end <= start:
        return None
    after = end + len(closing)
    if opened[0] == "$" and (text[end - 1] in " \n\\" or text[after : after + 1].isdigit()):
        return None
    return (text[opened.start() : after] if name else text[start:end]), after


@cache
def _converter() -> Any:
    """Loaded by the first formula: a fifth of what it takes to start who reads pages."""
    return import_module("latex2mathml.converter")
