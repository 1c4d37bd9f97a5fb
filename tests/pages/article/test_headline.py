"""Title, subtitle and lead picture are in the article's head, apart from the text."""

import pytest

from archiver.pages.article.extraction import extract_article, extract_rendered
from archiver.pages.article_text import (
    read_article_document,
    to_text,
    whole,
    write_article_document,
)
from archiver.pages.sanitizer import sanitise

URL = "https://example.com/"
SENTENCE = "The mill stood by the river and ground what the valley grew each year. "
PROSE = f"<p>{SENTENCE * 5}</p>"
TITLE = "The mill of twelve villages"
PICTURE = "<figure><img src=hero.jpg width=900><figcaption>The wheel</figcaption></figure>"
OUTSIDE = f"<header class=top><h1>{TITLE}</h1>{PICTURE}</header><div class=story>{PROSE * 4}</div>"


def read(body, title=TITLE):
    return extract_article(f"<title>{title}</title><body>{body}", URL)


def test_a_lead_picture_is_in_the_head_with_its_caption():
    article = read(OUTSIDE)

    assert "hero.jpg" in article.head
    assert "The wheel</figcaption>" in article.head
    assert "hero.jpg" not in article.html
    assert "The wheel" not in article.html


def test_a_picture_in_the_article_keeps_its_position():
    article = read(f"<article><h1>{TITLE}</h1>{PROSE}{PICTURE}{PROSE * 3}</article>")

    assert "hero.jpg" in article.html
    assert "hero.jpg" not in article.head


@pytest.mark.parametrize(
    "above",
    [
        f"<h1>{TITLE}</h1>",
        f"<div><section><h3>{TITLE}</h3><p>{SENTENCE}</p></section></div>",
        "<h1>The mill of the twelve villages!</h1>".replace("the twelve", "twelve"),
        f"<p>3 May 1924</p><h2>{TITLE}</h2>",
        f"<h4>Rivers</h4><h1>{TITLE}</h1>",
        f"{PICTURE}<h1>{TITLE}</h1>",
        "<h1>The mill</h1>",
    ],
)
def test_a_heading_equal_to_the_title_is_in_the_head(above):
    article = read(f"<article>{above}{PROSE * 4}</article>")

    assert "mill" in article.head
    assert article.head.startswith("<h")
    assert ">The mill" not in article.html.replace(f">{SENTENCE[:8]} stood", "")


@pytest.mark.parametrize(
    "above",
    [
        "<h1>Rivers</h1>",
        f"{PROSE}<h2>{TITLE}</h2>",
        f"{PICTURE}<h3>{TITLE}</h3>",
        f"<p>3 May 1924</p><h2>{TITLE[:8]}</h2>",
        f"<blockquote><h2>{TITLE}</h2><p>{SENTENCE}</p></blockquote>",
        f"<ul><li><h2>{TITLE}</h2>{SENTENCE}</li></ul>",
        f"<h2>{TITLE}, where we were for a year and a day in all weathers</h2>",
    ],
)
def test_any_other_heading_stays_in_the_text(above):
    article = read(f"<article>{above}{PROSE * 4}</article>")

    assert article.head == ""
    assert "</h2>" in article.html


def test_a_page_with_only_a_title_keeps_it_as_text():
    article = read(f"<article><h1>{TITLE}</h1></article>")

    assert article.head == ""
    assert TITLE in article.html


def test_headings_in_the_text_start_at_level_two():
    sections = f"<h2>Wheels</h2>{PROSE}<h3>Paddles</h3>{PROSE}"

    article = read(f"<article><h1>{TITLE}</h1>{sections}{PROSE}</article>")

    assert "Wheels</h2>" in article.html
    assert "Paddles</h3>" in article.html


def test_a_subtitle_keeps_its_position_before_or_after_the_picture():
    subtitle = "<p class=subtitle>How twelve villages shared one wheel</p>"
    story = f"<div class=story>{PROSE * 4}</div>"

    before = read(f"<header><h1>{TITLE}</h1>{subtitle}{PICTURE}</header>{story}")
    behind = read(f"<header><h1>{TITLE}</h1>{PICTURE}{subtitle}</header>{story}")

    assert before.head.index("shared one wheel") < before.head.index("hero.jpg")
    assert "shared one wheel" in behind.html


def test_an_abstract_and_later_content_are_text():
    abstract = f"<div class=abstract><p>{SENTENCE * 12}</p></div>"
    other = SENTENCE.replace("mill", "weir")
    story = f"<div class=story>{PROSE.replace('mill', 'forge') * 4}<p>{other * 5}</p></div>"

    article = read(f"<header><h1>{TITLE}</h1>{abstract}{PICTURE}</header>{story}")

    assert "hero.jpg" not in article.head
    assert article.html.index("The mill stood") < article.html.index("hero.jpg")


def test_a_subtitle_heading_has_no_heading_level():
    header = f"<h1>{TITLE}</h1><div class=description><h2>How villages shared a wheel</h2></div>"

    article = read(f"<header>{header}</header><div class=story>{PROSE * 4}</div>")

    assert "How villages shared a wheel</p>" in article.html


@pytest.mark.parametrize("around", ["", " dir=rtl"])
def test_an_article_document_has_the_head_in_a_header(around):
    article = extract_article(f"<title>{TITLE}</title><body{around}>{OUTSIDE}", URL)

    reread = read_article_document(write_article_document(article))[1]

    assert reread == whole(article) == sanitise(reread)
    assert to_text(reread) == article.text
    header = reread[reread.index("<header>") : reread.index("</header>")]
    assert "hero.jpg" in header
    assert SENTENCE not in header
    assert reread.count("<header>") == 1
    assert reread.startswith("<div " if around else "<header>")


def test_an_article_without_a_head_is_read_back_unchanged():
    old = "<header><h2>The mill</h2></header><p>Words.</p>"
    document = f"<!DOCTYPE html>\n<title>x</title>\n<body>\n{old}\n</body>\n</html>\n"

    assert read_article_document(document.encode()) == ("x", old)


def test_a_complete_page_has_its_title_once():
    page = f"<title>{TITLE}</title><body><nav><a href=/a>{SENTENCE * 300}</a></nav>{OUTSIDE}"

    article = extract_rendered(page, URL)

    assert whole(article).count(TITLE) == 1


@pytest.mark.parametrize(("length", "is_there"), [(20, False), (300, True)])
def test_a_rendered_page_with_a_small_article_is_read_whole(length, is_there):
    page = f"<body><nav><a href=/a>{'Elsewhere. ' * length}</a></nav><p>{SENTENCE * 8}</p>"

    assert ("Elsewhere" in extract_rendered(page, URL).text) is is_there
