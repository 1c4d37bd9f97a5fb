"""What a child does with a document: pure, from bytes to values."""

from dataclasses import replace
from importlib import import_module
from types import ModuleType

from archiver.derive.messages import Document, Result, Seen, Task
from archiver.derive.text import choose, decode
from archiver.encoding.choose import Choice, is_text, is_xml
from archiver.html.canonical import canonical_in_header
from archiver.html.parsing import parse
from archiver.html.requisites import find_linked, find_xml_requisites, look_at, look_through
from archiver.html.sheets import find_sheet_requisites
from archiver.model.likeness import LikenessKind
from archiver.model.page import Article, Charset, Discovery, PageMetadata
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.wire.sniff import is_css, is_html


def perform(task: Task, document: Document, limit: int) -> Result:
    """Do one task; ``limit`` is the most requisites to name."""
    if task in (Task.ICON, Task.COVER):
        drawn: Result = _drawing().draw(LikenessKind(task), document.payload)
        return drawn
    if task is Task.DISCOVER:
        return _discover(document, limit)
    if task is Task.LOOK_AND_READ:
        return _look_and_read(document, limit)
    article: Article = _articles().read(document)
    return replace(article, metadata=_with_address(article.metadata, document))


def _discover(document: Document, limit: int) -> Discovery:
    """What a document needs, and what it says of itself; what its response names comes first."""
    return _with_links(_look_through(document, limit), document, limit)


def _look_and_read(document: Document, limit: int) -> Seen:
    """The same of a page, with its article, which its tree is used up for: parsed once for both.

    One that a browser is to show, that is no page, or that has further parts is read otherwise.
    """
    page = decode(document)
    tree = parse(page.text)
    if tree is None:
        return Seen(_discover(document, limit))
    looked = look_at(tree, page.text, document.url, limit)
    found = _with_links(replace(looked, charset=_charset(page.choice)), document, limit)
    has_parts = any(each.kind is RequisiteKind.PART for each in found.requisites)
    if found.needs_browser or found.wall or found.parked or has_parts:
        return Seen(found)
    article: Article = _articles().read_parsed(tree, page.text, document.url, looked.metadata)
    return Seen(found, replace(article, metadata=_with_address(article.metadata, document)))


def _with_links(found: Discovery, document: Document, limit: int) -> Discovery:
    """With what its response names first."""
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
        page = decode(document)
        return replace(look_through(page.text, document.url, limit), charset=_charset(page.choice))
    if is_css(kind):
        sheet = decode(document)
        found = find_sheet_requisites(sheet.text, document.url)[:limit]
        return Discovery(found, _charset(sheet.choice))
    if is_xml(kind):
        xml = decode(document)
        needs = find_xml_requisites(xml.text, document.url, limit)
        return Discovery(needs, _charset(xml.choice))
    return Discovery(charset=_charset(choose(document))) if is_text(kind) else Discovery()


def _charset(choice: Choice) -> Charset:
    return Charset(choice.encoding, choice.declared)


def _articles() -> ModuleType:
    """Loaded by who reads: where articles are left for later no child does."""
    return import_module("archiver.derive.articles")


def _drawing() -> ModuleType:
    """Loaded by who draws: few children do, and it is a fifth of what they load."""
    return import_module("archiver.derive.drawing")
