"""Page worker process.

Run as ``python -m archiver.pages.worker MEMORY_BYTES NICE``.
"""

import gc
import os
import resource
import signal
import sys
from dataclasses import replace
from typing import BinaryIO

from msgspec.msgpack import Decoder

from archiver.http.encoding_detection import ChosenEncoding, is_text_type
from archiver.http.media_types import is_css, is_html, is_pdf, is_xml
from archiver.model.page import Article, Charset, Discovery, PageMetadata
from archiver.model.rendering import RenditionKind
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.pages.article.extraction import (
    extract_article,
    extract_parsed,
    extract_rendered,
    image_article,
)
from archiver.pages.article_text import file_name, text_article
from archiver.pages.metadata import canonical_in_header
from archiver.pages.parsing import parse
from archiver.pages.requisites import (
    discover_parsed,
    discover_requisites,
    find_linked,
    find_sheet_requisites,
    find_xml_requisites,
)
from archiver.pages.syntax_highlighting import coloured
from archiver.pages.worker_messages import (
    COLLECT,
    PREFIX,
    READY,
    Document,
    PageResult,
    Request,
    Result,
    Task,
    choose,
    decode_payload,
    pack,
)
from archiver.search.search_document import index_words

_REQUESTS = Decoder(Request)


def _finished(article: Article, document: Document) -> Article:
    """Return an article with highlighted code, search terms and its canonical URL."""
    article = replace(article, metadata=_with_canonical(article.metadata, document))
    return replace(article, html=coloured(article.html), words=index_words(article.text))


def _extract(document: Document) -> Article:
    kind, title = document.media_type, file_name(document.url)
    if is_html(kind):
        text = decode_payload(document).text
        if document.is_rendered:
            return extract_rendered(text, document.url)
        return extract_article(text, document.url, part=document.part)
    if is_pdf(kind):
        from archiver.pages.pdf import pdf_article  # noqa: PLC0415 - few workers read a PDF

        return pdf_article(document.payload, title)
    if kind.startswith("image/"):
        return image_article(document.url, title)
    if is_text_type(kind):
        return text_article(decode_payload(document).text, title)
    return Article(PageMetadata(title=title))


def perform(task: Task, document: Document, limit: int) -> Result:
    """Perform one task; ``limit`` is the maximum number of requisites."""
    if task in (Task.ICON, Task.COVER):
        from archiver.pages.image_drawing import draw  # noqa: PLC0415 - large

        return draw(RenditionKind(task), document.payload)
    if task is Task.DISCOVER:
        return _discover(document, limit)
    if task is Task.INSPECT_AND_EXTRACT:
        return _inspect_and_extract(document, limit)
    return _finished(_extract(document), document)


def _discover(document: Document, limit: int) -> Discovery:
    """Return the findings in a document; requisites in its Link header come first."""
    return _with_link_header(_inspect(document, limit), document, limit)


def _inspect_and_extract(document: Document, limit: int) -> PageResult:
    """Return the requisites and the article of a page, parsed once for both.

    The article is None if it must be extracted later, because the page needs a browser or has
    further parts. It is also None for bot walls, parked domains and pages that can't be parsed.
    """
    page = decode_payload(document)
    tree = parse(page.text)
    if tree is None:
        return PageResult(_discover(document, limit))
    of_page = discover_parsed(tree, page.text, document.url, limit, page.choice.encoding)
    discovery = _with_xml(
        replace(of_page, charset=_charset(page.choice)), page.text, document, limit
    )
    discovery = _with_link_header(discovery, document, limit)
    has_parts = any(each.kind is RequisiteKind.PART for each in discovery.requisites)
    if discovery.needs_browser or discovery.wall or discovery.parked or has_parts:
        return PageResult(discovery)
    article = extract_parsed(tree, page.text, document.url, of_page.metadata)
    return PageResult(discovery, _finished(article, document))


def _with_link_header(discovery: Discovery, document: Document, limit: int) -> Discovery:
    """Add the requisites and the canonical URL of the document's Link header."""
    if not document.link_header:
        return discovery
    linked = find_linked(document.link_header, document.url, limit)
    return replace(
        discovery,
        requisites=_each_once((*linked, *discovery.requisites))[:limit],
        metadata=_with_canonical(discovery.metadata, document),
    )


def _with_xml(discovery: Discovery, text: str, document: Document, limit: int) -> Discovery:
    """Add the requisites of XHTML that an HTML parser does not see, such as ``<h:img>``."""
    if not is_xml(document.media_type):
        return discovery
    further = find_xml_requisites(text, document.url, limit)
    return replace(discovery, requisites=_each_once((*discovery.requisites, *further))[:limit])


def _with_canonical(metadata: PageMetadata, document: Document) -> PageMetadata:
    """Use the canonical URL of the Link header if the document has none, such as a PDF."""
    if metadata.canonical or not document.link_header:
        return metadata
    return replace(metadata, canonical=canonical_in_header(document.link_header, document.url))


def _each_once(requisites: tuple[Requisite, ...]) -> tuple[Requisite, ...]:
    """Remove requisites with repeated URLs; a URL may occur a second time as ``PART``."""
    unique = {(each.url, each.kind is RequisiteKind.PART): each for each in reversed(requisites)}
    return tuple(unique.values())[::-1]


def _inspect(document: Document, limit: int) -> Discovery:
    kind = document.media_type
    if is_html(kind):
        page = decode_payload(document)
        discovered = discover_requisites(page.text, document.url, limit, page.choice.encoding)
        discovered = _with_xml(discovered, page.text, document, limit)
        return replace(discovered, charset=_charset(page.choice))
    if is_css(kind):
        sheet = decode_payload(document)
        sheet_requisites = find_sheet_requisites(sheet.text, document.url, sheet.choice.encoding)[
            :limit
        ]
        return Discovery(sheet_requisites, _charset(sheet.choice))
    if is_xml(kind):
        xml = decode_payload(document)
        needs = find_xml_requisites(xml.text, document.url, limit, xml.choice.encoding)
        return Discovery(needs, _charset(xml.choice))
    return Discovery(charset=_charset(choose(document))) if is_text_type(kind) else Discovery()


def _charset(choice: ChosenEncoding) -> Charset:
    return Charset(choice.encoding, choice.declared)


def main() -> None:
    """Limit the resources of this process, and serve until the parent closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    memory, nice = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.set_threshold(*COLLECT)
    os.nice(nice)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        os._exit(0)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer requests until ``source`` ends."""
    _write_message(READY, sink)
    while (prefix := source.read(PREFIX.size)) and len(prefix) == PREFIX.size:
        (size,) = PREFIX.unpack(prefix)
        body = source.read(size)
        if len(body) < size:
            return
        _handle(body, sink)


def _handle(body: bytes, sink: BinaryIO) -> None:
    try:
        request = _REQUESTS.decode(body)
        message = pack((perform(request.task, request.document, request.limit), ""))
    except Exception as error:  # noqa: BLE001 - a failure must not end the worker
        message = pack((None, f"{type(error).__name__}: {error}"[:500]))
    _write_message(message, sink)


def _write_message(message: bytes, sink: BinaryIO) -> None:
    sink.write(message)
    sink.flush()


if __name__ == "__main__":
    main()
