"""An article that scripts would show is read from where the page carries it."""

import json
from html import escape

import pytest

from archiver.pages.article.extraction import extract_article

PARTS = [f"Part {n}: the mill grinds corn as long as the brook has water. " * 4 for n in (1, 2, 3)]
ARTICLE = "".join(f"<p>{part}</p>" for part in PARTS)
NAV = "<header><nav><a href=/a>Home</a> <a href=/b>About</a></nav></header>"


def linked(**data: object) -> str:
    data_block = json.dumps({"@type": "BlogPosting", "headline": "Mills", **data})
    return f"<script type=application/ld+json>{data_block}</script>".replace("</p>", "<\\/p>")


@pytest.mark.parametrize(
    "page",
    [
        *(
            f"{NAV}<div id=app></div><script type={kind}><article>{ARTICLE}</article></script>"
            for kind in ("text/template", "text/x-handlebars", "text/html", "x-tmpl-mustache")
        ),
        f"{NAV}<script type=text/ng-template>{{{{#each}}}}{ARTICLE}<b>{{{{more}}}}</b></script>",
        f"{NAV}<main>Loading...</main><template><article>{ARTICLE}</article></template>",
        f"{NAV}<main>Loading...</main><noscript><article>{ARTICLE}</article></noscript>",
        f"{NAV}<div style='display:none'><article>{ARTICLE}</article></div>",
        f"{NAV}<textarea hidden>{''.join(PARTS)}</textarea>",
        f"<frameset><frame src=a><noframes><body><h1>Mills</h1>{ARTICLE}</noframes></frameset>",
        linked(articleBody="\n".join(PARTS)) + NAV,
        linked(articleBody=ARTICLE) + NAV,
        linked(articleBody=escape(ARTICLE)) + NAV,
        linked(articleBody="\n".join(PARTS)) + f"{NAV}<main><p>{PARTS[0]}</p></main>",
        "<script type=application/json>"
        + json.dumps({"post": {"title": "Mills", "html": ARTICLE}}).replace("</", "<\\/")
        + "</script>",
    ],
)
def test_an_article_that_scripts_would_show_is_read(page):
    text = extract_article(f"<title>Mills</title>{page}", "https://a.example/").text
    assert [text.count(f"Part {n}") for n in (1, 2, 3)] == [4, 4, 4]
    assert "{{" not in text


@pytest.mark.parametrize(
    "beside",
    [
        f"<template><p>{'Subscribe to the letter of the mill. ' * 10}</p></template>",
        f"<noscript><p>{'Please enable scripts to see comments. ' * 10}</p></noscript>",
        linked(articleBody="The mill grinds corn."),
        linked(articleBody=None),
        "<script type=application/json>{</script>",
    ],
)
def test_a_visible_article_stays_if_templates_hold_less(beside):
    text = extract_article(f"<body><article>{ARTICLE}</article>{beside}", "https://a.example/").text
    assert text == "\n".join(part.strip() for part in PARTS)
