"""The lead between the title and the article is extracted; other content there is not."""

import pytest

from archiver.pages.article.extraction import extract_article
from archiver.pages.article_text import whole

SENTENCE = "The mill stood by the river and ground what the valley grew each year. "
PROSE = f"<p>{SENTENCE * 5}</p>"
STORY = f"<div class=story>{PROSE * 4}</div>"
SUBTITLE = "How twelve villages shared one wheel"
PICTURE = "<figure><img src=hero.jpg width=900><figcaption>The wheel</figcaption></figure>"


def article_of(body, title="The mill"):
    page = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return whole(extract_article(page, "https://example.com/"))


@pytest.mark.parametrize(
    "subtitle",
    [
        f"<h2 class=subtitle>{SUBTITLE}</h2>",
        f'<p class="post-standfirst">{SUBTITLE}</p>',
        f"<div itemprop=description>{SUBTITLE}</div>",
        f"<p role=doc-subtitle>{SUBTITLE}</p>",
        f"<p>{SUBTITLE}, and what became of the miller, whose accounts were found last year</p>",
    ],
)
def test_a_subtitle_in_the_header_is_part_of_the_article(subtitle):
    article = article_of(f"<header class=top><h1>The mill</h1>{subtitle}</header>{STORY}")

    assert article.index(SUBTITLE) < article.index(SENTENCE)
    assert article.count(SUBTITLE) == 1


@pytest.mark.parametrize(
    "body",
    [
        f"<header class=top><h1>The mill</h1>{PICTURE}</header>{STORY}",
        f"<article>{PICTURE}<header class=top><h1>The mill</h1></header>{STORY}</article>",
        f"<header class=top><h1>The mill</h1></header><div>{PICTURE}</div>{STORY}",
    ],
)
def test_a_lead_picture_is_part_of_the_article(body):
    article = article_of(body)

    assert (
        article.index("hero.jpg")
        < article.index("The wheel</figcaption>")
        < article.index(SENTENCE)
    )
    assert article.count("<img") == 1


def test_content_of_the_article_is_not_repeated_in_the_lead():
    header = f"<header class=top><h1>The mill</h1><p class=intro>{SUBTITLE}</p>{PICTURE}</header>"
    again = f"<p>{SUBTITLE}</p><img src=/thumbs/hero-300x200.jpg>"

    article = article_of(f"{header}<div class=story>{PROSE}{again}{PROSE * 3}</div>")

    assert article.count(SUBTITLE) == 1
    assert "hero.jpg" not in article


@pytest.mark.parametrize(
    "beside",
    [
        "<div class=author-avatar><img src=ann.jpg></div>",
        "<img src=small.jpg width=48 height=48>",
        "<a href=/other><img src=teaser.jpg></a>",
        "<p class=share-intro>Tell your friends of all that we write here</p>",
        f"<p class=intro><a href=/more>{SUBTITLE}</a></p>",
        "<nav><p class=summary>Everything that was written this year, in order</p></nav>",
    ],
)
def test_authors_breadcrumbs_and_share_bars_are_not_in_the_lead(beside):
    alone = article_of(f"<header class=top><h1>The mill</h1></header>{STORY}")

    article = article_of(f"<header class=top><h1>The mill</h1>{beside}</header>{STORY}")

    assert article == alone


def test_the_lead_of_another_text_is_left_out():
    other = f"<p>{'Something else is told here of quite another matter. ' * 8}</p>"
    teaser = f"<h1>The mill</h1><p class=intro>{SUBTITLE}</p><div class=sidebar>{other}</div>"

    article = article_of(f"<div class=top>{teaser}</div>{STORY}")

    assert SENTENCE in article
    assert SUBTITLE not in article
