"""Tables of data, told from tables that only lay a page out."""

from lxml.etree import _Element as Element

MANY_ROWS = 10
MANY_COLUMNS = 4
MANY_CELLS = 10
_MARKS = ("col", "colgroup", "tfoot", "thead", "th")


def is_data(table: Element) -> bool:
    """Whether a table holds data, by its markup first and by its size where that says nothing."""
    if table.get("role") == "presentation" or table.get("datatable") == "0":
        return False
    if table.get("summary"):
        return True
    caption = table.find("caption")
    if caption is not None and (len(caption) or (caption.text or "").strip()):
        return True
    if next(table.iter(*_MARKS), None) is not None:
        return True
    if next(table.iterdescendants("table"), None) is not None:
        return False
    return _is_large(table)


def _is_large(table: Element) -> bool:
    rows = columns = 0
    for row in table.iter("tr"):
        rows += _span(row, "rowspan")
        columns = max(columns, sum(_span(cell, "colspan") for cell in row))
    if columns == 1 or rows == 1:
        return False
    return rows >= MANY_ROWS or columns > MANY_COLUMNS or rows * columns > MANY_CELLS


def _span(element: Element, name: str) -> int:
    given = element.get(name) or ""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 4 else 1
