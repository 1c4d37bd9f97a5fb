"""PDF text: paragraphs, metadata, and no harm from hostile files."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.pages import pdf
from archiver.pages.article_text import to_text
from archiver.pages.pdf import pdf_article
from archiver.pages.sanitizer import sanitise
from tests.pdfs import pdf_of


def test_text_is_extracted_in_paragraphs_without_hyphenation():
    long = "A line that goes on to the right edge of the page, as lines of text do, and"
    article = pdf_article(
        pdf_of([[long, "ends here <now> & then.", long, "is hyphen-", "ated."], ["Page two."]]),
        "f.pdf",
    )

    assert article.text == (f"{long} ends here <now> & then.\n{long} is hyphenated.\nPage two.")
    assert article.html.startswith("<p>A line")
    assert to_text(article.html) == article.text
    assert sanitise(article.html) == article.html


def test_non_empty_metadata_is_kept():
    fields = {"Title": "On (kites)", "Author": "Ada Byron", "CreationDate": "D:20240305103000Z"}
    article = pdf_article(pdf_of([["x"]], fields), "f.pdf")
    untitled = pdf_article(pdf_of([["x"]], {"Title": "-"}), "f.pdf")

    assert (article.metadata.title, article.metadata.byline) == ("On (kites)", "Ada Byron")
    assert article.metadata.published == "2024-03-05"
    assert (untitled.metadata.title, untitled.metadata.byline) == ("f.pdf", "")


@pytest.mark.parametrize("payload", [b"", b"%PDF-1.4", b"%PDF-1.7\n" + b"\0\xff" * 999])
def test_other_files_have_no_text(payload):
    article = pdf_article(payload, "f.pdf")

    assert (article.html, article.text, article.metadata.title) == ("", "", "f.pdf")


@settings(max_examples=40)
@given(st.integers(0, 600), st.binary(min_size=1, max_size=8))
def test_a_damaged_file_is_read_up_to_the_damage(at, junk):
    payload = bytearray(pdf_of([["One two."], ["Three."]]))
    payload[at : at + len(junk)] = junk

    article = pdf_article(bytes(payload), "f.pdf")

    assert sanitise(article.html) == article.html


def test_pages_and_characters_are_limited(monkeypatch):
    monkeypatch.setattr(pdf, "MAX_PAGES", 2)
    monkeypatch.setattr(pdf, "MAX_CHARACTERS", 12)

    article = pdf_article(pdf_of([["First page."], ["Second page."], ["Third page."]]), "f.pdf")

    assert article.text == "First page.\nS"
