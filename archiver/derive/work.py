"""What a child does with a document: pure, from bytes to values."""

from archiver.derive.messages import Document, Task
from archiver.html.article import extract_article, image_article
from archiver.html.encoding import decode_html
from archiver.html.plain import file_name, text_article
from archiver.html.requisites import look_through
from archiver.html.sheets import find_sheet_requisites
from archiver.model.page import Article, Charset, Discovery, PageMetadata
from archiver.wire.sniff import is_css, is_html


def perform(task: Task, document: Document, limit: int) -> Article | Discovery:
    """Do one task; ``limit`` is the most requisites to name."""
    return _discover(document, limit) if task is Task.DISCOVER else _extract(document)


def _discover(document: Document, limit: int) -> Discovery:
    if is_html(document.media_type):
        page = decode_html(document.payload, document.charset)
        found, metadata = look_through(page.text, document.url, limit)
        return Discovery(found, Charset(page.used, page.declared), metadata)
    if is_css(document.media_type):
        sheet = decode_html(document.payload, document.charset)
        return Discovery(
            find_sheet_requisites(sheet.text, document.url)[:limit], Charset(sheet.used)
        )
    return Discovery()


def _extract(document: Document) -> Article:
    kind, title = document.media_type, file_name(document.url)
    if is_html(kind):
        page = decode_html(document.payload, document.charset)
        return extract_article(page.text, document.url)
    if kind.startswith("image/"):
        return image_article(document.url, title)
    if kind.startswith("text/") or kind.endswith(("json", "xml")):
        return text_article(decode_html(document.payload, document.charset).text, title)
    return Article(PageMetadata(title=title))
