"""Text of an article and positions in it: marks change nothing else."""

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.pages.article_text import to_text
from archiver.pages.sanitizer import sanitise
from archiver.pages.shown_article import ArticleTree, Span

pieces = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<em>",
        "</em>",
        "<ul><li>",
        "</ul>",
        "<br>",
        "<table><tr><td>",
        "</table>",
        '<a href="http://a.example/?a&amp;b" title="a > b">',
        "</a>",
        "<math><mi>x</mi></math>",
        "<pre>",
        "</pre>",
        "&amp;lt;",
        "&nbsp;",
        "red kite ",
        "日本 ",
        "\n",
    ]
)
articles = st.lists(pieces, max_size=25).map("".join).map(sanitise)


def marked_by(html, spans):
    tree = ArticleTree(html)
    tree.mark(spans)
    return tree.html()


def without_marks(html):
    return re.sub(r"</?mark[^>]*>", "", html)


@settings(max_examples=50)
@given(articles, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=4))
def test_highlights_surround_their_text_and_change_nothing_else(html, ranges):
    spans = [Span(start, start + size) for start, size in ranges]

    marked = marked_by(html, spans)

    assert unescape(without_marks(marked)) == unescape(html)
    assert ArticleTree(marked).text == ArticleTree(html).text
    assert sanitise(without_marks(marked)) == html


@settings(max_examples=50)
@given(articles)
def test_positions_in_lines_map_to_positions_in_the_text(html):
    flow = ArticleTree(html)
    text_by_block = flow.text_by_block()

    assert " ".join(text_by_block.split()) == " ".join(to_text(html).split())
    for start in range(len(text_by_block)):
        if text_by_block[start] != "\n":
            ((first, last),) = flow.places([(start, start + 1)])
            assert flow.text[first:last] == text_by_block[start]


def test_a_highlight_across_elements_has_one_start():
    html = "<p>The <em>red</em> kite</p>\n<p>flies &amp; sings</p>"
    text = ArticleTree(html).text
    start = text.index("red")
    span = Span(start, text.index(" sings"), {"class": "x"}, {"id": "found"})

    assert marked_by(html, [span]) == (
        '<p>The <em><mark class="x" id="found">red</mark></em><mark class="x"> kite</mark></p>\n'
        '<p><mark class="x">flies &amp;</mark> sings</p>'
    )


def test_overlapping_highlights_are_nested():
    assert marked_by("<p>abcd</p>", [Span(0, 3), Span(1, 4, {"class": "b"})]) == (
        '<p><mark>a</mark><mark><mark class="b">bc</mark></mark><mark class="b">d</mark></p>'
    )


def test_formulas_count_as_text_and_are_never_highlighted():
    html = "<p>if <math><mi>x</mi></math> then</p>"

    assert ArticleTree(html).text == "if x then"
    assert marked_by(html, [Span(0, 9)]) == (
        "<p><mark>if </mark><math><mi>x</mi></math><mark> then</mark></p>"
    )
