"""Which content coding an answer is sent in (RFC 9110 §12.5.3)."""

import re
from collections.abc import Sequence
from enum import StrEnum

_LONGEST = 1024
"""Characters of the field that are looked at: a dozen codings take a tenth of them."""
_ITEM = re.compile(
    r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)"
    r"(?:[ \t]*;[ \t]*[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?[ \t]*"
)
_ALIASES = {"x-gzip": "gzip"}
_ANY = "*"


class Coding(StrEnum):
    """The codings that answers are sent in."""

    BROTLI = "br"
    GZIP = "gzip"
    IDENTITY = "identity"


def choose_coding(accept_encoding: str | None, offered: Sequence[Coding]) -> Coding:
    """Choose the coding that is wanted most; of several wanted alike the one offered first.

    What can't be read of the field is passed over. Where nothing that is offered will do, the
    answer is sent as it is, as the RFC has it: better than none.

    Args:
        accept_encoding: the field's value, several of them joined by commas; None if missing.
        offered: beside ``IDENTITY``, which can always be had.
    """
    weights = _weights(accept_encoding or "")
    otherwise = weights.get(_ANY, 0.0)
    best, most = Coding.IDENTITY, weights.get(Coding.IDENTITY, 0.0)
    for coding in offered:
        weight = weights.get(coding, otherwise)
        is_tie_with_identity = best is Coding.IDENTITY and weight == most
        if weight > most or (weight > 0 and is_tie_with_identity):
            best, most = coding, weight
    return best


def _weights(field: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for item in field[:_LONGEST].split(","):
        found = _ITEM.fullmatch(item)
        if found:
            name = found[1].lower()
            weights.setdefault(_ALIASES.get(name, name), float(found[2] or 1))
    return weights
