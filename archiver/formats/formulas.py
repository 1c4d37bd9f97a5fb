"""Cells of tables that a spreadsheet would take for formulas, made texts; and back.

Whoever gives a page its title must not be able to run anything in the spreadsheet of who exports
it (OWASP, *CSV Injection*). What begins as a formula does, signs of other widths and space before
it included, gets a ``'`` ahead of it, and so does what has some there already: taking one away
gives the text back.
"""

import re

_FORMULA = re.compile(r"'*[\s\x00-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]")


def defused(text: str) -> str:
    """A cell that no spreadsheet calculates.

    >>> defused("=1+1"), defused("'=1"), defused("it's")
    ("'=1+1", "''=1", "it's")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def as_it_was(cell: str) -> str:
    """What ``defused`` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
