"""Blocks around an article are removed, and similar parts of the article stay."""

import pytest

from archiver.pages.article.extraction import extract_article

URL = "https://mill.example/news/1"
TEXT = "".join(
    f"<p>Sentence {n} of the story tells how the mill by the river came to grind again at last.</p>"
    for n in range(8)
)
TITLES = [
    "How to water a garden in a dry summer",
    "A bridge before the election",
    "Ovens of stone are back",
    "The road along the coast stays closed",
]
EXCERPT = "Readers of this page may like this piece, which is about something else."


def read(*parts: str) -> str:
    page = f"<title>The mill</title><body><main><h1>The mill</h1>{''.join(parts)}</main>"
    return extract_article(page, URL).text


def links(name: str = "li", inner: str = "<a href=/s/{n}>{title}</a>") -> str:
    return "".join(
        f"<{name} class=x>{inner.format(n=n, title=title)}</{name}>"
        for n, title in enumerate(TITLES)
    )


CARDS = links(
    "div",
    "<a href=/s/{n}><img src=/{n}.jpg></a><h3><a href=/s/{n}>{title}</a></h3>"
    f"<p>{EXCERPT}</p>",
)


@pytest.mark.parametrize(
    "label",
    [
        *("Related", "Related articles:", "You may also like", "Most read", "More from the Mill"),
        *("Mehr zum Thema", "Das k\u00f6nnte Sie auch interessieren", "Meistgelesen"),
        *("\u00c0 lire aussi", "Sur le m\u00eame sujet", "Te puede interesar", "Leggi anche"),
        *(
            "\u95a2\u9023\u8a18\u4e8b",
            "\u76f8\u5173\u9605\u8bfb",
            "\u0427\u0438\u0442\u0430\u0439\u0442\u0435 \u0442\u0430\u043a\u0436\u0435",
        ),
    ],
)
@pytest.mark.parametrize("around", ["<div><h2>{}</h2><ul>{}</ul></div>", "<h2>{}</h2><ul>{}</ul>"])
def test_lists_of_other_pages_are_removed_with_their_label(label, around):
    assert read(TEXT, around.format(label, links())) == read(TEXT)
    assert read(TEXT, around.format(label, links()), TEXT) == read(TEXT, TEXT)


@pytest.mark.parametrize(
    "beside",
    [
        "<p><strong>READ MORE: <a href=/s/1>A bridge is back</a></strong></p>",
        f"<div class=c1>{CARDS}</div>",
        "<p><strong>Read also:</strong> <a href=/s/1>A bridge before the election</a></p>",
        "<p>Tags: <a href=/x/a>mill</a>, <a href=/x/b>river</a></p>",
        f"<div class=relatedPosts>{links('p')}</div>",
        (
            "<div class=author-box><h4>Ann Miller</h4><p>Ann Miller writes about rivers and old "
            "machines, and lives in a railway station with two dogs.</p></div>"
        ),
        "<div class=c1><h3>About the author</h3><p>Ann writes about rivers for the Mill.</p></div>",
        (
            "<div class=c1><h3>Stay in the know</h3><p>Sign up for our weekly letter, with the "
            "best stories of the valley.</p><form><input></form></div>"
        ),
        "<div class=newsletter-signup><p>Get a letter from the mill every week.</p></div>",
        (
            "<section><h2>Leave a Reply</h2><div class=respond><p>Your address will not be "
            "published, and required fields are marked.</p><textarea></textarea></div></section>"
        ),
        "<div class=social-links>Share <a href=/f>Facebook</a> <a href=/t>Tweet</a></div>",
    ],
)
def test_blocks_around_an_article_are_removed(beside):
    assert read(TEXT, beside) == read(TEXT)


def test_a_pull_quote_is_there_once():
    quoted = "<div class=article--pullquote><p>\u201cSentence 3 of the story tells how</p></div>"
    assert read(TEXT, quoted) == read(TEXT)
    other = "<div class=pullquote><p>Nobody else ever said such a thing of it.</p></div>"
    assert "Nobody else" in read(TEXT, other, TEXT)


@pytest.mark.parametrize(
    "part",
    [
        f"<h2>Further reading</h2><ul>{links(inner='<a href=https://e.example/{n}>{title}</a>')}</ul>",
        f"<h2>Popular</h2>{TEXT}",
        f"<h2>Related work</h2>{TEXT}",
        f"<h2>Comments on the wheel</h2>{TEXT}",
        "<h2>About me</h2><p>I was born by the river, and have lived there ever since then.</p>",
        f"<h2>Get more water</h2>{TEXT}",
        f"<div class=bio>{TEXT}</div>",
        "".join(f"<h2><a href=/s/{n}>Mill number {n}</a></h2>{TEXT}" for n in range(4)),
        links("div", "<figure><img src=/{n}.jpg><figcaption><a href=/{n}>{title}</a></figure>"),
    ],
)
def test_similar_parts_of_an_article_stay(part):
    article = read(TEXT, part, TEXT)
    without = read(TEXT, TEXT)
    assert len(article) > len(without) + 60


def test_a_page_that_is_a_list_of_other_pages_keeps_them():
    article = extract_article(f"<title>News</title><h1>News</h1><div>{CARDS}</div>", URL).text
    assert all(title in article for title in TITLES)
