"""Lines of code are lines, with their indentation, however a page marks them."""

import re
from html import unescape

import pytest

from archiver.pages.article.extraction import extract_article

TEXT = "<p>" + "The mill grinds corn as long as the brook has water. " * 9 + "</p>"
LINES = ["def fly(wind):", "    if wind:", '        return "up"']


@pytest.mark.parametrize(
    ("around", "before", "after"),
    [
        ("<pre><code>{}</code></pre>", "<span style='display:block'>", "</span>"),
        ("<pre>{}</pre>", "<span style='display:flex'><i>{}</i><span>", "</span></span>"),
        ("<pre>{}</pre>", "<code>", "</code>"),
        ("<pre><code>{}</code></pre>", "<span class=line>", "</span>"),
        ("<pre><code>{}</code></pre>", "<span class=l>", "</span>"),
        ("<pre><code>{}</code></pre>", "<span data-line=''>", "</span>"),
        ("<pre><table>{}</table></pre>", "<tr><td class=n>{}</td><td>", "</td></tr>"),
        ("<pre>{}</pre>", "<span style='display:block'>", "</span>\n"),
        (
            "<table class=highlight>{}</table>",
            "<tr><td class=blob-num data-line-number={}></td><td class=blob-code>",
            "</td></tr>",
        ),
        ("<div style='white-space:pre'>{}</div>", "", "\n"),
        ("<div style='white-space-collapse: preserve'>{}</div>", "", "\n"),
        ("<style>.src{{white-space: pre}}</style><div class=src>{}</div>", "", "\n"),
        ("<style>@media all{{/*}}*/p, .s>p{{white-space:pre}}</style><p>{}</p>", "", "\n"),
        ("<style>pre code{{display: grid}}</style><pre><code>{}</code></pre>", "<span>", "</span>"),
        ("<p><code class=block>{}</code></p>", "", "\n"),
        ("<code>{}</code>", "", "<br>"),
        ("<div><code>{}</code></div>", "<div>", "</div>"),
        ("<div class=highlight><ol>{}</ol></div>", "<li><code>", "</code></li>"),
        ("<table class=code>{}</table>", "<tr><td><code>", "</code></td></tr>"),
        ("<pre>{}</pre>", "<div class=line><b>", "</b></div>"),
        ("<pre>{}</pre>", "<span class=linenr>{}: </span>", "\n"),
        ("<div class=cm-content>{}</div>", "<div class=cm-line>", "</div>"),
        ("<div class=CodeMirror-code>{}</div>", "<div><p>{}</p><pre>", "</pre></div>"),
        ("<xmp>{}</xmp>", "", "\n"),
        ("<listing>{}</listing>", "", "\n"),
    ],
)
def test_each_line_of_code_is_a_line(around, before, after):
    is_collapsed = "<br>" in after or "td><code" in before or "<li>" in before
    lines = [each.replace(" ", "&nbsp;") if is_collapsed else each for each in LINES]
    code = around.format(
        "".join(f"{before.format(n)}{line}{after}" for n, line in enumerate(lines, 1))
    )
    article = extract_article(f"<article><h1>Kites</h1>{TEXT}{code}{TEXT}</article>", "http://a/")
    match = re.search("<pre>(.*?)</pre>", article.html, re.DOTALL)
    assert match
    assert unescape(re.sub("<.*?>", "", match[1])).rstrip("\n").split("\n") == LINES


def test_tokens_of_one_line_stay_in_it():
    for tokens in (
        "<span class=k>def</span> <span class=n>fly</span>",
        "<span class=n>def </span><span class=n>fly</span>",
        "<span class=n>def</span> <span class=n>fl</span><span class=n>y</span>",
        "<span class=k>def </span><span class=n>fl</span><span class=n>y</span>",
    ):
        page = f"<article>{TEXT}<pre>{tokens}</pre>{TEXT}"
        assert "<pre>def fly</pre>" in extract_article(page, "http://a/").html


def test_preserved_line_breaks_of_prose_are_line_breaks():
    verse = "<div style='white-space: pre-line'>One line\nand <b>another\nand</b> a third</div>"
    article = extract_article(f"<article>{TEXT}{verse}{TEXT}</article>", "http://a/")
    assert "One line<br>and <b>another<br>and</b> a third" in article.html
    indented = "<p style='white-space: pre-wrap'>One line\n  and another</p>"
    article = extract_article(f"<article>{TEXT}{indented}{TEXT}</article>", "http://a/")
    assert "One line<br>&nbsp;&nbsp;and another" in article.html
