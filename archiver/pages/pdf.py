"""Text of PDF files."""

import re
from collections.abc import Iterator
from contextlib import suppress
from html import escape
from time import process_time

import pypdfium2

from archiver.model.page import Article, PageMetadata
from archiver.pages.metadata import to_iso

MAX_PAGES = 2_000
MAX_CHARACTERS = 1 << 20
SECONDS = 10.0
"""CPU time limit; the text read until then is used."""
_HYPHEN = re.compile(r"(?<=\w)(?:\ufffe|\u00ad|-)\s*\n\s*(?=[a-zà-ÿ])|[\ufffe\u00ad]")
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029\f\v]")
_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")
_SHORT = 0.8
"""Share of the length of the page's longest line, used to find the ends of paragraphs.

A line that is shorter than this and ends with a punctuation mark ends a paragraph.
"""


def pdf_article(payload: bytes, title: str) -> Article:
    """Return the article of a PDF: its text as paragraphs, and its title, or ``title`` if none.

    Unreadable files give an article without text.
    """
    try:
        document = pypdfium2.PdfDocument(payload)
    except pypdfium2.PdfiumError:
        return Article(PageMetadata(title=title))
    try:
        metadata = _metadata(document, title)
        paragraphs = [each for text in _pages(document) for each in _paragraphs(text)]
    finally:
        document.close()
    html = "\n".join(f"<p>{escape(each, quote=False)}</p>" for each in paragraphs)
    return Article(metadata, html, "\n".join(paragraphs))


def _metadata(document: pypdfium2.PdfDocument, title: str) -> PageMetadata:
    metadata: dict[str, str] = {}
    with suppress(pypdfium2.PdfiumError, UnicodeError):
        metadata = document.get_metadata_dict(skip_empty=True)
    document_title = " ".join(_NOT_TEXT.sub("", metadata.get("Title", "")).split())
    match = _DATE.match(metadata.get("CreationDate", ""))
    published = to_iso("-".join(part or "01" for part in match.groups())) if match else ""
    return PageMetadata(
        title=document_title[:500] if any(each.isalpha() for each in document_title) else title,
        byline=" ".join(_NOT_TEXT.sub("", metadata.get("Author", "")).split())[:200],
        published=published,
    )


def _pages(document: pypdfium2.PdfDocument) -> Iterator[str]:
    characters_left, end = MAX_CHARACTERS, process_time() + SECONDS
    for number in range(min(len(document), MAX_PAGES)):
        if characters_left <= 0 or process_time() > end:
            return
        try:
            page = document[number]
            words = page.get_textpage()
            text: str = words.get_text_range(0, min(words.count_chars(), characters_left))
            words.close()
            page.close()
        except pypdfium2.PdfiumError:
            continue
        characters_left -= len(text)
        yield text


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a page, split at empty lines and short lines that end a sentence."""
    text = _HYPHEN.sub("", _LINE_END.sub("\n", text))
    lines = [" ".join(_NOT_TEXT.sub("", line).split()) for line in text.split("\n")]
    longest = max(map(len, lines), default=0)
    paragraph: list[str] = []
    for line in lines:
        if line:
            paragraph.append(line)
        if paragraph and (not line or _is_end(line, longest)):
            yield " ".join(paragraph)
            paragraph = []
    if paragraph:
        yield " ".join(paragraph)


def _is_end(line: str, longest: int) -> bool:
    return line.endswith((".", "!", "?", ":", "”", '"')) and len(line) < _SHORT * longest
