"""Formulas as MathML.

If the rendered formula contains MathML, that is used; if only LaTeX is available, it is converted.
Formulas that cannot be converted stay as they are.

Letter variants are written as Unicode characters, because MathML Core (§3.2.2) ignores
``mathvariant``: a bold vector would become an italic letter.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape
from importlib import import_module
from itertools import islice
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
"""Unicode names of letter variants; some letters have older names."""

MAX_LETTERS = 100
"""Maximum characters of one identifier in a formula."""
_LETTER = re.compile(r"(?:LATIN |GREEK )?(CAPITAL|SMALL) LETTER (\w+)|(DIGIT) (\w+)", re.ASCII)


def set_letters(body: Element) -> None:
    """Replace letters with a variant by the Unicode characters of that variant."""
    for token in body.iter("mi", "mn", "mtext", "ms"):
        styles = _STYLES.get(token.get("mathvariant") or "")
        if styles and not len(token) and len(token.text or "") <= MAX_LETTERS:
            token.text = "".join(_styled(each, styles) for each in token.text or "")
            del token.attrib["mathvariant"]


@lru_cache(maxsize=1024)
def _styled(letter: str, styles: tuple[str, ...]) -> str:
    found = _LETTER.fullmatch(unicodedata.name(letter, ""))
    short = " ".join(filter(None, found.groups())) if found else ""
    names = (f"MATHEMATICAL {styles[0]} {short}", *(f"{each} {short}" for each in styles))
    for name in names if short else ():
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return letter


MAX_FORMULAS = 300
"""Maximum number of macros of a page."""
MAX_MACRO = 300
"""Maximum characters of a macro's body."""
MAX_USED = 40
"""Maximum number of macros used in a formula, including nested ones."""
MAX_EXPANDED = 5000
"""Maximum length of a formula with its macros expanded."""

_LATEX = re.compile(
    r"\\(?:(?:re|provide)?newcommand\*?|def|DeclareMathOperator\*?)\s{0,9}\{?\s{0,9}\\(?P<name>[A-Za-z]{1,40})\s{0,9}\}?"
    r"\s{0,9}(?:\[(?P<count>[1-9])\]\s{0,9}|(?P<each>(?:#[1-9]){1,9}))?(?=\{)"
)
_SETTINGS = re.compile(r"['\"]?[mM]acros['\"]?\s{0,9}:\s{0,9}\{")
_SETTING = re.compile(
    r"['\"]?(?:\\\\)?(?P<name>[A-Za-z]{1,40})['\"]?\s{0,9}:\s{0,9}\[?\s{0,9}"
    r"(?:'(?P<one>(?:[^'\\\n]|\\.)*)'|\"(?P<two>(?:[^\"\\\n]|\\.)*)\")(?:\s{0,9},\s{0,9}(?P<count>[1-9]))?"
)
_MAX_SETTINGS, _MAX_SETTINGS_CHARACTERS = 4, 20_000
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_MARK = re.compile(r"\\label\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")
_ARGUMENT = re.compile(r"#([1-9])")

_DEFINES = re.compile(
    r"\\(?:(?:re|provide)?new(?:command|environment)|def|DeclareMathOperator)(?![A-Za-z])"
)
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|#[1-9]|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Macro:
    """LaTeX macro.

    Attributes:
        body: the replacement text.
        count: the number of arguments.
    """

    body: str
    count: int


Macros = dict[str, Macro]
"""Macros by name."""


def read_macros(source: str) -> Macros:
    """Return the macros defined in a page's formulas and in its renderer settings."""
    found: Macros = {}
    for each in islice(_LATEX.finditer(source), MAX_FORMULAS):
        body = _braced(source, each.end())
        if body is not None and not _DEFINES.search(body):
            is_operator = each[0].startswith("\\DeclareMathOperator")
            body = f"\\operatorname{{{body}}}" if is_operator else body
            count = int(each["count"] or 0) or len(each["each"] or "") // 2
            found[each["name"]] = Macro(unescape(body), count)
    for begun in islice(_SETTINGS.finditer(source), _MAX_SETTINGS):
        end = begun.end() + len(_braced(source, begun.end() - 1, _MAX_SETTINGS_CHARACTERS) or "")
        for each in _SETTING.finditer(source, begun.end(), end):
            body = (each["one"] or each["two"] or "").replace("\\\\", "\\")
            is_one = 0 < len(body) <= MAX_MACRO and not _DEFINES.search(body)
            if len(found) < MAX_FORMULAS and is_one:
                count = max(map(int, _ARGUMENT.findall(body)), default=0)
                found[each["name"]] = Macro(body, count)
    return found


def with_macros(source: str, macros: Macros) -> tuple[str, int]:
    """Return a formula preceded by the macros that it uses, and its expanded length.

    Labels are removed. The result is empty for a formula of definitions only, and without macros if
    the expansion is too long.

    Raises:
        ValueError: it contains an unsupported definition.
    """
    formula = _MARK.sub("", without_definitions(source)).strip()
    if _DEFINES.search(formula):
        raise ValueError(formula)
    used: dict[str, None] = {}
    stack = [formula] if macros else []
    while stack and len(used) < MAX_USED:
        for name in _COMMAND.findall(stack.pop()):
            if name in macros and name not in used:
                used[name] = None
                stack.append(macros[name].body)
    meant = "".join(_definition(name, macros[name]) for name in used)
    size = _size(formula, {name: macros[name] for name in used}) + len(meant) // 10
    return (meant + formula, size) if size <= MAX_EXPANDED else (formula, len(formula))


def _size(formula: str, macros: Macros) -> int:
    """Return an upper estimate of the expanded length of a formula."""
    ahead = _TOKEN.findall(formula)[::-1]
    size = len(formula)
    while ahead and size <= MAX_EXPANDED:
        token = ahead.pop()
        macro = macros.get(token[1:])
        if macro is None or token[0] != "\\":
            continue
        given = [_argument(ahead) for _ in range(macro.count)]
        tokens = _TOKEN.findall(macro.body)
        parts = [given[int(each[1]) - 1] if _is_place(each, given) else [each] for each in tokens]
        size += 1 + sum(map(len, parts))
        if size <= MAX_EXPANDED:
            ahead += [each for part in reversed(parts) for each in reversed(part)]
    return size


def _is_place(token: str, given: Sequence[object]) -> bool:
    """Return whether a token is a parameter of a macro."""
    return len(token) == 2 and token[0] == "#" and int(token[1]) <= len(given)


def _argument(ahead: list[str]) -> list[str]:
    """Pop the next argument from the reversed tokens: a token, or a group in braces."""
    while ahead and ahead[-1].isspace():
        ahead.pop()
    taken: list[str] = []
    depth = 0
    while ahead:
        token = ahead.pop()
        depth += {"{": 1, "}": -1}.get(token, 0)
        taken.append(token)
        if depth <= 0:
            break
    return taken[1:-1] if taken[:1] == ["{"] else taken


def without_definitions(source: str) -> str:
    """Return a formula without its macro definitions."""
    made, at = [], 0
    for each in _LATEX.finditer(source):
        body = _braced(source, each.end(), len(source)) if each.start() >= at else None
        if body is not None:
            made.append(source[at : each.start()])
            at = each.end() + len(body) + 2
    return "".join([*made, source[at:]])


def _definition(name: str, macro: Macro) -> str:
    arguments = f"[{macro.count}]" if macro.count else ""
    return f"\\newcommand{{\\{name}}}{arguments}{{{macro.body}}}"


def _braced(text: str, start: int, most: int = MAX_MACRO) -> str | None:
    """Return the content of the braces at ``start``.

    None if they are not closed within ``most``.
    """
    depth = 0
    for brace in _BRACE.finditer(text, start, start + most + 2):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[start + 1 : brace.start()]
    return None


MAX_FORMULA: Final = 1500
"""Maximum characters of LaTeX that are converted to MathML."""

MAX_CHARACTERS: Final = 60_000
"""Maximum characters of LaTeX on one page, with macros expanded."""

TEX: Final = "application/x-tex"
_RENDERED = re.compile(r"\b(?:katex|katex-display|mwe-math-element|MathJax(?:_Display|_SVG)?)\b")
_PREVIEW = re.compile(r"\b(?:MathJax_Preview|MathJax_Display|MathJax|MathJax_SVG|katex)\b")
_MARKED = re.compile(r"\bmath(?:-inline|-display)?\b")
_PANDOC = re.compile(r"math (?:inline|display)")
"""Pandoc writes LaTeX without delimiters for KaTeX, and single symbols as text."""

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
    """Return whether a page loads a formula renderer."""
    lowered = html.encode("utf-8", "ignore").lower()
    return any(name in lowered for name in _RENDERERS)


def has_dollars(html: str) -> bool:
    """Return whether the renderer is configured to accept single dollar signs as delimiters."""
    return _DOLLAR.search(html) is not None


def normalise_mathematics(body: Element, source: str) -> None:
    """Convert every formula to MathML.

    Args:
        body: the body of the page, still with hidden elements, because most renderers hide the
            source.
        source: the markup of the whole page, which shows the renderer and its delimiters.
    """
    scripted = is_mathematical(source)
    formulas = _Formulas(read_macros(source) if scripted else {})
    lifted: set[Element] = set()
    for math in outermost(body, "math"):
        _replace_rendered(math, lifted)
    for script in list(body.iter("script")):
        _normalise_script(script, formulas)
    if scripted:
        for element in list(body.iter("span", "div")):
            if _MARKED.search(element.get("class") or "") and not len(element):
                _normalise_marked(element, formulas)
        _normalise_text(body, formulas, dollars=has_dollars(source))
    set_letters(body)


class _Formulas:
    """Converter of LaTeX to MathML, with a cache and a limit on the total length."""

    def __init__(self, macros: Macros) -> None:
        self._left = MAX_CHARACTERS
        self._macros = macros
        self._made: dict[tuple[str, bool], str] = {}

    def make(self, source: str, *, display: bool) -> Element:
        """Return a ``math`` element with its source, or ``code`` if it cannot be converted."""
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
        if not source or len(source) > MAX_FORMULA or self._left < 0:
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


def _replace_rendered(math: Element, lifted: set[Element]) -> None:
    """Replace the rendered elements of a formula by its MathML."""
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
    """Convert a formula of MathJax 2, which keeps LaTeX in a script after the rendered elements."""
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
    """Convert an element marked as LaTeX, as by Pandoc, with or without delimiters."""
    text = element.text or ""
    framed = _FRAME.match(text)
    name = element.get("class") or ""
    display = _DISPLAYED.search(name) is not None or text.lstrip().startswith(("\\[", "$$"))
    if framed or "math-" in name or "katex" in name or _PANDOC.fullmatch(name):
        replace(element, formulas.make(framed[1] if framed else text, display=display))


def _normalise_text(body: Element, formulas: _Formulas, *, dollars: bool) -> None:
    """Convert LaTeX between delimiters in the text."""
    stack = [body]
    while stack:
        element = stack.pop()
        inside = [] if element.tag in _WRITTEN else list(element)
        stack += inside
        if element.tag not in _WRITTEN:
            _normalise_own(element, formulas, dollars=dollars)
        for child in inside:
            if _may_hold(child.tail):
                made = _split_at_formulas(child.tail, formulas, dollars=dollars)
                if made:
                    child.tail = made[0][1]
                    _insert_behind(child, made[1:])


def _normalise_own(element: Element, formulas: _Formulas, *, dollars: bool) -> None:
    made = (
        _split_at_formulas(element.text, formulas, dollars=dollars)
        if _may_hold(element.text)
        else []
    )
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


def _split_at_formulas(
    text: str, formulas: _Formulas, *, dollars: bool
) -> list[tuple[Element | None, str]]:
    """Split text at its formulas: each with the text after it, the first without a formula."""
    made: list[tuple[Element | None, str]] = []
    formula: Element | None = None
    done = at = 0
    while opened := _OPENS.search(text, at):
        at = opened.end()
        found = _find_closing(text, opened) if dollars or opened[0] != "$" else None
        if found:
            made.append((formula, text[done : opened.start()]))
            formula = formulas.make(found[0], display=opened[0] not in _INLINE)
            done = at = found[1]
    return [*made, (formula, text[done:])] if made else []


def _find_closing(text: str, opened: re.Match[str]) -> tuple[str, int] | None:
    """Return the source after an opening delimiter, and the end of the closing one."""
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
    """Import the converter on first use: it takes a fifth of a worker's start time."""
    return import_module("latex2mathml.converter")
