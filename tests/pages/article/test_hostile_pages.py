"""Article extraction takes linear time on hostile pages."""

import time

import pytest

from archiver.model.page import Article
from archiver.pages.article.extraction import extract_article

URL = "https://example.com/"
DEEP = 200
"""Nesting depth of each page, well below the limit of the parser."""

FILL = "<i></i>"

LONG = f"<p>{'word and more words, here. ' * 60}</p>"
"""Paragraph that makes a page an article."""

FLAT = {
    "functions": ("<p style='", "url(", "'>x"),
    "figures' styles": ("<figure style='", "url(", "'>x"),
    "breaks": ("<div>", "<br>", "</div>"),
    "candidates": ("<img srcset='", "a 1x,", "'>"),
    "openings": ("<script src=mathjax.js></script>", r"\( $x \[ ", ""),
    "formulas": ("<script src=mathjax.js></script>", r"\(x\) ", ""),
    "rules": ("<svg><style>", ".a{fill:red} ", "</style><path class=a></svg>"),
    "classes": ("<div class='", "share related ", "'>x</div>"),
    "fragments": ("", "<a href='#x' id=x>x</a>", ""),
    "pictures of a link": (f"<article>{LONG}<a href=/x>", "<img src=/a.png>", "</a>"),
    "loose captions": (
        f"<article>{LONG}<div>",
        "<figcaption>xyz</figcaption>",
        "<img src=/a></div>",
    ),
    "sections": (
        "<main>",
        f"<section id=menu><h2>menu</h2><p>{'word ' * 20}</p></section>",
        "</main>",
    ),
    "tags": ("<div>", "<ul><li><a href=/tag/x>x</a></li></ul>", "</div>"),
    "labels": (f"<article>{LONG}", "<h2>Related</h2><p><a href=/x>a headline</a></p>", ""),
    "hidden parts": ("<main>", "<i hidden>1<b hidden>?</b></i> mill ", f"{LONG}</main>"),
    "notes": (
        "<main>",
        "<i id=n>mill<b id=m>,</b></i> ",
        f"{LONG}<a href=#f>1</a></main><footer><p id=f>A note. <a href=#n>back</a></footer>",
    ),
    "buttons": (LONG, "<button aria-controls=a>x</button><div id=a hidden><p>some text", ""),
    "templates": ("", f"<template><p>{'word ' * 60}</template>", ""),
    "lines": ("<article>", "<p>12</p>", f"{LONG}</article>"),
    "spaces": ("<div>", "<b style='white-space:pre'>x\ny</b>", "</div>"),
    "twins": ("", "<p><img><noscript><img src=a></noscript>", ""),
}
NESTED = {
    "tables": "<table><tr><td>{}</td></tr></table>",
    "shares": "<div class=share>{}</div>",
    "pictures": "<div role=img>{}</div>",
    "lists": "<ul><li><img>{}</li></ul>",
    "drawings": "<svg>{}</svg>",
    "code": "<pre><div>{}</div></pre>",
    "bodies": "<div class=entry-content>{}</div>",
    "related": "<div class=related><span>Related</span>{}</div>",
    "skipped": "<div aria-hidden=true>{}</div>",
    "hosts": "<x-a><template shadowrootmode=open><p><slot></slot></p></template>{}</x-a>",
    "shadows": "<x-a><template shadowrootmode=open>{}</template></x-a>",
    "spaces": "<span style='white-space:pre'>x\n{}</span>",
    "objects": "<object>{}</object>",
    "paragraphs": "<div><p><object>{}</object></p></div>",
    "insertions": "<ins>{}</ins>",
    "quotes": "<blockquote>{}</blockquote>",
    "posts": "<blockquote data-instgrm-permalink=https://www.instagram.com/p/a/>{}</blockquote>",
    "films": "<article><video src=/a>{}</video></article>",
}


def cost(page: str) -> float:
    """Return the CPU seconds that reading a page takes."""
    start = time.process_time()
    assert isinstance(extract_article(page, URL), Article)
    return time.process_time() - start


def test_the_cost_of_repeated_markup_is_linear(subtests):
    for name, (start, piece, end) in FLAT.items():
        with subtests.test(name):
            short, long = (cost(start + piece * count + end) for count in (100, 800))
            assert long < 8 * 4 * max(short, 0.002)


def test_nested_elements_do_not_multiply_the_cost_of_their_content(subtests):
    for name, around in NESTED.items():
        before, after = around.split("{}")
        with subtests.test(name):
            flat, nested = (
                cost(f"<body>{before * depth}{FILL * 300}{after * depth}") for depth in (1, DEEP)
            )
            assert nested < 20 * max(flat, 0.01)


@pytest.mark.parametrize("names", [["ins"], ["kbd"], ["em", "del", "ins", "kbd", "var"]])
def test_emphasis_left_open_does_not_multiply_the_blocks_in_it(names):
    opened = "".join(f"<{names[n % len(names)]}>" for n in range(DEEP // 2))
    blocks = "<p>some words of the article</p>" * 100

    article = extract_article(f"<body><article>{LONG}{opened}{blocks}", URL).html

    assert article.count("some words of the article") == 100
    assert all(article.count(f"<{name}>") <= 101 for name in names)
    assert len(article) < 3 * len(LONG + opened + blocks)
