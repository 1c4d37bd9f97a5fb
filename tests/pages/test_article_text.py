from archiver.pages.article_text import MOST_BEGINNING, beginning, to_reading, to_text
from archiver.pages.sanitizer import sanitise

CODE = (
    '<p>a  b</p><pre><code class="language-x">if x:\n    <span class="k">y</span> &lt; z\n\n  w'
    "</code></pre>"
)
FORMULA = (
    '<p>so <math{}><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2 &lt; y'
    "</annotation></semantics></math> it is, and <math><mi>z</mi></math></p>"
)


def test_code_is_read_with_its_indentation_and_empty_lines():
    assert to_reading(sanitise(CODE)) == "a b\nif x:\n    y < z\n\n  w"


def test_a_formula_is_read_once_as_it_was_written():
    assert to_reading(sanitise(FORMULA.format(""))) == "so $x^2 < y$ it is, and z"
    assert "$$x^2 < y$$" in to_reading(sanitise(FORMULA.format(' display="block"')))


def test_text_without_either_is_the_text():
    html = sanitise("<h2>One</h2><p>two<br>three &amp; four</p><ul><li>five</li></ul>")

    assert to_reading(html) == to_text(html)


def test_where_a_line_of_the_source_ends_no_line_that_is_read_does():
    html = sanitise("<p>One paragraph,\nin two lines<br>and a third.</p><pre>a\n  b</pre>")

    assert to_reading(html) == "One paragraph, in two lines\nand a third.\na\n  b"


def test_a_beginning_is_cut_between_words():
    begun = beginning("so many words " * 50)

    assert begun.endswith(("so…", "many…", "words…"))
    assert MOST_BEGINNING - 10 < len(begun) <= MOST_BEGINNING


def test_the_beginning_of_writing_without_spaces_is_cut_between_its_characters():
    prose = "天地玄黃宇宙洪荒日月盈昃辰宿列張" * 45
    quoted = f"Chinese: {prose}"

    assert beginning(prose) == prose[:MOST_BEGINNING] + "…"
    assert beginning(quoted) == quoted[:MOST_BEGINNING] + "…"
