"""Code is highlighted by its declared language, within limits, without changing its text."""

import re

import pytest
from pygments.lexers import find_lexer_class_by_name

from archiver.pages import syntax_highlighting
from archiver.pages.article_text import to_text
from archiver.pages.sanitizer import sanitise
from archiver.pages.syntax_highlighting import coloured, plain


def code(text, language):
    return sanitise(f'<pre><code class="language-{language}">{text}</code></pre>')


@pytest.mark.parametrize("language", ["python", "c++", "html", "js", "diff"])
@pytest.mark.parametrize("text", ["x", "if x:\n\treturn 'a\xa0b' &lt;i&gt;", 'a\n\n\n"b"\n', '"""'])
def test_highlighting_adds_only_allowed_spans(text, language):
    html = code(text, language)

    result = coloured(html)

    assert language != "python" or "<span class=" in result
    assert plain(result) == html
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


def test_classes_of_a_page_are_removed():
    html = '<span class="k">a</span><span class="alert">b</span><p class="k">c</p>'

    assert re.findall("class=.[a-z]+", sanitise(html)) == ['class="k']


def test_code_that_takes_too_long_stays_plain(monkeypatch):
    monkeypatch.setattr(syntax_highlighting, "SECONDS", 0.0001)
    html = code("x = [1, 2, 3]\n" * 1000, "python")

    assert coloured(html) == html


LENGTHY = "&lt;?php $x = [1, 2];\n" * 900
"""Takes every lexer far longer than the system needs to signal the CPU limit."""

LARGE = ["raku", "lasso", "php", "mathematica", "scss", "vim", "erlang", "stata"]


def test_a_timeout_while_a_lexer_is_created_leaves_code_plain(monkeypatch):
    monkeypatch.setattr(syntax_highlighting, "SECONDS", 0.0001)
    for language in LARGE:
        find_lexer_class_by_name(language)  # imports its module without creating a lexer
    never_made = [code(LENGTHY, language) for language in LARGE]

    assert [coloured(each) for each in never_made] == never_made
