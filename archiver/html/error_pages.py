"""Pages that say of themselves that they are an error, though their status says none. Pure."""

import re
from typing import Final

from archiver.html.signals import MOST_COUNTED

_SAYS_SO: Final = re.compile(
    r"^\W*(?:error\W*)?(?:4(?:0[0134]|10|29)|50[0234])\W*"
    r"(?:$|[|\u2013\u2014-]|not found|error|forbidden|unauthorized|bad|gone|page|internal|service)"
    r"|\b(?:page|file|site|url) (?:was |is |could |cannot |can.t )?(?:not |be )+found\b"
    r"|^\W*(?:not found|access denied|forbidden|unauthorized|internal server error|bad gateway"
    r"|service (?:temporarily )?unavailable|gateway time-?out|too many requests"
    r"|(?:an )?error(?: occurred)?|database error|account suspended|domain (?:for sale|expired)"
    r"|seite nicht gefunden|page introuvable|p[aá]gina no encontrada"
    r"|strona nie (?:istnieje|została znaleziona))\W*(?:$|[|\u2013\u2014-])",
    re.IGNORECASE,
)
"""What titles of such pages are; those of pages that write about them go on."""


def is_error(title: str, text: str) -> bool:
    """Whether a page says that it is an error.

    Args:
        title: its title.
        text: the start of what can be read of it, as ``signals.readable_start`` gives it: one with
            as much to read is a page, whatever its title.
    """
    return len(text) < MOST_COUNTED and _SAYS_SO.search(title) is not None
