"""What a response's ``Link`` fields make a browser load (RFC 8288; HTML §4.2.4.4).

Discovery and replay both read them here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from archiver.references.relations import link_use
from archiver.references.use import Use
from archiver.wire.link_field import link_values

LONGEST: Final = 8192
"""Characters of all the ``Link`` fields of a response that are looked at."""

_LOADING = frozenset({"stylesheet", "preload", "modulepreload", "icon"})


@dataclass(frozen=True, slots=True)
class LoadingLink:
    """A link that loads something.

    Attributes:
        reference: URI reference as it stands, one character a byte.
        use: what it is loaded for.
        relations: those that load, lower case.
        parameters: all of the link's, names lower case.
    """

    reference: str
    use: Use
    relations: frozenset[str]
    parameters: dict[str, str]


def read_link_header(value: str) -> Iterator[LoadingLink]:
    """The links of a field's value that load something, in order; the others are passed over."""
    for reference, parameters in link_values(value[:LONGEST]):
        rel = parameters.get("rel", "").lower()
        relations = frozenset(rel.split()) & _LOADING
        if relations:
            use = link_use(rel, parameters.get("as", ""))
            yield LoadingLink(reference, use, relations, parameters)
