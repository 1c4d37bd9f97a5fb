"""A line in the article that only repeats the byline is removed."""

import pytest

from archiver.pages.article.extraction import extract_article

WORDS = "<p>The red kite is back, and many people, in towns as well, look up when it circles. " * 9
HEAD = '<title>Kites</title><meta name="author" content="Ada Byron">'


def article(lines, head=HEAD):
    page = f"{head}<article><h1>Kites</h1>{lines}{WORDS}</article>"
    return extract_article(page, "http://a.example/")


@pytest.mark.parametrize(
    "line",
    [
        "<p>By Ada Byron</p>",
        "<div><span>Ada  BYRON</span></div>",
        '<p>by <a href="/ada">Ada Byron</a></p>',
        "<p>Von: Ada Byron</p>",
    ],
)
def test_a_byline_is_removed(line):
    assert "Byron" not in article(line).text.title()
    assert article(line).metadata.byline == "Ada Byron"


@pytest.mark.parametrize(
    ("line", "goes"),
    [
        ("By Ada Byron · 3 May 2023", True),
        ("Ada Byron, posted on May 3, 2023", True),
        ("Ada Byron, 4 May 1823", False),
        ("Ada Byron and the kites of May 3, 2023", False),
    ],
)
def test_a_byline_with_the_known_date_is_removed(line, goes):
    dated = f'{HEAD}<meta name="date" content="2023-05-03">'

    assert ("Ada Byron" not in article(f"<p>{line}</p>", head=dated).text) == goes


@pytest.mark.parametrize(
    "around",
    [
        "<div>{}<div><button>Follow</button><time>3 May 2023</time> 5 min read</div></div>",
        "<section><ul><li><a href=/ada><img class=avatar src=/ada.jpg></a></ul>{}</section>",
        "<div><a href=/ada><img src=/ada.jpg width=44 height=44></a><div>{}</div> 123 claps</div>",
    ],
)
def test_short_text_around_a_byline_is_removed(around):
    found = article(around.format("<p>Ada Byron</p>"))

    assert found.html == article("").html


@pytest.mark.parametrize(
    "beside",
    [
        "<h2>Early years</h2>",
        "<figure><img src=/kite.jpg></figure>",
        "<img src=/kite.jpg width=800 height=600>",
        f"<p>{'It was a fine day on the hills above the town. ' * 4}</p>",
    ],
)
def test_content_next_to_a_byline_stays(beside):
    found = article(f"<div>{beside}<p>Ada Byron</p></div>")

    assert "Ada Byron" not in found.text
    assert found.html != article("").html


@pytest.mark.parametrize(
    "line",
    [
        "<p>Ada Byron has kept kites for thirty years.</p>",
        '<p><img src="/ada.jpg"> Ada Byron</p>',
        f"{WORDS}<p>Ada Byron</p>",
    ],
)
def test_longer_lines_and_later_lines_stay(line):
    assert "Ada Byron" in article(line).text


def test_a_page_without_author_keeps_its_lines():
    assert "By someone" in article("<p>By someone</p>", head="<title>Kites</title>").text
