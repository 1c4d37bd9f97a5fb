"""Lines around the text of an article, such as dates and buttons, are removed."""

import pytest

from archiver.pages.article.extraction import extract_article

URL = "https://mill.example/news/1"
TEXT = "".join(
    f"<p>Sentence {n} of the story tells how the mill by the river came to grind again at last.</p>"
    for n in range(8)
)


def read(above: str, below: str = "") -> str:
    head = "<title>The mill</title><meta name=author content='Ann Miller'>"
    body = f"<article><h1>The mill</h1>{above}{TEXT}{below}</article>"
    return extract_article(f"{head}<body>{body}", URL).text


@pytest.mark.parametrize(
    "line",
    [
        *(
            "4 May 2024",
            "04.05.2024, 10:12 Uhr",
            "5 min read",
            "12",
            "Share",
            "2024\u5e745\u67084\u65e5",
        ),
        *("By Ann Miller", "<a href=/author/ann>Ann Miller</a>", "Lesezeit: 5 Minuten"),
        *("Von: ann  MILLER", "Ann Miller \u00b7 4 May 2024"),
        "Coordinates: <a href=/g>42\u00b0S 174\u00b0E\ufeff / \ufeff42\u00b0S 174\u00b0E</a>",
        "By Ann | Updated May 4, 2024 | 23 Comments",
        "<img src=/ann.jpg width=40 height=40>",
    ],
)
def test_lines_above_the_text_are_removed(line):
    assert read(f"<p>{line}</p>") == read("")
    assert read(f"<div><span>{line}</span></div>") == read("")


def test_lines_named_as_byline_or_not_for_print_are_removed():
    for name in ("class=byline", "class=noprint"):
        assert read(f"<div {name}>From the mills, a free paper</div>") == read(""), name


def test_an_infobox_above_the_text_is_moved_below_the_paragraphs_before_a_heading():
    note = "<div role=note>This is about the mill, not about other mills.</div>"
    box = "<table class='infobox geo'><tr><th>River</th><td>Grey Water</td></tr></table>"
    text = TEXT.replace("</p>", "</p><h2>Later</h2>", 3).replace("</p><h2>Later</h2>", "</p>", 2)
    found = extract_article(f"<article><h1>The mill</h1>{note}{box}{text}</article>", URL).text

    assert found.index("Sentence 2") < found.index("Grey Water") < found.index("Later")


@pytest.mark.parametrize(
    "line",
    [
        "<p>Share</p>",
        "<p>\u00a9 Valley Gazette, all rights reserved</p>",
        "<p><i>Follow us on <a href=https://x.example>X</a> for more.</i></p>",
        "<p>Like it? Get <a href=/newsletter>our newsletter</a>.</p>",
        "<h3>More</h3>",
    ],
)
def test_lines_below_the_text_are_removed(line):
    assert read("", line) == read("")


@pytest.mark.parametrize(
    "line",
    [
        "<p>It was May 4, 2024, and raining.</p>",
        "<p>Ann Miller has ground corn for thirty years.</p>",
        "<p>Dear reader,</p>",
        "<h2>1984</h2>",
        "<h2>By the river</h2>",
        "<blockquote><p>4 May 2024</p></blockquote>",
        "<p>Twelve mills, <b>12</b> wheels.</p>",
        "<figure><img src=/a.jpg width=100 height=90><figcaption>May 2024</figcaption></figure>",
    ],
)
def test_short_lines_of_the_article_stay(line):
    assert len(read(line)) > len(read(""))
    assert len(read("", line + "<p>The end.</p>")) > len(read("", "<p>The end.</p>"))


def test_a_removed_date_is_the_publication_date():
    page = f"<article><h1>The mill</h1><p>4 May 2024</p>{TEXT}</article>"
    assert extract_article(page, URL).metadata.published == "2024-05-04"
