"""Markdown keeps the article's content, and none of it gains another meaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from archiver.formats.markdown import to_markdown
from archiver.pages.sanitizer import sanitise


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
        ("<dl><dt><b>a</b> c</dt><dd>b</dd></dl>", "**a c**\n\nb\n"),
        ("<p><ruby>漢<rt>kan</rt></ruby></p>", "<ruby>漢<rt>kan</rt></ruby>\n"),
        ("<h2>a<br>b</h2>", "## a b\n"),
    ],
)
def test_each_element_has_its_markdown_form(html, expected):
    assert to_markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>「a」</b>で", "<strong>「a」</strong>で"),
        ("<b>a:</b> b", "**a:** b"),
        ("<em>a</em>b", "*a*b"),
        ("c<em>(a)</em> b", "c<em>(a)</em> b"),
        ("<b>a:</b>b", "<strong>a:</strong>b"),
        ("<em>a <i>b</i> c</em>", "*a b c*"),
    ],
)
def test_emphasis_works_between_letters_and_punctuation(html, expected):
    markdown = to_markdown(f"<p>{html}</p>")

    assert markdown == f"{expected}\n"
    shown = MarkdownIt().render(markdown)
    assert ("<em>" in shown, "<strong>" in shown) == ("<em>" in html, "<b>" in html)


def test_cell_content_cannot_end_a_cell():
    html = (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1<br>2</td><td><p>x</p><p>y</p></td></tr>"
        "<tr><td><code>c|d</code></td><td>e|f</td></tr></table>"
    )

    markdown = to_markdown(html)

    assert "| 1<br>2 | x<br>y |\n| `c\\|d` | e\\|f |" in markdown
    assert MarkdownIt("commonmark").enable("table").render(markdown).count("<td") == 4


def test_notes_become_footnotes_without_back_links():
    html = (
        '<p>One<sup><a href="#a-f1" id="a-r1">1</a></sup>, two<sup>[<a href="#a-f2" id="a-r2">2'
        '</a>]</sup>, one again <a href="#a-f1">1</a>, <a href="#a-s">a section</a>.</p>'
        '<h2 id="a-s">Section <a href="#a-r1">up</a></h2><ol>'
        '<li id="a-f1"><p>First. <a href="#a-r1">↩</a></p><p>More of it.</p></li>'
        '<li id="a-f2">Second. <a href="#a-r2">↩</a></li></ol><p>End.</p>'
    )

    markdown = to_markdown(html, lambda target: "" if target.startswith("#") else target)

    assert markdown == (
        "One[^1], two[^2], one again [^1], a section.\n\n## Section up\n\nEnd.\n\n"
        "[^1]: First.\n\n    More of it.\n\n[^2]: Second.\n"
    )


@pytest.mark.parametrize(
    ("display", "source", "expected"),
    [
        ("inline", "a_1 * b", "so $a_1 * b$ is\n"),
        ("block", "\\frac a b\n\n+ c", "so\n\n$$\n\\frac a b\n+ c\n$$\n\nis\n"),
        ("inline", "a \\text{$b$}", None),
        ("inline", "a % b", None),
    ],
)
def test_formulas_are_latex_if_the_page_has_it(display, source, expected):
    note = f'<annotation encoding="application/x-tex">{source}</annotation>'
    html = f'<p>so <math display="{display}"><semantics><mi>a</mi>{note}</semantics></math> is</p>'

    markdown = to_markdown(html)

    if expected:
        assert markdown == expected
    else:
        assert "<math" in markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---", "\\---"),
        ("1. no list", "1\\. no list"),
        ("- no list", "\\- no list"),
        ("# no heading, #no-tag", "\\# no heading, \\#no-tag"),
        ("[no](link) ![no](picture) [[no note]]", r"\[no\](link) !\[no\](picture) \[\[no note\]\]"),
        ("&lt;b&gt; &amp;lt; $x$ *a* _b_ `c` ~~d~~ %%e%%", None),
    ],
)
def test_markdown_characters_in_text_are_escaped(text, expected):
    markdown = to_markdown(f"<p>{text}</p>")

    if expected:
        assert markdown == f"{expected}\n"
    else:
        assert (
            markdown == "\\<b\\> &amp;lt; \\$x\\$ \\*a\\* \\_b\\_ \\`c\\` \\~\\~d\\~\\~ \\%%e\\%%\n"
        )


def test_deeply_nested_markup_gives_its_text():
    assert to_markdown("<div>" * 3000 + "deep" + "</div>" * 3000) == "deep\n"
    assert "deep" in to_markdown("<em>" * 3000 + "deep" + "</em>" * 3000)


@given(st.text(alphabet='<>/ab \n"=*_[]()`#-1.|&;!\\~$%piulobrectd', max_size=80))
def test_any_sanitised_html_can_be_converted(text):
    markdown = to_markdown(sanitise(text))

    assert markdown == "" or markdown.endswith("\n")
    assert "<script" not in markdown
