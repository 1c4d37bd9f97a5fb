"""Tables of data, told from tables that only lay a page out."""

from dataclasses import dataclass

from lxml.etree import _Element as Element

MANY_ROWS = 10
MANY_COLUMNS = 4
MANY_CELLS = 10
_RUNNING = ["thead", "tfoot"]
_MARKS = frozenset({"col", "colgroup", "tfoot", "thead", "th"})


@dataclass(slots=True)
class _Table:
    """What was seen of a table so far; tables within it count for themselves."""

    is_marked: bool = False
    is_nesting: bool = False
    rows: int = 0
    columns: int = 0


def find_data(root: Element) -> set[Element]:
    """The tables that hold data: those whose markup says so, and large ones."""
    if next(root.iter("table"), None) is None:
        return set()
    tables: dict[Element, _Table] = {}
    stack: list[tuple[Element, _Table | None]] = [(root, None)]
    while stack:
        element, around = stack.pop()
        if element.tag == "table":
            inner = tables[element] = _Table(is_marked=_is_marked(element))
            if around is not None:
                around.is_nesting = True
            around = inner
        elif around is not None:
            _count(around, element)
        stack.extend((each, around) for each in element)
    return {each for each, found in tables.items() if _is_data(each, found)}


def is_running_head(table: Element) -> bool:
    """Whether a table has a head and a foot and no row between: those of pages that are printed."""
    if table.tag != "table" or len(table) != len(_RUNNING):
        return False
    return [each.tag for each in table] == _RUNNING


def _is_marked(table: Element) -> bool:
    caption = table.find("caption")
    has_caption = caption is not None and (len(caption) > 0 or bool((caption.text or "").strip()))
    return bool(table.get("summary")) or has_caption


def _count(table: _Table, element: Element) -> None:
    if element.tag in _MARKS:
        table.is_marked = True
    elif element.tag == "tr":
        table.rows += _span(element, "rowspan")
        table.columns = max(table.columns, sum(_span(cell, "colspan") for cell in element))


def _is_data(element: Element, table: _Table) -> bool:
    if (
        is_running_head(element)
        or element.get("role") == "presentation"
        or element.get("datatable") == "0"
    ):
        return False
    if table.is_marked:
        return True
    if table.is_nesting or table.columns == 1 or table.rows == 1:
        return False
    is_large = table.rows >= MANY_ROWS or table.columns > MANY_COLUMNS
    return is_large or table.rows * table.columns > MANY_CELLS


def _span(element: Element, name: str) -> int:
    given = element.get(name) or ""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 4 else 1
