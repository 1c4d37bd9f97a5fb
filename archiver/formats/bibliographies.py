"""Reference managers: BibTeX, RIS and CSL JSON."""

import logging
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from rispy import RisParser
from rispy.config import TAG_KEY_MAPPING

from archiver.formats.importer import Importer
from archiver.formats.rows import FieldMap, Row, names_of, text_of
from archiver.formats.source_file import SourceFile, joined
from archiver.model.message import marked
from archiver.model.seed import Bookmark, unreadable

if TYPE_CHECKING:
    from bibtexparser.model import Entry

# Shared by these formats: identifiers as addresses, fields of bounded length.

NO_ADDRESS = marked("This reference has no URL.")
MAX_FIELD = 1 << 20
MAX_REFERENCE = 1 << 20
"""Maximum characters of a reference; one without an end mark would be read to the end of the file.
"""
MAX_LINES = 10_000
TOO_LONG = marked("This reference is incomplete or too long.")
_DOI = "https://doi.org/"
_IDENTIFIER_URLS = (
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
"""(Pattern, URL) of identifiers in notes, as Zotero and BibTeX write them.

URLs of full texts come first.
"""


def reference_url(doi: str, remarks: str = "") -> str:
    """Return the URL for a reference without an address; an invalid DOI is returned unchanged.

    Args:
        doi: DOI of the reference; empty if it has none.
        remarks: text that may contain identifiers of PubMed Central, PubMed or arXiv.

    >>> reference_url("10.1000/182")
    'https://doi.org/10.1000/182'
    >>> reference_url("", "PMID: 18160043")
    'https://pubmed.ncbi.nlm.nih.gov/18160043/'
    """
    doi = doi.strip().removeprefix("doi:").strip()
    if doi:
        return f"{_DOI}{doi}" if doi.startswith("10.") else doi
    match = ((pattern.search(remarks), place) for pattern, place in _IDENTIFIER_URLS)
    return next((place.format(each[1]) for each, place in match if each), "")


def remarks_of(fields: Mapping[str, str]) -> str:
    """Return identifier fields of BibTeX and CSL as text for ``reference_url``."""
    names = {"pmcid": "PMCID", "pmid": "PMID"}
    named = [f"{mark}: {fields[name]}" for name, mark in names.items() if fields.get(name)]
    if fields.get("archiveprefix", fields.get("eprinttype", "")).lower() == "arxiv":
        named.append(f"arXiv:{fields.get('eprint', '')}")
    return "\n".join((*named, fields.get("note", "")))


# Conversion of LaTeX in BibTeX fields to text by pylatexenc: ``{\"o}``, ``\'e``, ``\ss``, ``--``.

_MARKUP = re.compile(r"[\\{}~]|--|``|''")
_UNESCAPED = re.compile(r"(?<!\\)([&%#])")
"""Characters that reference managers often leave unescaped, though they are LaTeX markup."""
_BRACES = re.compile(r"[{}]")
_ESCAPE = re.compile(r"\\(?=[&%$#_ ])")
_COMMANDS = {
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textunderscore": "_",
    "pounds": "£",
    "copyright": "©",
}
"""Commands that reference managers write and pylatexenc does not support."""
_MAX_DECODED = 20_000
"""Maximum characters for pylatexenc, which takes seconds for more."""
_URL = re.compile(r"\\url\{([^{}]*)\}")


def text_of_latex(text: str) -> str:
    r"""Convert LaTeX to text; unknown commands stay unchanged.

    >>> text_of_latex('G{\\"o}del, Erd\\H{o}s and \\O rsted')
    'Gödel, Erdős and Ørsted'
    """
    if not _MARKUP.search(text) or "://" in text or len(text) > _MAX_DECODED:
        return text
    try:
        decoded: str = _decoder().latex_to_text(_UNESCAPED.sub(r"\\\1", text))
    except Exception:  # noqa: BLE001  (pylatexenc has no base exception, and also raises IndexError)
        return text
    return " ".join(decoded.split())


def address_of_latex(text: str) -> str:
    r"""Return an address without braces, escapes and ``\url``, keeping ``~``."""
    return _BRACES.sub("", _ESCAPE.sub("", _URL.sub(r"\1", text))).strip()


@cache
def _decoder() -> Any:
    # Imported on first use, because it is large.
    from pylatexenc import latex2text  # noqa: PLC0415

    # pylatexenc logs a warning for each invalid input; users do not need these warnings.
    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)
    context = latex2text.get_default_latex_context_db()
    verbatim = latex2text.MacroTextSpec("", simplify_repl=lambda node: node.latex_verbatim())
    signs = (latex2text.MacroTextSpec(name, sign) for name, sign in _COMMANDS.items())
    context.add_context_category("signs", prepend=True, macros=[*signs])
    context.set_unknown_macro_spec(verbatim)
    return latex2text.LatexNodes2Text(
        latex_context=context, math_mode="verbatim", keep_comments=True
    )


# RIS, read by rispy: one field per line, ``UR  - https://…``, between ``TY`` and ``ER``. Without
# ``ER``, the next ``TY`` ends the record; without ``TY``, an empty line after the address does.

_FIELD = re.compile(r"\s*([A-Z][A-Z0-9])  ?- ?(.*)")
_BEGINS = re.compile(r"\ufeff?\s*(?:TY  ?-|[A-Z][A-Z0-9]  - )")
_TYPE_OR_END = re.compile(r"^(?:TY|ER|UR|DO)  ?-", re.MULTILINE)
_NEXT_ADDRESS = re.compile(r";\s*(?=https?://)")
_ADDRESSES = ("UR", "L1", "LK")
_TITLES = ("TI", "T1", "CT", "BT")
_TAGS = {tag: tag for tag in (*TAG_KEY_MAPPING, *_ADDRESSES, *_TITLES)}
Fields = dict[str, list[str]]


def _read_ris(file: SourceFile) -> Iterator[Bookmark]:
    for lines, is_whole in _references(file):
        fields = _fields(lines)
        if not is_whole:
            yield unreadable(_title(fields), TOO_LONG)
        elif fields:
            yield _bookmark(fields)


def _references(file: SourceFile) -> Iterator[tuple[list[str], bool]]:
    """Yield the lines of each reference, and whether they are complete.

    Lines beyond ``MAX_LINES`` or ``MAX_REFERENCE`` are left out.
    """
    lines: list[str] = []
    tags: set[str] = set()
    count = size = 0
    for line in file.lines(MAX_FIELD):
        match = _FIELD.match(line)
        tag = match[1] if match else ""
        is_over = not line.strip() and "TY" not in tags and not tags.isdisjoint((*_ADDRESSES, "DO"))
        if lines and (is_over or tag in ("TY", "ER")):
            yield lines, count <= MAX_LINES and size <= MAX_REFERENCE
            lines, tags, count, size = [], set(), 0, 0
        if tag == "ER" or not line.strip():
            continue
        count, size = count + 1, size + len(line)
        if count > MAX_LINES or size > MAX_REFERENCE:
            continue
        tags.add(tag)
        if match:
            lines.append(f"{tag}  - {match[2].strip()}")
        elif lines:
            lines[-1] += f" {line.strip()}"  # continuation of a long field
    if lines:
        yield lines, count <= MAX_LINES and size <= MAX_REFERENCE


def _fields(lines: list[str]) -> Fields:
    begin = [] if lines[0].startswith("TY") else ["TY  - "]
    text = "\n".join((*begin, *lines, "ER  - "))
    # Without delimiters, because ``;`` may be part of an address.
    parser = RisParser(mapping=_TAGS, delimiter_tags_mapping={}, enforce_list_tags=False)
    records = parser.parse(text)
    fields: Fields = {}
    for tag, value in (records[0] if records else {}).items():
        if isinstance(value, dict):
            fields |= {each: list(values) for each, values in value.items() if each}
        else:
            fields[tag] = value if isinstance(value, list) else [value]
    return {
        tag: nonempty for tag, values in fields.items() if (nonempty := [*filter(None, values)])
    }


def _bookmark(fields: Fields) -> Bookmark:
    title = _title(fields)
    urls = [each for tag in _ADDRESSES for each in fields.get(tag, ())]
    addresses = [each for text in urls for each in _NEXT_ADDRESS.split(text)]
    if not addresses:
        remarks = "\n".join(each for values in fields.values() for each in values)
        addresses = [reference_url(_first(fields, "DO"), remarks)]
    if not addresses[0]:
        return unreadable(title, NO_ADDRESS)
    remaining = {tag: each for tag, each in fields.items() if tag not in (*_ADDRESSES, "KW", "N1")}
    remaining["UR"] = addresses[1:]
    row = Row({tag: each[0] if len(each) == 1 else each for tag, each in remaining.items() if each})
    row.drop(*(each.lower() for each in _TITLES if _first(fields, each) == title))
    return row.bookmark(
        addresses[0],
        title=title,
        note="\n\n".join(fields.get("N1", ())),
        tags=tuple(dict.fromkeys(fields.get("KW", ()))),
    )


def _title(fields: Fields) -> str:
    return next(filter(None, (_first(fields, each) for each in _TITLES)), "")


def _first(fields: Fields, tag: str) -> str:
    return fields.get(tag, [""])[0]


def _recognises(file: SourceFile) -> bool:
    """Return whether the file begins with a RIS field and contains a reference with an address."""
    return (
        file.is_text
        and _BEGINS.match(file.text) is not None
        and _TYPE_OR_END.search(file.text) is not None
    )


RIS = Importer(
    "RIS",
    _recognises,
    _read_ris,
    ("ris",),
    marked("Zotero, Mendeley, EndNote: Export, RIS"),
)

# BibTeX and BibLaTeX, read by bibtexparser. The address is in ``url`` or ``howpublished``, or
# follows from an identifier.

MAX_CHARACTERS = 16 << 20
"""Maximum characters of a file, because bibtexparser keeps all of it in memory."""
_MAX_FIELDS = 1000
_FIRST = re.compile(
    r"^[ \t]{0,20}@\w{1,50}\s{0,9}[{(][^,\n{}]{0,500},\s{0,50}[\w-]{1,50}\s{0,9}=", re.MULTILINE
)
"""Start of an entry; text before the first one may be a preamble, macros or notes."""


def _read_bibtex(file: SourceFile) -> Iterator[Bookmark]:
    from bibtexparser import model  # noqa: PLC0415 - slow to import and rarely needed
    from bibtexparser.entrypoint import parse_string  # noqa: PLC0415

    # This function reports the problems of references itself.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    text = joined(file.chunks(), file.name, MAX_CHARACTERS).lstrip("\ufeff")
    for block in parse_string(text).blocks:
        entry = block
        while isinstance(entry, model.ParsingFailedBlock) and entry.ignore_error_block:
            entry = entry.ignore_error_block  # a duplicate key or field
        if isinstance(entry, model.Entry) and len(entry.fields) <= _MAX_FIELDS:
            yield _bibtex_reference(entry)
        elif isinstance(entry, model.Entry | model.ParsingFailedBlock):
            yield unreadable((entry.raw or "").lstrip().partition("\n")[0][:200], TOO_LONG)


def _bibtex_reference(entry: "Entry") -> Bookmark:
    fields = {"type": entry.entry_type, "key": entry.key}
    for field in entry.fields:
        fields.setdefault(field.key.lower(), " ".join(str(field.value).split()))
    row = Row(fields)
    url = address_of_latex(row.text("url") or row.text("howpublished")) or reference_url(
        text_of(row.peek("doi")), remarks_of(fields)
    )
    title = text_of_latex(row.text("title"))
    if not url:
        return unreadable(title or entry.key, NO_ADDRESS)
    return row.bookmark(
        url,
        title=title,
        note=text_of_latex(row.text("note", "annote")),
        added_at=row.moment("timestamp", "dateadded", "urldate"),
        tags=names_of(text_of_latex(row.text("keywords", "mendeleytags"))),
    )


def _begins(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith(("@", "%")) and _FIRST.search(text) is not None


BIBTEX = Importer(
    "BibTeX",
    lambda file: file.is_text and (file.suffix == "bib" or _begins(file.text)),
    _read_bibtex,
    ("bib",),
    marked("Zotero, Mendeley, JabRef: Export, BibTeX or BibLaTeX"),
)


# CSL JSON, as Zotero and others write it.


def csl_bookmark(row: Row) -> Bookmark:
    """Return the bookmark of a reference in CSL JSON."""
    identifiers = {name: text_of(row.peek(name)) for name in ("pmid", "pmcid", "note")}
    url = row.text("url") or reference_url(text_of(row.peek("doi")), remarks_of(identifiers))
    return _CSL.bookmark(row, url)


_CSL = FieldMap(
    url=(), note="note", added_at=("timestamp", "dateadded"), tags=("keyword", "keywords")
)
