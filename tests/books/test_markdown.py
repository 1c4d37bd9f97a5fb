"""An article as Markdown says what it said, and nothing of it means anything else there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.books.markdown import to_markdown
from archiver.html.sanitise import sanitise


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("<p>one\n two</p>three", "one two\n\nthree\n"),
        ("<p>a <em>big </em>word, <b>bold</b> <b> </b></p>", "a *big* word, **bold**\n"),
        ("<h2>A <code>x`y</code></h2>", "## A ``x`y``\n"),
        ("<p>a<br>b<br></p>", "a\\\nb\n"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n\n  - b\n- c\n"),
        ('<ol start="9"><li>a</li><li><p>b</p><p>c</p></li></ol>', "9. a\n10. b\n\n    c\n"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b\n"),
        ('<pre><code class="language-py">a\n\n```</code></pre>', "````py\na\n\n```\n````\n"),
        (
            "<table><tr><th>A</th></tr><tr><td>1|2</td><td>3</td></tr></table>",
            "| A |  |\n| --- | --- |\n| 1\\|2 | 3 |\n",
        ),
        ('<a href="https://a.example/b c(d)">x</a>', "[x](https://a.example/bc%28d%29)\n"),
        ('<figure><img src="p.png" alt="[a]"></figure>', "![\\[a\\]](p.png)\n"),
        ("<p>H<sub>2</sub>O</p>", "H<sub>2</sub>O\n"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "**a**\n\nb\n"),
    ],
)
def test_each_element_has_its_sign(html, expected):
    assert to_markdown(html) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. no list", "1\\. no list"),
        ("- no list", "\\- no list"),
        ("# no heading, #no-tag", "\\# no heading, \\#no-tag"),
        ("[no](link) ![no](picture) [[no note]]", r"\[no\](link) !\[no\](picture) \[\[no note\]\]"),
        ("&lt;b&gt; &amp;lt; $x$ *a* _b_ `c` ~~d~~ %%e%%", None),
    ],
)
def test_words_are_no_signs(text, expected):
    made = to_markdown(f"<p>{text}</p>")

    if expected:
        assert made == f"{expected}\n"
    else:
        assert made == "\\<b\\> &amp;lt; \\$x\\$ \\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~ \\%%e\\%%\n"


def test_a_table_that_markdown_has_no_room_for_stays_html_without_an_empty_line():
    html = '<table><tr><td colspan="2"><p>a</p>\n\n<p>b</p></td></tr></table>'

    made = to_markdown(html)

    assert made.startswith("<table>")
    assert "\n\n" not in made


def test_what_is_nested_without_end_gives_its_text():
    assert to_markdown("<div>" * 3000 + "deep" + "</div>" * 3000) == "deep\n"
    assert "deep" in to_markdown("<em>" * 3000 + "deep" + "</em>" * 3000)


@given(st.text(alphabet='<>/ab \n"=*_[]()`#-1.|&;!\\~$%piulobrectd', max_size=80))
def test_anything_that_was_sanitised_is_written(text):
    made = to_markdown(sanitise(text))

    assert made == "" or made.endswith("\n")
    assert "<script" not in made
