"""What formats of reference managers share: identifiers as addresses, lines of bounded length."""

import re
from collections.abc import Iterator, Mapping

from archiver.formats.given_file import GivenFile
from archiver.model.message import marked

NO_ADDRESS = marked("This reference holds no address.")
MOST_FIELD = 1 << 20
MOST_REFERENCE = 1 << 20
"""Characters of a reference: what has no end would be held as one."""
MOST_LINES = 10_000
TOO_LONG = marked("This reference has no end, or is longer than can be read.")
_DOI = "https://doi.org/"
_RESOLVED = (
    (
        re.compile(r"\bPMC(?:ID)?:?\s{0,3}(?:PMC)?(\d{3,10})\b"),
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC{}/",
    ),
    (re.compile(r"\bPMID:?\s{0,3}(\d{3,10})\b"), "https://pubmed.ncbi.nlm.nih.gov/{}/"),
    (
        re.compile(
            r"\barXiv:\s{0,3}(\d{4}\.\d{4,5}|[a-z-]{2,16}(?:\.[A-Z]{2})?/\d{7})", re.IGNORECASE
        ),
        "https://arxiv.org/abs/{}",
    ),
)
"""Identifiers in remarks, as Zotero and BibTeX have them, and where each is shown; texts first."""


def address_of(doi: str, remarks: str = "") -> str:
    """Where a reference without an address leads; what is given as a DOI and is none stays.

    Args:
        doi: its DOI; empty if it has none.
        remarks: what may name it in PubMed Central, PubMed or arXiv.

    >>> address_of("10.1000/182")
    'https://doi.org/10.1000/182'
    >>> address_of("", "PMID: 18160043")
    'https://pubmed.ncbi.nlm.nih.gov/18160043/'
    """
    doi = doi.strip().removeprefix("doi:").strip()
    if doi:
        return f"{_DOI}{doi}" if doi.startswith("10.") else doi
    found = ((pattern.search(remarks), place) for pattern, place in _RESOLVED)
    return next((place.format(each[1]) for each, place in found if each), "")


def remarks_of(fields: Mapping[str, str]) -> str:
    """Identifiers in fields of their own as remarks, by the names of BibTeX and CSL."""
    names = {"pmcid": "PMCID", "pmid": "PMID"}
    named = [f"{mark}: {fields[name]}" for name, mark in names.items() if fields.get(name)]
    if fields.get("archiveprefix", fields.get("eprinttype", "")).lower() == "arxiv":
        named.append(f"arXiv:{fields.get('eprint', '')}")
    return "\n".join((*named, fields.get("note", "")))


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
