"""Lists of links above the title are removed; other content there stays."""

import pytest

from archiver.pages.article.extraction import extract_article

URL = "https://example.com/mills.html"
TITLE = "Mills of the valley"
SENTENCE = "The mill stood by the river and ground what the valley grew each year. "
OTHERS = "".join(f"<li><a href='/{n}'>Another page, of number {n}</a></li>" for n in range(4))
NAMES = ", ".join(f"<a href='/{each}'>{each}</a>" for each in ("Ada", "Grace", "Mary"))


def article_of(above: str, heading: str = TITLE) -> str:
    text = f"<h2>{heading}</h2><p>{SENTENCE * 9}</p><p>{SENTENCE * 9}</p>"
    page = f"<title>{TITLE}</title><body><div id=main>{above}<div>{text}</div></div>"
    return extract_article(page, URL).html


def test_a_list_of_links_above_the_title_is_removed():
    article = article_of(f"<div><h2>Tools</h2><ul>{OTHERS}</ul></div>")

    assert "Another page" not in article
    assert "Tools" not in article
    assert SENTENCE.strip() in article


@pytest.mark.parametrize(
    ("above", "text"),
    [
        ("<p><b>Read first:</b> nothing that was ground here was sold.</p>", "Read first"),
        ("<div><img src=mill.jpg width=900 height=600></div>", "mill.jpg"),
        (f"<p>Told by those who kept it for all those years: {NAMES}.</p>", "Told by"),
    ],
)
def test_content_above_the_title_stays(above, text):
    assert text in article_of(above)


def test_a_list_above_one_of_several_sections_stays():
    article = article_of(f"<div><h2>Tools</h2><ul>{OTHERS}</ul></div>", heading="Mills")

    assert "Another page" in article
