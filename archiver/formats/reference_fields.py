"""What formats of reference managers share: a DOI as an address, and lines of bounded length."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.model.message import marked

NO_ADDRESS = marked("This reference holds no address.")
MOST_FIELD = 1 << 20
_DOI = "https://doi.org/"


def address_of_doi(doi: str) -> str:
    """Where a DOI leads; what is no DOI is given as it is.

    >>> address_of_doi("10.1000/182")
    'https://doi.org/10.1000/182'
    """
    return f"{_DOI}{doi}" if doi.startswith("10.") else doi


def lines_of(file: GivenFile) -> Iterator[str]:
    """The lines of a text without their ends; one that is too long comes in parts."""
    held = ""
    for chunk in file.chunks():
        *lines, held = (held + chunk.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
        yield from lines
        if len(held) > MOST_FIELD:
            yield held
            held = ""
    yield held
