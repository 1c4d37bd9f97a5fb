"""What a child does with a document: pure, from bytes to values."""

from dataclasses import replace
from importlib import import_module
from types import ModuleType

from archiver.derive.messages import Document, Result, Task
from archiver.encoding.choose import (
    Choice,
    Decoded,
    choose_encoding,
    decode_document,
    is_text,
    is_xml,
)
from archiver.html.article import extract_article, extract_stood, image_article
from archiver.html.canonical import canonical_in_header
from archiver.html.colours import coloured
from archiver.html.plain import file_name, text_article
from archiver.html.requisites import find_linked, find_xml_requisites, look_through
from archiver.html.sheets import find_sheet_requisites
from archiver.model.likeness import LikenessKind
from archiver.model.page import Article, Charset, Discovery, PageMetadata
from archiver.model.requisite import Requisite
from archiver.query.findable import indexed
from archiver.wire.sniff import is_css, is_html, is_pdf


def perform(task: Task, document: Document, limit: int) -> Result:
    """Do one task; ``limit`` is the most requisites to name."""
    if task in (Task.ICON, Task.COVER):
        drawn: Result = _drawing().draw(LikenessKind(task), document.payload)
        return drawn
    if task is Task.DISCOVER:
        return _discover(document, limit)
    article = _extract(document)
    return replace(
        article,
        html=coloured(article.html),
        words=indexed(article.text),
        metadata=_with_address(article.metadata, document),
    )


def _discover(document: Document, limit: int) -> Discovery:
    """What a document needs, and what it says of itself; what its response names comes first."""
    found = _look_through(document, limit)
    if not document.link_header:
        return found
    linked = find_linked(document.link_header, document.url, limit)
    return replace(
        found,
        requisites=_each_once((*linked, *found.requisites))[:limit],
        metadata=_with_address(found.metadata, document),
    )


def _with_address(metadata: PageMetadata, document: Document) -> PageMetadata:
    """With the address that the response names where the page names none, as a PDF can't."""
    if metadata.canonical or not document.link_header:
        return metadata
    return replace(metadata, canonical=canonical_in_header(document.link_header, document.url))


def _each_once(requisites: tuple[Requisite, ...]) -> tuple[Requisite, ...]:
    return tuple({each.url: each for each in reversed(requisites)}.values())[::-1]


def _look_through(document: Document, limit: int) -> Discovery:
    kind = document.media_type
    if is_html(kind):
        page = _decode(document)
        return replace(look_through(page.text, document.url, limit), charset=_charset(page.choice))
    if is_css(kind):
        sheet = _decode(document)
        found = find_sheet_requisites(sheet.text, document.url)[:limit]
        return Discovery(found, _charset(sheet.choice))
    if is_xml(kind):
        xml = _decode(document)
        needs = find_xml_requisites(xml.text, document.url, limit)
        return Discovery(needs, _charset(xml.choice))
    return Discovery(charset=_charset(_choose(document))) if is_text(kind) else Discovery()


def _extract(document: Document) -> Article:
    kind, title = document.media_type, file_name(document.url)
    if is_html(kind):
        text = _decode(document).text
        if document.has_stood:
            return extract_stood(text, document.url, document.sheets)
        return extract_article(text, document.url, part=document.part, sheets=document.sheets)
    if is_pdf(kind):
        article: Article = _pdf().pdf_article(document.payload, title)
        return article
    if kind.startswith("image/"):
        return image_article(document.url, title)
    if is_text(kind):
        return text_article(_decode(document).text, title)
    return Article(PageMetadata(title=title))


def _decode(document: Document) -> Decoded:
    return decode_document(document.payload, document.media_type, document.charset, document.url)


def _choose(document: Document) -> Choice:
    return choose_encoding(document.payload, document.media_type, document.charset, document.url)


def _charset(choice: Choice) -> Charset:
    return Charset(choice.encoding, choice.declared)


def _drawing() -> ModuleType:
    """Loaded by who draws: few children do, and it is a fifth of what they load."""
    return import_module("archiver.derive.drawing")


def _pdf() -> ModuleType:
    """Loaded for the first PDF, as ``_drawing`` is."""
    return import_module("archiver.html.pdf")
