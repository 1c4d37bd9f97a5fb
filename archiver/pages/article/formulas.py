"""Conversion of formulas to MathML.

If a rendered formula contains MathML, the MathML is used. If a page contains only LaTeX, the LaTeX
is converted. LaTeX that cannot be converted is shown as code.

Letter variants are written as Unicode characters, because MathML Core (§3.2.2) ignores
``mathvariant`` in most cases, so that a bold vector would become an italic letter.
"""

import re
import unicodedata
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.tree import outermost, remove, replace

_STYLES = {
    "bold": ("BOLD",),
    "italic": ("ITALIC",),
    "bold-italic": ("BOLD ITALIC",),
    "double-struck": ("DOUBLE-STRUCK",),
    "script": ("SCRIPT",),
    "bold-script": ("BOLD SCRIPT",),
    "fraktur": ("FRAKTUR", "BLACK-LETTER"),
    "bold-fraktur": ("BOLD FRAKTUR",),
    "sans-serif": ("SANS-SERIF",),
    "bold-sans-serif": ("SANS-SERIF BOLD",),
    "sans-serif-italic": ("SANS-SERIF ITALIC",),
    "sans-serif-bold-italic": ("SANS-SERIF BOLD ITALIC",),
    "monospace": ("MONOSPACE",),
}
"""Words for each letter variant in the names of Unicode characters, in order of preference."""

MAX_LETTERS = 100
"""Maximum number of characters of one identifier in a formula."""
_LETTER = re.compile(r"(?:LATIN |GREEK )?(CAPITAL|SMALL) LETTER (\w+)|(DIGIT) (\w+)", re.ASCII)


def set_letters(body: Element) -> None:
    """Replace letters with ``mathvariant`` by the Unicode characters for the variant."""
    for token in body.iter("mi", "mn", "mtext", "ms"):
        styles = _STYLES.get(token.get("mathvariant") or "")
        if styles and not len(token) and len(token.text or "") <= MAX_LETTERS:
            token.text = "".join(_styled(each, styles) for each in token.text or "")
            del token.attrib["mathvariant"]


@lru_cache(maxsize=1024)
def _styled(letter: str, styles: tuple[str, ...]) -> str:
    match = _LETTER.fullmatch(unicodedata.name(letter, ""))
    short = " ".join(filter(None, match.groups())) if match else ""
    names = (f"MATHEMATICAL {styles[0]} {short}", *(f"{each} {short}" for each in styles))
    for name in names if short else ():
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return letter


_MARK = re.compile(r"\\label\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")
_DEFINES = re.compile(
    r"\\(?:(?:re|provide)?new(?:command|environment)|def|DeclareMathOperator)(?![A-Za-z])"
)
MAX_FORMULA: Final = 1500
"""Maximum number of characters of a formula in LaTeX that is converted to MathML."""

MAX_CHARACTERS: Final = 60_000
"""Maximum number of characters of LaTeX that are converted on one page."""

TEX: Final = "application/x-tex"
_RENDERED = re.compile(r"\b(?:katex|katex-display|mwe-math-element|MathJax(?:_Display|_SVG)?)\b")
_PREVIEW = re.compile(r"\b(?:MathJax_Preview|MathJax_Display|MathJax|MathJax_SVG|katex)\b")
_MARKED = re.compile(r"\bmath(?:-inline|-display)?\b")
_PANDOC = re.compile(r"math (?:inline|display)")
"""Class of Pandoc's formulas for KaTeX, which are LaTeX without delimiters."""

_DISPLAYED = re.compile(r"\b(?:display|block|math-display)\b")
_RENDERERS = (b"mathjax", b"katex")
_DOLLAR = re.compile(rb"['\"]\$['\"]")
_OPENS = re.compile(
    r"\\\(|\\\[|\$\$|(?<![\\$\w])\$(?=[^\s$])"
    r"|\\begin\{(?P<name>(?:equation|align|gather|multline|eqnarray)\*?)\}"
)
_CLOSES = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}
_INLINE = frozenset({"\\(", "$"})
_WRITTEN = frozenset("pre code kbd samp script style textarea math svg annotation option".split())
_FRAME = re.compile(r"\A\s*(?:\\\(|\\\[|\$\$?)(.*?)(?:\\\)|\\\]|\$\$?)\s*\Z", re.DOTALL)


def normalise_mathematics(body: Element, source: bytes) -> None:
    """Convert every formula to MathML.

    Args:
        body: the body of the page. Hidden elements must not be removed yet, because most renderers
            hide the LaTeX.
        source: the markup of the whole page in lower case. It names the renderer of formulas and
            their delimiters.
    """
    formulas = _Formulas()
    lifted: set[Element] = set()
    for math in outermost(body, "math"):
        _replace_rendered(math, lifted)
    for script in list(body.iter("script")):
        _normalise_script(script, formulas)
    if any(name in source for name in _RENDERERS):
        for element in list(body.iter("span", "div")):
            if _MARKED.search(element.get("class") or "") and not len(element):
                _normalise_marked(element, formulas)
        _normalise_text(body, formulas, dollars=_DOLLAR.search(source) is not None)
    set_letters(body)


class _Formulas:
    """Converter of LaTeX to MathML, with a cache and a limit on the total length."""

    def __init__(self) -> None:
        self._remaining = MAX_CHARACTERS
        self._made: dict[tuple[str, bool], str] = {}

    def make(self, source: str, *, display: bool) -> Element:
        """Convert LaTeX to a ``math`` element, or to a ``code`` element if the conversion fails."""
        source = source.strip()
        key = source, display
        if key not in self._made:
            self._made[key] = self._convert(source, display=display)
        converted = self._made[key]
        if converted:
            math = etree.fromstring(converted)
            return _without_namespace(math)
        code = etree.Element("code", {"class": "language-tex"})
        code.text = source
        return code

    def _convert(self, source: str, *, display: bool) -> str:
        self._remaining -= len(source)
        if (
            not source
            or len(source) > MAX_FORMULA
            or self._remaining < 0
            or _DEFINES.search(source)
        ):
            return ""
        try:
            display_style = "block" if display else "inline"
            formula = _MARK.sub("", source)
            math = etree.fromstring(_converter().convert(formula, display=display_style))
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


def _replace_rendered(math: Element, lifted: set[Element]) -> None:
    """Replace the rendered elements around a ``math`` element by the ``math`` element."""
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


def _normalise_script(script: Element, formulas: _Formulas) -> None:
    """Convert a formula of MathJax 2: a script with LaTeX after the rendered elements."""
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


def _normalise_marked(element: Element, formulas: _Formulas) -> None:
    """Convert an element that a class marks as LaTeX, with or without delimiters."""
    text = element.text or ""
    framed = _FRAME.match(text)
    name = element.get("class") or ""
    display = _DISPLAYED.search(name) is not None or text.lstrip().startswith(("\\[", "$$"))
    if framed or "math-" in name or "katex" in name or _PANDOC.fullmatch(name):
        replace(element, formulas.make(framed[1] if framed else text, display=display))


def _normalise_text(body: Element, formulas: _Formulas, *, dollars: bool) -> None:
    """Convert the formulas between delimiters in the text of a page."""
    stack = [body]
    while stack:
        element = stack.pop()
        inside = [] if element.tag in _WRITTEN else list(element)
        stack += inside
        if element.tag not in _WRITTEN:
            _normalise_own(element, formulas, dollars=dollars)
        for child in inside:
            if _may_contain(child.tail):
                pieces = _split_at_formulas(child.tail, formulas, dollars=dollars)
                if pieces:
                    child.tail = pieces[0][1]
                    _insert_after(child, pieces[1:])


def _normalise_own(element: Element, formulas: _Formulas, *, dollars: bool) -> None:
    pieces = (
        _split_at_formulas(element.text, formulas, dollars=dollars)
        if _may_contain(element.text)
        else []
    )
    if pieces:
        element.text = pieces[0][1]
        for formula, tail in reversed(pieces[1:]):
            if formula is not None:
                formula.tail = tail
                element.insert(0, formula)


def _insert_after(child: Element, pieces: list[tuple[Element | None, str]]) -> None:
    at = child
    for formula, tail in pieces:
        if formula is None:
            continue
        text, at.tail = at.tail, None
        at.addnext(formula)
        at.tail, formula.tail = text, tail
        at = formula


def _may_contain(text: str | None) -> bool:
    return text is not None and ("\\" in text or "$" in text)


def _split_at_formulas(
    text: str, formulas: _Formulas, *, dollars: bool
) -> list[tuple[Element | None, str]]:
    """Return (None, text before the formulas), then (formula, text after it) for each formula."""
    pieces: list[tuple[Element | None, str]] = []
    formula: Element | None = None
    done = at = 0
    while opened := _OPENS.search(text, at):
        at = opened.end()
        closing = _find_closing(text, opened) if dollars or opened[0] != "$" else None
        if closing:
            pieces.append((formula, text[done : opened.start()]))
            formula = formulas.make(closing[0], display=opened[0] not in _INLINE)
            done = at = closing[1]
    return [*pieces, (formula, text[done:])] if pieces else []


def _find_closing(text: str, opened: re.Match[str]) -> tuple[str, int] | None:
    """Return the LaTeX after an opening delimiter, and the end of the closing delimiter."""
    start = opened.end()
    name = opened["name"]
    closing = f"\\end{{{name}}}" if name else _CLOSES[opened[0]]
    end = text.find(closing, start, start + MAX_FORMULA)
    if end <= start:
        return None
    after = end + len(closing)
    if opened[0] == "$" and (text[end - 1] in " \n\\" or text[after : after + 1].isdigit()):
        return None
    return (text[opened.start() : after] if name else text[start:end]), after


@cache
def _converter() -> Any:
    """Import the converter on its first use, because the import would slow down each start."""
    return import_module("latex2mathml.converter")
