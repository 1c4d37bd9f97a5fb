"""Article extraction takes linear time on hostile pages."""

import time

import pytest
from lxml import etree
from lxml.html import document_fromstring

from archiver.model.page import Article
from archiver.pages.article.code_blocks import normalise_code
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
    "names of files": ("<div>", "<h2>a.png</h2><img src=b.png>", "</div>"),
    "tables in code": ("<pre>", "<table><tr><th>a<td>b</table>x", "</pre>"),
    "sections": (
        "<main>",
        f"<section id=menu><h2>menu</h2><p>{'word ' * 20}</p></section>",
        "</main>",
    ),
    "tags": ("<div>", "<ul><li><a href=/tag/x>x</a></li></ul>", "</div>"),
    "modes": ("<style>", "a{writing-mode:vertical-rl}", "</style><p>x"),
    "labels": (f"<article>{LONG}", "<h2>Related</h2><p><a href=/x>a headline</a></p>", ""),
    "cards": (f"<div>{LONG}", "<div class=c><h3><a href=/x>a headline</a></h3></div>", "</div>"),
    "buttons": (LONG, "<button aria-controls=a>x</button><div id=a hidden><p>some text", ""),
    "templates": ("", f"<template><p>{'word ' * 60}</template>", ""),
    "lines": ("<article>", "<p>12</p>", f"{LONG}</article>"),
    "displays": ("<style>", "a{display:block}", "</style><pre>x<a>y</a></pre>"),
    "spaces": ("<div>", "<b style='white-space:pre'>x\ny</b>", "</div>"),
    "comments left open": ("<style>writing-mode", "/*a" * 8, "</style><p>x"),
    "media left open": ("<style>writing-mode", "@media print " * 4, "</style><p>x"),
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
    begun = time.process_time()
    assert isinstance(extract_article(page, URL), Article)
    return time.process_time() - begun


@pytest.mark.parametrize("name", FLAT)
def test_the_cost_of_repeated_markup_is_linear(name):
    start, piece, end = FLAT[name]

    short, long = (cost(start + piece * count + end) for count in (125, 1_000))

    assert long < 8 * 4 * max(short, 0.002)


@pytest.mark.parametrize("name", NESTED)
def test_nested_elements_do_not_multiply_the_cost_of_their_content(name):
    before, after = NESTED[name].split("{}")

    flat, nested = (
        cost(f"<body>{before * depth}{FILL * 1_000}{after * depth}") for depth in (1, DEEP)
    )

    assert nested < 12 * max(flat, 0.01)


@pytest.mark.parametrize("names", [["ins"], ["kbd"], ["em", "del", "ins", "kbd", "var"]])
def test_emphasis_left_open_does_not_multiply_the_blocks_in_it(names):
    opened = "".join(f"<{names[n % len(names)]}>" for n in range(DEEP // 2))
    blocks = "<p>some words of the article</p>" * 100

    found = extract_article(f"<body><article>{LONG}{opened}{blocks}", URL).html

    assert found.count("some words of the article") == 100
    assert all(found.count(f"<{name}>") <= 101 for name in names)
    assert len(found) < 3 * len(LONG + opened + blocks)


def test_code_split_by_many_tables_does_not_repeat_its_attributes():
    table = "<table><tr><th>a<td>b</table>and so on "
    around = f"<pre><code class='language-x' title='{'long ' * 2_000}'>"
    body = document_fromstring(f"<body>{around}{table * 2_000}").body

    normalise_code(body)

    written = etree.tostring(body, encoding="unicode")
    assert "<th>a</th>" in written
    assert len(written) < 2 * len(around + table * 2_000)
