"""Commands that a page defines for its formulas: every other formula on it may use them."""

import re
from html import unescape
from itertools import islice

from archiver.patterns import late_pattern

MOST = 300
"""Commands of one page."""
LONGEST = 300
"""Characters of what one stands for."""
MOST_USED = 40
"""In one formula, those within others included."""
MOST_MEANT = 5000
"""Characters that a formula may come to with all that its commands stand for."""

_LATEX = late_pattern(
    r"\\(?:(?:re|provide)?newcommand\*?|def|DeclareMathOperator\*?)\s{0,9}\{?\s{0,9}\\(?P<name>[A-Za-z]{1,40})\s{0,9}\}?"
    r"\s{0,9}(?:\[(?P<count>[1-9])\]\s{0,9}|(?P<each>(?:#[1-9]){1,9}))?(?=\{)"
)
_SETTINGS = late_pattern(r"['\"]?[mM]acros['\"]?\s{0,9}:\s{0,9}\{")
_SETTING = late_pattern(
    r"['\"]?(?:\\\\)?(?P<name>[A-Za-z]{1,40})['\"]?\s{0,9}:\s{0,9}\[?\s{0,9}"
    r"(?:'(?P<one>(?:[^'\\\n]|\\.)*)'|\"(?P<two>(?:[^\"\\\n]|\\.)*)\")(?:\s{0,9},\s{0,9}(?P<count>[1-9]))?"
)
_MOST_SETTINGS, _LONGEST_SETTINGS = 4, 20_000
_BRACE = late_pattern(r"\\.|[{}]", re.DOTALL)
_COMMAND = late_pattern(r"\\([A-Za-z]+)")
_MARK = late_pattern(r"\\label\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")
_ARGUMENT = late_pattern(r"#([1-9])")

Macros = dict[str, str]
"""How LaTeX defines each command, by its name."""


def read_macros(source: str) -> Macros:
    """What a page defines: in formulas, and in the settings of what would render them."""
    found: Macros = {}
    for each in _LATEX.finditer(source):
        if len(found) < MOST and (body := _braced(source, each.end())) is not None:
            is_operator = each[0].startswith("\\DeclareMathOperator")
            body = f"\\operatorname{{{body}}}" if is_operator else body
            count = int(each["count"] or 0) or len(each["each"] or "") // 2
            found[each["name"]] = _definition(each["name"], unescape(body), count)
    for begun in islice(_SETTINGS.finditer(source), _MOST_SETTINGS):
        end = begun.end() + len(_braced(source, begun.end() - 1, _LONGEST_SETTINGS) or "")
        for each in _SETTING.finditer(source, begun.end(), end):
            body = (each["one"] or each["two"] or "").replace("\\\\", "\\")
            if len(found) < MOST and 0 < len(body) <= LONGEST:
                count = max(map(int, _ARGUMENT.findall(body)), default=0)
                found[each["name"]] = _definition(each["name"], body, count)
    return found


def with_macros(source: str, macros: Macros) -> str:
    """A formula behind what it uses of the page's commands, without what only names it.

    Empty where it only defines commands; without the commands if they stand for too much.
    """
    formula = _MARK.sub("", without_definitions(source)).strip()
    used: dict[str, None] = {}
    stack = [formula] if macros else []
    while stack and len(used) < MOST_USED:
        for name in _COMMAND.findall(stack.pop()):
            if name in macros and name not in used:
                used[name] = None
                stack.append(macros[name])
    meant = {name: macros[name] for name in used}
    return "".join(meant.values()) + formula if _comes_to(formula, meant) else formula


def _comes_to(formula: str, meant: Macros) -> bool:
    """Whether a formula comes to an end, and to no more than it may."""
    sizes: dict[str, int] = {}
    for _ in range(len(meant) + 1):
        sizes = {name: _size(text, sizes, name) for name, text in meant.items()}
        if any(size > MOST_MEANT for size in sizes.values()):
            return False
    return _size(formula, sizes, "") <= MOST_MEANT


def _size(text: str, sizes: dict[str, int], own: str) -> int:
    """How long a text is with all that stands in it; ``own`` is what its definition names."""
    names = _COMMAND.findall(text)
    if own:
        names.remove(own)
    return len(text) + sum(sizes.get(name, 0) for name in names)


def without_definitions(source: str) -> str:
    """A formula without the commands that it defines."""
    made, at = [], 0
    for each in _LATEX.finditer(source):
        body = _braced(source, each.end(), len(source)) if each.start() >= at else None
        if body is not None:
            made.append(source[at : each.start()])
            at = each.end() + len(body) + 2
    return "".join([*made, source[at:]])


def _definition(name: str, body: str, count: int) -> str:
    arguments = f"[{count}]" if count else ""
    return f"\\newcommand{{\\{name}}}{arguments}{{{body}}}"


def _braced(text: str, start: int, most: int = LONGEST) -> str | None:
    """What is in the braces that open there; None where they are not closed soon."""
    depth = 0
    for brace in _BRACE.finditer(text, start, start + most + 2):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[start + 1 : brace.start()]
    return None
