"""Code is highlighted by its declared language, within limits, without changing its text."""

import re

import pytest

from archiver.pages import syntax_highlighting
from archiver.pages.article_text import to_text
from archiver.pages.sanitizer import sanitise
from archiver.pages.syntax_highlighting import coloured, without_highlighting


def code(text, language):
    return sanitise(f'<pre><code class="language-{language}">{text}</code></pre>')


@pytest.mark.parametrize("language", ["python", "c++", "html", "js", "diff"])
@pytest.mark.parametrize("text", ["x", "if x:\n\treturn 'a\xa0b' &lt;i&gt;", 'a\n\n\n"b"\n', '"""'])
def test_highlighting_adds_only_allowed_spans(text, language):
    html = code(text, language)

    result = coloured(html)

    assert language != "python" or "<span class=" in result
    assert without_highlighting(result) == html
    assert sanitise(result) == result
    assert to_text(result) == to_text(html)


@pytest.mark.parametrize(
    "html",
    [
        code("x = 1", "made-up"),
        "<pre>x = 1</pre>",
        code("x = 1\n" * syntax_highlighting.MAX_CODE, "python"),
        '<pre><code class="language-python">a <em>b</em></code></pre>',
    ],
)
def test_unknown_languages_and_too_long_code_stay_plain(html):
    assert coloured(html) == html


def test_code_that_takes_long_to_highlight_stays_plain():
    html = code("a " * 9000, "java")
    assert coloured(html) == html


def test_classes_of_a_page_are_removed():
    html = '<span class="k">a</span><span class="alert">b</span><p class="k">c</p>'

    assert re.findall("class=.[a-z]+", sanitise(html)) == ['class="k']
