"""Permalinks of headings are not part of their text."""

import pytest

from archiver.pages.article.extraction import extract_article
from archiver.pages.shown_article import ArticleTree

WORDS = "<p>" + "Some words, and more of them, to be read in this article. " * 20


def read(heading):
    page = f"<article>{heading}{WORDS}<h2 id=other>Other</h2>{WORDS}</article>"
    return extract_article(page, "http://example.com/").html


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=knots>Knots <a href=#knots>&#8203;</a></h2>",
        "<h2 id=knots>Knots<a class=headerlink href=#knots>&#xf0c1;</a></h2>",
        "<h2>Knots<a id=knots href=#knots><svg><path d='M0 0'/></svg></a></h2>",
        f"<div id=knots><h2>Knots<a href='http://example.com/#knots'></a></h2>{WORDS}</div>",
    ],
)
def test_an_invisible_permalink_is_removed_and_the_heading_keeps_its_id(heading):
    found = read(heading)

    assert '<h2 id="a-knots">Knots' in found
    assert "</svg>" not in found
    assert "href" not in found


@pytest.mark.parametrize("sign", ["¶", "#", "§"])
def test_a_visible_permalink_is_marked_and_not_in_the_table_of_contents(sign):
    found = read(f"<h2 id=knots>Knots<a href=#knots>{sign}</a></h2><h2 id=c>C</h2>")

    assert f'class="permalink" rel="noopener noreferrer">{sign}</a></h2>' in found
    assert [each.words for each in ArticleTree(found).add_heading_ids()] == ["Knots", "C", "Other"]


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=knots>Knots<sup><a href=#note>†</a></sup></h2>",
        "<h2 id=knots>Knots <a href=#knots>2</a></h2>",
        "<h2 id=knots><a href=#knots>¶</a></h2>",
        "<h2 id=knots><a class=permalink href=/knots>Knots</a></h2>",
    ],
)
def test_notes_and_links_with_text_stay_unchanged(heading):
    found = read(heading + "<p id=note>A note.")

    assert "permalink" not in found
    assert "<a" in found
