"""Taglines of the site between title and first sentence are removed."""

import pytest

from archiver.pages.article.extraction import extract_article

SENTENCE = "The mill stood by the river and ground what the valley grew each year. "


def text_of(line: str) -> str:
    title = "<title>Mills - Example Wiki, the free encyclopedia</title>"
    body = f"<h1>Mills</h1>{line}<p>{SENTENCE * 9}</p><p>{SENTENCE * 9}</p>"
    page = f"{title}<body><div id=content>{body}</div>"
    return extract_article(page, "https://example.com/wiki/Mills").text


@pytest.mark.parametrize(
    "line",
    [
        "<div>From Example Wiki, the free encyclopedia</div>",
        "<h3 id=siteSub>A page of many</h3>",
        "<p class=tagline>Read with us</p>",
        "<p class='tools noprint'>Text · Diff · Mail</p>",
    ],
)
def test_a_tagline_of_the_site_is_removed(line):
    assert text_of(line) == text_of("")


@pytest.mark.parametrize(
    "line",
    [
        "<h2>About Example Wiki, the free encyclopedia</h2>",
        "<p>What we know of Example Wiki, the free encyclopedia</p>",
        "<p>Of wind and water</p>",
    ],
)
def test_a_subtitle_of_the_article_stays(line):
    assert text_of(line) != text_of("")


def test_a_line_after_the_first_sentence_stays():
    found = text_of(f"<p>{SENTENCE * 2}</p><p>From Example Wiki, the free encyclopedia</p>")

    assert "From Example Wiki" in found
