"""The text of an article and where it stands: marks change nothing but what they mark."""

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.html.flow import Flow, Span
from archiver.html.sanitise import sanitise
from archiver.html.text import to_text

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


def without_marks(html):
    return re.sub(r"</?mark[^>]*>", "", html)


@settings(max_examples=50)
@given(articles, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=4))
def test_marks_stand_around_what_they_mark_and_nothing_else_changes(html, wanted):
    flow = Flow(html)
    spans = [Span(start, start + size) for start, size in wanted]

    marked = flow.marked(spans)

    assert unescape(without_marks(marked)) == unescape(html)
    assert Flow(marked).text == flow.text
    assert sanitise(without_marks(marked)) == html


@settings(max_examples=50)
@given(articles)
def test_a_place_in_the_lines_is_a_place_in_the_text(html):
    flow = Flow(html)
    spaced = flow.spaced()

    assert " ".join(spaced.split()) == " ".join(to_text(html).split())
    for start in range(len(spaced)):
        if spaced[start] != "\n":
            ((first, last),) = flow.places([(start, start + 1)])
            assert flow.text[first:last] == spaced[start]


def test_a_mark_goes_through_elements_and_over_paragraphs_and_is_begun_once():
    flow = Flow("<p>The <em>red</em> kite</p>\n<p>flies &amp; sings</p>")
    start = flow.text.index("red")
    span = Span(start, flow.text.index(" sings"), '<mark class="x">', '<mark id="found">')

    assert flow.marked([span]) == (
        '<p>The <em><mark id="found">red</mark></em><mark class="x"> kite</mark></p>\n'
        '<p><mark class="x">flies &amp;</mark> sings</p>'
    )


def test_marks_that_overlap_are_nested():
    assert Flow("<p>abcd</p>").marked([Span(0, 3), Span(1, 4, "<mark class='b'>")]) == (
        "<p><mark>a</mark><mark><mark class='b'>bc</mark></mark><mark class='b'>d</mark></p>"
    )


def test_formulas_are_counted_and_never_marked():
    flow = Flow("<p>if <math><mi>x</mi></math> then</p>")

    assert flow.text == "if x then"
    assert flow.marked([Span(0, 9)]) == (
        "<p><mark>if </mark><math><mi>x</mi></math><mark> then</mark></p>"
    )
