r"""LaTeX in fields of BibTeX as text, by pylatexenc: ``{\"o}``, ``\'e``, ``\ss``, ``--``."""

import logging
import re
from functools import cache
from typing import Any

_MARKUP = re.compile(r"[\\{}~]|--|``|''")
_UNESCAPED = re.compile(r"(?<!\\)([&%#])")
"""What reference managers often leave as it is, though LaTeX takes it for markup."""
_BRACES = re.compile(r"[{}]")
_ESCAPE = re.compile(r"\\(?=[&%$#_ ])")
_SIGNS = {
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textunderscore": "_",
    "pounds": "£",
    "copyright": "©",
}
"""Commands that reference managers write and pylatexenc does not know."""
_MOST_DECODED = 20_000
"""Characters: pylatexenc takes seconds for more."""
_URL = re.compile(r"\\url\{([^{}]*)\}")


def text_of_latex(text: str) -> str:
    r"""Return a field's text; unknown commands stay as they are.

    >>> text_of_latex('G{\\"o}del, Erd\\H{o}s and \\O rsted')
    'Gödel, Erdős and Ørsted'
    """
    if not _MARKUP.search(text) or "://" in text or len(text) > _MOST_DECODED:
        return text
    try:
        decoded: str = _decoder().latex_to_text(_UNESCAPED.sub(r"\\\1", text))
    except Exception:  # noqa: BLE001  (it has no common exception, and raises IndexError, too)
        return text
    return " ".join(decoded.split())


def address_of_latex(text: str) -> str:
    r"""Return an address, in which ``~`` is itself, without braces, escapes and ``\url``."""
    return _BRACES.sub("", _ESCAPE.sub("", _URL.sub(r"\1", text))).strip()


@cache
def _decoder() -> Any:
    # Loaded for the first file of BibTeX: it is large.
    from pylatexenc import latex2text  # noqa: PLC0415

    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)  # files of others are often wrong
    context = latex2text.get_default_latex_context_db()
    verbatim = latex2text.MacroTextSpec("", simplify_repl=lambda node: node.latex_verbatim())
    signs = (latex2text.MacroTextSpec(name, sign) for name, sign in _SIGNS.items())
    context.add_context_category("signs", prepend=True, macros=[*signs])
    context.set_unknown_macro_spec(verbatim)
    return latex2text.LatexNodes2Text(
        latex_context=context, math_mode="verbatim", keep_comments=True
    )
