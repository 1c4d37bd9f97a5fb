"""What style sheets make a browser load."""

from archiver.model.requisite import Requisite, RequisiteKind
from archiver.references.css import lead_css
from archiver.references.use import REQUISITE_KINDS, Use
from archiver.urls.parse import join


def find_sheet_requisites(css: str, base_url: str) -> tuple[Requisite, ...]:
    """Everything a style sheet makes a browser load, in order, each once."""
    found: dict[str, RequisiteKind] = {}
    for reference, use in read_css(css):
        url = join(base_url, reference)
        if url:
            found.setdefault(url, REQUISITE_KINDS[use])
    return tuple(Requisite(url, kind) for url, kind in found.items())


def read_css(css: str) -> list[tuple[str, Use]]:
    """The references of a style sheet, or of a ``style`` attribute, that lead out of it."""
    found: list[tuple[str, Use]] = []

    def see(reference: str, use: Use) -> None:
        given = reference.strip()
        if given and not given.startswith("#"):
            found.append((given, use))

    lead_css(css, see)
    return found
