"""Reads the article of a document; loaded by who reads one: it is a third of what a child loads."""

from dataclasses import replace
from importlib import import_module
from types import ModuleType

from selectolax.lexbor import LexborHTMLParser

from archiver.derive.messages import Document
from archiver.derive.text import decode
from archiver.encoding.choose import is_text
from archiver.html.article import article_of, extract_article, extract_stood, image_article
from archiver.html.colours import coloured
from archiver.html.plain import file_name, text_article
from archiver.model.page import Article, PageMetadata
from archiver.query.findable import indexed
from archiver.wire.sniff import is_html, is_pdf


def read(document: Document) -> Article:
    """Its article, with code in colours and the words that it is found by."""
    return _finished(_extract(document))


def read_parsed(tree: LexborHTMLParser, html: str, url: str, metadata: PageMetadata) -> Article:
    """The same of a page that was looked at already: its tree, its source, what it says of itself.

    The tree is no more what it was afterwards.
    """
    return _finished(article_of(tree, html, url, metadata))


def _finished(article: Article) -> Article:
    return replace(article, html=coloured(article.html), words=indexed(article.text))


def _extract(document: Document) -> Article:
    kind, title = document.media_type, file_name(document.url)
    if is_html(kind):
        text = decode(document).text
        if document.has_stood:
            return extract_stood(text, document.url, document.sheets)
        return extract_article(text, document.url, part=document.part, sheets=document.sheets)
    if is_pdf(kind):
        article: Article = _pdf().pdf_article(document.payload, title)
        return article
    if kind.startswith("image/"):
        return image_article(document.url, title)
    if is_text(kind):
        return text_article(decode(document).text, title)
    return Article(PageMetadata(title=title))


def _pdf() -> ModuleType:
    """Loaded for the first PDF: few children see one."""
    return import_module("archiver.html.pdf")
