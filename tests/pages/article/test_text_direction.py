"""The direction of an article is that of its page, or of most of its letters."""

import pytest

from archiver.pages.article.extraction import extract_article

URL = "https://example.com/page.html"
TEXT = f"<p>{'The mill stood by the river, and ground. ' * 20}</p>"


def article_of(page: str) -> str:
    return extract_article(page, URL).html


ARABIC = (
    "\u0643\u0627\u0646\u062a \u0627\u0644\u0637\u0627\u062d\u0648\u0646\u0629\u060c "
    "\u0639\u0644\u0649 \u0627\u0644\u0646\u0647\u0631. "
)
RIGHT = f"<p>Mill: {ARABIC * 12}</p><p>{ARABIC * 12}</p>"


@pytest.mark.parametrize(
    "page",
    [
        f"<html dir=rtl><body><main>{RIGHT}</main>",
        f"<body dir=RTL><main>{TEXT}</main>",
        f"<body><nav dir=ltr>Mills</nav><div dir=rtl><main>{RIGHT}</main></div>",
        f"<html dir=ltr><body><main dir=rtl>{RIGHT}</main>",
        f"<body><ul><li><a href=/>Home of all mills</a></ul><main>{RIGHT}</main>",
        f"<html dir=auto><body><main>{RIGHT}</main>",
    ],
)
def test_right_to_left_direction_comes_from_the_page_or_the_letters(page):
    assert article_of(page).startswith('<div dir="rtl">')


@pytest.mark.parametrize(
    "page",
    [
        f"<html dir=ltr><body><main>{RIGHT}</main>",
        f"<html dir=rtl><body><main dir=ltr>{RIGHT}</main>",
        f"<body><main><p>{'The mill. ' * 90}</p><p>{ARABIC * 9}</p></main>",
        f"<body><main>{TEXT}</main>",
    ],
)
def test_other_articles_are_left_to_right(page):
    assert not article_of(page).startswith('<div dir="rtl">')
