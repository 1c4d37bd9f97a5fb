"""Preservation of line breaks that a page shows because of its styles (``white-space: pre``).

This happens before white space outside of ``<pre>`` is collapsed.
"""

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from archiver.pages.article.elements import FLOW

_MAX_SET, _MAX_WITHIN, _MAX_STYLE = 300, 1000, 500
_MAX_SHEET, _MAX_RULES, _MAX_SELECTOR = 200_000, 100, 200
_SPACED = re.compile(
    r"(?:^|[;\s])white-space(?:-collapse)?\s*:\s*"
    r"(pre-wrap|pre-line|preserve-breaks|preserve|break-spaces|pre)\b",
    re.IGNORECASE,
)
_DISPLAYED = re.compile(
    r"(?:^|[;\s])display\s*:\s*(?:block|flex|grid|table-row|list-item)\b", re.IGNORECASE
)
_SIMPLE_SELECTOR = re.compile(r"\s*[\w.#-]+(?:\s*[\s>]\s*[\w.#-]+){0,2}\s*")
_CODE_CELLS = "td.blob-code, td.js-file-line"
_EDITORS = ".CodeMirror-code, .cm-content, .ace_text-layer, .view-lines"
"""Elements that contain the lines of an editor, each line in a separate element."""

_BLOCKS = FLOW | {"td", "li"}
_FEWEST_LINES = 3
"""Minimum number of lines in a ``code`` element that is taken for a code block."""


def keep_lines(page: LexborHTMLParser, sheets: list[str]) -> None:
    """Preserve line breaks in code and in elements whose style has ``white-space``.

    Text becomes ``<pre>``, or gets ``<br>`` elements if its lines may wrap.

    Args:
        page: the parsed page, which is modified.
        sheets: the texts of its style sheets.
    """
    _copy_styles(page, sheets)
    for editor in page.css(_EDITORS)[:_MAX_SET]:
        for line in editor.css("pre"):
            _replace(line, "div")
        _replace(editor, "pre")
    nodes = page.css(f"[style*='white-space' i], code, {_CODE_CELLS}")[:_MAX_SET]
    within = {each.mem_id for each in page.css("pre *, textarea *")} if nodes else set()
    for node in nodes:
        if node.mem_id in within or node.tag == "pre":
            continue
        match = _SPACED.search((node.attributes.get("style") or "")[:_MAX_STYLE])
        is_cell = node.tag in {"td", "th"}
        if node.tag == "code" and _is_block_of_code(node):
            _replace(node, "pre")
        elif (match or is_cell) and _holds_lines(node, is_cell=is_cell):
            if match is None or match[1].lower() in {"pre", "preserve"}:
                _wrap_in_pre(node, is_inside=is_cell)
            else:
                _break_lines(node, keeps_spaces=not match[1].lower().endswith(("line", "breaks")))


def _copy_styles(page: LexborHTMLParser, sheets: list[str]) -> None:
    """Copy declarations about lines from the page's style sheets to the elements they apply to.

    These are ``white-space`` for all elements, and ``display`` for those in ``<pre>``.
    """
    in_code = {each.mem_id for each in page.css("pre *")} if sheets else set()
    rules = (
        rule for sheet in sheets for rule in _line_rules(sheet[:_MAX_SHEET], has_code=bool(in_code))
    )
    for selector, declaration in islice(rules, _MAX_RULES):
        is_display = _DISPLAYED.search(declaration) is not None
        try:
            nodes = page.css(selector)[:_MAX_SET]
        except SelectolaxError:
            continue
        for node in nodes:
            if not is_display or node.mem_id in in_code:
                node.attrs["style"] = f"{declaration};{node.attributes.get('style') or ''}"


def _line_rules(sheet: str, *, has_code: bool) -> Iterator[tuple[str, str]]:
    """Yield (selector, declaration) for the rules of a style sheet that are about lines."""
    first, *commented = sheet.split("/*")
    text = first + "".join(each.partition("*/")[2] for each in commented)
    patterns = (_SPACED, _DISPLAYED) if has_code else (_SPACED,)
    for rule, lowered in zip(text.split("}"), text.lower().split("}"), strict=True):
        if "white-space" not in lowered and not (has_code and "display" in lowered):
            continue
        prelude, _, declarations = rule.rpartition("{")
        rules = [each[0] for each in (p.search(declarations) for p in patterns) if each]
        selector = prelude.rpartition("{")[2].rpartition(";")[2].strip()
        if rules and len(selector) <= _MAX_SELECTOR:
            for part in filter(_SIMPLE_SELECTOR.fullmatch, selector.split(",")):
                for declaration in rules:
                    yield part, declaration.strip("; \t\n\r\f")


def _is_block_of_code(node: LexborNode) -> bool:
    """Return whether a ``code`` element outside of ``<pre>`` has several lines.

    These are blocks, end with ``<br>``, or some of them are indented in the source.
    """
    blocks = [each.tag in _BLOCKS for each in islice(node.iter(), _MAX_WITHIN)]
    if len(blocks) > 1 and all(blocks):
        return True
    lines = (node.text() or "").strip().split("\n")
    is_indented = len(lines) >= _FEWEST_LINES and any(each[:1] in {" ", "\t"} for each in lines)
    return is_indented or len(node.css("br")) >= _FEWEST_LINES - 1


def _holds_lines(node: LexborNode, *, is_cell: bool) -> bool:
    """Return whether an element has no blocks and several lines of text.

    For a code cell, the number of lines does not matter.
    """
    within = [*islice(node.traverse(), 1, _MAX_WITHIN)]
    if len(within) == _MAX_WITHIN - 1 or any(each.tag in _BLOCKS for each in within):
        return False
    return is_cell or "\n" in (node.text() or "").strip()


def _wrap_in_pre(node: LexborNode, *, is_inside: bool) -> None:
    if not is_inside:
        _replace(node, "pre")
        return
    pre = node.parser.create_node("pre")
    _move_children(node, pre)
    node.insert_child(pre)


def _replace(node: LexborNode, tag: str) -> None:
    """Replace an element by one of another tag with the same content, class and id."""
    new = node.parser.create_node(tag)
    _move_children(node, new)
    for name in ("class", "id"):
        if value := node.attributes.get(name):
            new.attrs[name] = value
    node.replace_with(new)


def _move_children(node: LexborNode, target: LexborNode) -> None:
    for child in [*node.iter(include_text=True)]:
        target.insert_child(child, move=True)


def _break_lines(node: LexborNode, *, keeps_spaces: bool) -> None:
    """Put ``<br>`` between lines; with ``keeps_spaces``, keep their indentation too."""
    for text in [each for each in node.traverse(include_text=True) if each.is_text_node]:
        first, *lines = (text.text_content or "").split("\n")
        if keeps_spaces:
            lines = [_with_indentation(each) for each in lines]
        for line in [first, *lines][:-1]:
            text.insert_before(line)
            text.insert_before(node.parser.create_node("br"))
        if lines:
            text.replace_with(lines[-1])


def _with_indentation(line: str) -> str:
    """Replace the spaces at the start of a line by no-break spaces."""
    bare = line.lstrip(" ")
    return "\xa0" * (len(line) - len(bare)) + bare
