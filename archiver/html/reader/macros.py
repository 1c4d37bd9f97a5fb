"""Commands that a page defines for its formulas: every other formula on it may use them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice

MOST = 300
"""Commands of one page."""
LONGEST = 300
"""Characters of what one stands for."""
MOST_USED = 40
"""In one formula, those within others included."""
MOST_MEANT = 5000
"""Characters that a formula may come to with all that its commands stand for."""

_LATEX = re.compile(
    r"\\(?:(?:re|provide)?newcommand\*?|def|DeclareMathOperator\*?)\s{0,9}\{?\s{0,9}\\(?P<name>[A-Za-z]{1,40})\s{0,9}\}?"
    r"\s{0,9}(?:\[(?P<count>[1-9])\]\s{0,9}|(?P<each>(?:#[1-9]){1,9}))?(?=\{)"
)
_SETTINGS = re.compile(r"['\"]?[mM]acros['\"]?\s{0,9}:\s{0,9}\{")
_SETTING = re.compile(
    r"['\"]?(?:\\\\)?(?P<name>[A-Za-z]{1,40})['\"]?\s{0,9}:\s{0,9}\[?\s{0,9}"
    r"(?:'(?P<one>(?:[^'\\\n]|\\.)*)'|\"(?P<two>(?:[^\"\\\n]|\\.)*)\")(?:\s{0,9},\s{0,9}(?P<count>[1-9]))?"
)
_MOST_SETTINGS, _LONGEST_SETTINGS = 4, 20_000
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
    """A command.

    Attributes:
        body: what it stands for.
        count: how many arguments it takes.
    """

    body: str
    count: int


Macros = dict[str, Macro]
"""Commands by their names."""


def read_macros(source: str) -> Macros:
    """What a page defines: in formulas, and in the settings of what would render them."""
    found: Macros = {}
    for each in islice(_LATEX.finditer(source), MOST):
        body = _braced(source, each.end())
        if body is not None and not _DEFINES.search(body):
            is_operator = each[0].startswith("\\DeclareMathOperator")
            body = f"\\operatorname{{{body}}}" if is_operator else body
            count = int(each["count"] or 0) or len(each["each"] or "") // 2
            found[each["name"]] = Macro(unescape(body), count)
    for begun in islice(_SETTINGS.finditer(source), _MOST_SETTINGS):
        end = begun.end() + len(_braced(source, begun.end() - 1, _LONGEST_SETTINGS) or "")
        for each in _SETTING.finditer(source, begun.end(), end):
            body = (each["one"] or each["two"] or "").replace("\\\\", "\\")
            is_one = 0 < len(body) <= LONGEST and not _DEFINES.search(body)
            if len(found) < MOST and is_one:
                count = max(map(int, _ARGUMENT.findall(body)), default=0)
                found[each["name"]] = Macro(body, count)
    return found


def with_macros(source: str, macros: Macros) -> tuple[str, int]:
    """A formula behind what it uses of the page's commands, and how much it comes to with them.

    Without what only names it; empty where it only defines commands; without the commands if they
    stand for too much.

    Raises:
        ValueError: it defines something in a way that is not known here.
    """
    formula = _MARK.sub("", without_definitions(source)).strip()
    if _DEFINES.search(formula):
        raise ValueError(formula)
    used: dict[str, None] = {}
    stack = [formula] if macros else []
    while stack and len(used) < MOST_USED:
        for name in _COMMAND.findall(stack.pop()):
            if name in macros and name not in used:
                used[name] = None
                stack.append(macros[name].body)
    meant = "".join(_definition(name, macros[name]) for name in used)
    size = _size(formula, {name: macros[name] for name in used}) + len(meant) // 10
    return (meant + formula, size) if size <= MOST_MEANT else (formula, len(formula))


def _size(formula: str, macros: Macros) -> int:
    """How much a formula comes to once its commands are put in; some more than that is allowed."""
    ahead = _TOKEN.findall(formula)[::-1]
    size = len(formula)
    while ahead and size <= MOST_MEANT:
        token = ahead.pop()
        macro = macros.get(token[1:])
        if macro is None or token[0] != "\\":
            continue
        given = [_argument(ahead) for _ in range(macro.count)]
        tokens = _TOKEN.findall(macro.body)
        parts = [given[int(each[1]) - 1] if _is_place(each, given) else [each] for each in tokens]
        size += 1 + sum(map(len, parts))
        if size <= MOST_MEANT:
            ahead += [each for part in reversed(parts) for each in reversed(part)]
    return size


def _is_place(token: str, given: Sequence[object]) -> bool:
    """Whether something that is given to a command stands there."""
    return len(token) == 2 and token[0] == "#" and int(token[1]) <= len(given)


def _argument(ahead: list[str]) -> list[str]:
    """What is given to a command: the next sign, or what stands in braces; taken from the end."""
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
    """A formula without the commands that it defines."""
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


def _braced(text: str, start: int, most: int = LONGEST) -> str | None:
    """What is in the braces that open there; None where they are not closed soon."""
    depth = 0
    for brace in _BRACE.finditer(text, start, start + most + 2):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return text[start + 1 : brace.start()]
    return None
