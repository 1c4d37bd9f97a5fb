"""Permalinks and edit links of headings, and links above the title, are removed."""

import pytest

from archiver.pages.article.extraction import extract_article

WORDS = "<p>" + "Some words, and more of them, to be read in this article. " * 20
EDIT = '<a href="/w?title=Mill&amp;action=edit&amp;section=1">edit</a>'
SOURCE = '<a href="/w?title=Mill&amp;veaction=edit">edit source</a>'


def read(heading):
    page = f"<article>{heading}{WORDS}<h2 id=other>Other</h2>{WORDS}</article>"
    return extract_article(page, "http://example.com/").html


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=knots>Knots <a href=#knots>&#8203;</a></h2>",
        "<h2 id=knots>Knots<a class=headerlink href=#knots>&#xf0c1;</a></h2>",
        "<h2 id=knots>Knots<a href=#knots>\u00b6</a></h2>",
        "<h2>Knots<a id=knots href=#knots><svg><path d='M0 0'/></svg></a></h2>",
        f"<div id=knots><h2>Knots<a href='http://example.com/#knots'>#</a></h2>{WORDS}</div>",
    ],
)
def test_a_permalink_is_removed_and_the_heading_keeps_its_id(heading):
    article = read(heading)

    assert '<h2 id="a-knots">Knots' in article
    assert "</svg>" not in article
    assert "href" not in article


@pytest.mark.parametrize(
    "heading",
    [
        "<h2 id=knots>Knots<sup><a href=#note>\u2020</a></sup></h2>",
        "<h2 id=knots>Knots <a href=#knots>2</a></h2>",
        "<h2 id=knots><a href=#knots>\u00b6</a></h2>",
        "<h2 id=knots><a class=permalink href=/knots>Knots</a></h2>",
        '<h2>Knots of <a href="/rye">rye</a></h2>',
        '<h2>Knots</h2><a href="/all">All of it</a>',
    ],
)
def test_links_to_notes_and_links_with_words_stay(heading):
    assert "<a" in read(heading + "<p id=note>A note.")


@pytest.mark.parametrize(
    "written",
    [
        f"<h2 id=h>History<span>[{EDIT}]</span></h2>",
        f"<h2 id=h>History<span>[{EDIT} | {SOURCE}]</span></h2>",
        f"<h2 id=h>History {EDIT}</h2>",
        f"<div class=head><h2 id=h>History</h2><span>[{EDIT}]</span></div>",
    ],
)
def test_edit_links_are_removed_with_their_brackets(written):
    article = read(written)

    assert '<h2 id="a-h">History' in article
    assert "edit" not in article
    assert "[" not in article
