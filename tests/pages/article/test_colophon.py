"""A copyright line of the site at the end is removed; a picture credit stays."""

import pytest

from archiver.pages.article.extraction import extract_article


def text_of(end: str) -> str:
    body = f"<main><h1>Away</h1><p>I will be away until May.</p>{end}</main>"
    return extract_article(f"<title>Away</title>{body}", "https://example.com/").text


@pytest.mark.parametrize(
    "line",
    [
        "<p>© 2021 <a href=/>A. Body</a>. <a href=/t>A theme</a> for Hugo.</p>",
        "<div><div><p>Copyright (c) A. Body, 2019</p></div><br></div>",
        "<small>(c) 1999-2004 A. Body</small>",
    ],
)
def test_a_copyright_line_at_the_end_is_removed(line):
    found = text_of(line)

    assert "A. Body" not in found
    assert "away until May" in found


@pytest.mark.parametrize(
    "end",
    [
        "<p>© 2021 A. Body</p><p>And one thing more.</p>",
        "<figure><img src=/a.png alt=a><figcaption>© 2021 A. Body</figcaption></figure>",
        "<p>The copyright of 1909 was a law.</p>",
        f"<p>© 2021 A. Body{' and others' * 40}</p>",
    ],
)
def test_other_text_about_copyright_stays(end):
    assert text_of(end) != text_of("")
