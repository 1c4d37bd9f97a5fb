"""Extractors in Python: ours, the library it depends on, and installed ones."""

from contextlib import suppress
from html import escape

from readability import Document

from archiver.pages.article.extraction import extract_article
from benchmarks.extractors.reading import Reader, Reading


def readers() -> dict[str, Reader]:
    """Return ours and the installed ones."""
    by_name: dict[str, Reader] = {"ours": ours, "readability-lxml": readability_lxml}
    with suppress(ImportError):
        import trafilatura  # noqa: PLC0415 - not installed by us

        def by_trafilatura(html: str, url: str) -> Reading:
            options = {"include_images": True, "include_links": True, "include_tables": True}
            out = trafilatura.extract(html, url=url, output_format="html", **options)
            return Reading(out or "", {})

        by_name["trafilatura"] = by_trafilatura
    with suppress(ImportError):
        import rs_trafilatura  # noqa: PLC0415 - not installed by us

        def by_rs_trafilatura(html: str, url: str) -> Reading:
            out = rs_trafilatura.extract(html, url=url, include_images=True, include_links=True)
            facts = {"title": out.title or "", "author": out.author or "", "date": out.date or ""}
            return Reading(out.content_html or paragraphs(out.main_content), facts)

        by_name["rs-trafilatura"] = by_rs_trafilatura
    with suppress(ImportError):
        from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 - likewise

        by_name["resiliparse"] = lambda html, _: Reading(
            paragraphs(extract_plain_text(html, main_content=True)), {}
        )
    return by_name


def paragraphs(text: str) -> str:
    """Return text as HTML, one paragraph per line."""
    return "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))


def ours(html: str, url: str) -> Reading:
    """Extract with this program."""
    article = extract_article(html, url)
    metadata = article.metadata
    return Reading(
        article.html,
        {"title": metadata.title, "author": metadata.byline, "date": metadata.published},
    )


def readability_lxml(html: str, _: str) -> Reading:
    """Extract with the library alone."""
    document = Document(html)
    return Reading(document.summary(html_partial=True), {"title": document.short_title()})
