"""Articles are extracted cleanly from any page, without active content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import InvalidRecord
from archiver.model.page import Article, PageMetadata
from archiver.pages.article.extraction import extract_article, image_article
from archiver.pages.article_text import (
    read_article_document,
    text_article,
    to_text,
    write_article_document,
)
from archiver.pages.sanitizer import sanitise

URL = "https://example.com/deep/page.html"
WORDS = "The mill stood by the river, and ground what the valley grew, for two hundred years. " * 4
PAGE = f"""<html lang="en-GB"><head><title>The mill | Example</title>
<meta name="author" content="Ann Author"><meta property="og:site_name" content="Example">
</head><body><nav>Menu Menu Menu</nav><article><h1>The mill</h1><p>{WORDS}</p>
<figure><img data-src="../mill.jpg" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="></figure>
<p>{WORDS}<a href="/more" onclick="x()">more</a></p><script>bad()</script></article></body>"""


def test_an_article_is_extracted_with_its_metadata():
    article = extract_article(PAGE, URL)

    assert article.text.count("The mill stood") == 8
    assert "Menu" not in article.text
    assert 'href="https://example.com/more"' in article.html
    assert 'src="https://example.com/mill.jpg"' in article.html
    metadata = article.metadata
    assert (metadata.title, metadata.byline, metadata.site) == ("The mill", "Ann Author", "Example")
    assert metadata.language == "en-GB"


def test_lone_surrogates_in_metadata_are_replaced():
    json_ld = '{"@type": "Article", "headline": "The \\ud800 mill", "author": {"name": "\\udfff"}}'
    page = f'<script type="application/ld+json">{json_ld}</script><p>The mill grinds.'

    assert extract_article(page, URL).metadata.title == "The \ufffd mill"
    assert extract_article(page, URL).metadata.byline == "\ufffd"


def test_a_form_feed_is_white_space():
    article = extract_article(f"<article>RFC 1\f2 &#12;{WORDS}<p>{WORDS}</p></article>", URL)

    assert article.text.startswith("RFC 1 2 The mill")


def test_a_page_without_an_article_is_extracted_as_text():
    assert extract_article("<main>Log in here</main><footer>f</footer>", URL).text == "Log in here"
    assert extract_article("", URL).text == ""


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000 + "deep",
        "<" * 100_000,
        "<a href='" * 50_000,
        "\0\ud7ff<p>x",
        "<p>" * 2_000,
    ],
    ids=["deep", "signs", "quotes", "nulls", "open"],
)
def test_hostile_pages_raise_no_exception(page):
    assert isinstance(extract_article(page, URL), Article)


@pytest.mark.parametrize(
    "harm",
    [
        "<script>x</script>",
        "<img src=x onerror=x>",
        "<a href='javascript:x'>a</a>",
        "<a href='data:text/html,x'>a</a>",
        "<svg onload=x><script>x</script></svg>",
        "<iframe src=x></iframe>",
        "<style>x</style>",
        "<form action=x><button formaction=x>",
        "<meta http-equiv=refresh content=x>",
        "<object data=x><embed src=x>",
    ],
)
def test_active_content_is_removed(harm):
    clean = sanitise(f"<p>before</p>{harm}<p>after</p>").lower()

    assert "before" in clean
    for sign in ("<script", "onerror", "onload", "javascript:", "data:", "<iframe", "<style"):
        assert sign not in clean
    for sign in ("<form", "<button", "<meta", "<object", "<embed"):
        assert sign not in clean


@given(st.text(max_size=200), st.text(max_size=80))
def test_an_article_document_can_be_read_back(text, title):
    article = text_article(text, title)

    assert read_article_document(write_article_document(article)) == (
        title.encode("utf-8", "replace").decode(),
        article.html.encode("utf-8", "replace").decode(),
    )


def test_other_documents_are_rejected():
    with pytest.raises(InvalidRecord):
        read_article_document(b"<html></html>")


def test_text_has_a_line_for_each_block():
    html = '<h1 title="a>b">One</h1><p>two <b>three</b>&amp;</p><ul><li>four</li><li>five</li></ul>'

    assert to_text(html) == "One\ntwo three&\nfour\nfive"


def test_an_image_becomes_an_article():
    article = image_article("https://example.com/a.png?x=1&y=2", "a.png")

    assert 'src="https://example.com/a.png?x=1&amp;y=2"' in article.html
    assert article.metadata == PageMetadata(title="a.png")


def test_a_page_without_title_is_named_by_its_first_words():
    long = "Herons stand in the shallow water and wait for as long as it takes. "
    text = f"<article><h1>Herons</h1><p>By A.</p><p>{long * 3}</p><p>{long * 9}</p></article>"

    excerpt = extract_article(f"<title>Herons</title>{text}", "http://a.example/").metadata.excerpt

    assert excerpt.startswith("Herons stand in")
    assert excerpt.endswith(" water…")
    assert len(excerpt) <= 241
    described = f"<meta name=description content='Of birds.'>{text}"
    assert extract_article(described, "http://a.example/").metadata.excerpt == "Of birds."


def test_a_dateline_is_the_publication_date_if_there_is_no_other():
    content = (
        "<p>Posted on July 13, 2014</p>" + "<p>The mill stood by the river, for years.</p>" * 20
    )
    metadata = '<meta property="article:published_time" content="2014-07-12">'

    assert extract_article(f"<article>{content}</article>", URL).metadata.published == "2014-07-13"
    assert (
        extract_article(f"{metadata}<article>{content}</article>", URL).metadata.published
        == "2014-07-12"
    )
