from archiver.pages.article_text import (
    MAX_BEGINNING,
    beginning,
    loose_start,
    loose_text,
    to_reading,
    to_text,
)
from archiver.pages.sanitizer import sanitise

CODE = (
    '<p>a  b</p><pre><code class="language-x">if x:\n    <span class="k">y</span> &lt; z\n\n  w'
    "</code></pre>"
)
FORMULA = (
    '<p>so <math{}><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2 &lt; y'
    "</annotation></semantics></math> it is, and <math><mi>z</mi></math></p>"
)


def test_code_keeps_its_indentation_and_empty_lines():
    assert to_reading(sanitise(CODE)) == "a b\nif x:\n    y < z\n\n  w"


def test_a_formula_appears_once_as_written():
    assert to_reading(sanitise(FORMULA.format(""))) == "so $x^2 < y$ it is, and z"
    assert "$$x^2 < y$$" in to_reading(sanitise(FORMULA.format(' display="block"')))


def test_text_without_code_and_formulas_is_unchanged():
    html = sanitise("<h2>One</h2><p>two<br>three &amp; four</p><ul><li>five</li></ul>")

    assert to_reading(html) == to_text(html)


def test_the_text_of_cut_markup_is_the_start_of_the_whole_text():
    html = sanitise('<p>one two <a href="/x" title="a <b> c">three &amp; four</a><br>five six</p>')
    whole = loose_text(html)

    starts = [loose_start(html, most) for most in range(html.index("<a"), len(html))]
    assert all(map(whole.startswith, starts)), starts
    assert "three & four" in starts[-1]


def test_line_ends_of_the_source_are_not_line_ends_of_the_text():
    html = sanitise("<p>One paragraph,\nin two lines<br>and a third.</p><pre>a\n  b</pre>")

    assert to_reading(html) == "One paragraph, in two lines\nand a third.\na\n  b"


def test_an_excerpt_ends_between_words():
    excerpt = beginning("so many words " * 50)

    assert excerpt.endswith(("so…", "many…", "words…"))
    assert MAX_BEGINNING - 10 < len(excerpt) <= MAX_BEGINNING


def test_an_excerpt_of_text_without_spaces_ends_between_characters():
    prose = "天地玄黃宇宙洪荒日月盈昃辰宿列張" * 45
    quoted = f"Chinese: {prose}"

    assert beginning(prose) == prose[:MAX_BEGINNING] + "…"
    assert beginning(quoted) == quoted[:MAX_BEGINNING] + "…"
