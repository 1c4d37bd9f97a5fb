"""Who wrote it is said above an article; a line in it that says no more goes."""

import pytest

from archiver.html.article import extract_article

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
def test_a_line_that_is_the_byline_goes(line):
    assert "Byron" not in article(line).text.title()
    assert article(line).metadata.byline == "Ada Byron"


@pytest.mark.parametrize(
    "line",
    [
        "<p>Ada Byron has kept kites for thirty years.</p>",
        '<p><img src="/ada.jpg"> Ada Byron</p>',
        f"{WORDS}<p>Ada Byron</p>",
    ],
)
def test_what_says_more_or_stands_further_down_stays(line):
    assert "Ada Byron" in article(line).text


def test_a_page_that_names_nobody_keeps_its_lines():
    assert "By someone" in article("<p>By someone</p>", head="<title>Kites</title>").text
