"""Text that a page sets from top to bottom is kept so, by two names and no other style."""

import pytest

from archiver.html.article import extract_article
from archiver.html.sanitise import sanitise

URL = "https://example.com/page.html"
SENTENCE = "\u5ddd\u306e\u307b\u3068\u308a\u306b\u6c34\u8eca\u304c\u3042\u3063\u305f\u3002"
TEXT = f"<p>{SENTENCE * 40}</p>"
LEVEL = f"<main style='writing-mode:horizontal-tb'>{TEXT}</main>"


def article_of(page: str) -> str:
    return extract_article(page, URL).html


@pytest.mark.parametrize(
    ("page", "mode"),
    [
        (f"<body style='color:red;writing-mode: vertical-rl'>{TEXT}", "vertical-rl"),
        (f"<html style='-webkit-writing-mode:vertical-lr'><body>{TEXT}", "vertical-lr"),
        (f"<body><article style='writing-mode:tb-rl'>{TEXT}</article>", "vertical-rl"),
        (f"<style>html, .x{{writing-mode:vertical-rl}}</style><body>{TEXT}", "vertical-rl"),
        (
            f"<style>/* p {{}} */ main.b{{\nwriting-mode:vertical-rl}}</style><main class=b>{TEXT}",
            "vertical-rl",
        ),
    ],
)
def test_the_mode_of_a_page_is_that_of_its_article(page, mode):
    found = article_of(page)

    assert found.startswith(f'<div class="{mode}">')
    assert SENTENCE in found
    assert "style" not in found


@pytest.mark.parametrize(
    "page",
    [
        f"<body>{TEXT}<p>about writing-mode: vertical-rl",
        f"<body style='writing-mode:horizontal-tb'>{TEXT}",
        f"<body><h1 style='writing-mode:vertical-rl'>\u6c34\u8eca</h1>{TEXT}",
        f"<style>@media print{{p{{}} body{{writing-mode: vertical-rl}} }}</style><body>{TEXT}",
        f"<body style='writing-mode:vertical-rl'>{LEVEL}",
        f"<body style='writing-mode:url(x)'>{TEXT}",
        f"<body><div class=vertical-rl>{TEXT}</div>",
    ],
)
def test_what_is_set_level_stays_level(page):
    found = article_of(page)

    assert SENTENCE in found
    assert "vertical-rl" not in found.replace("about writing-mode: vertical-rl", "")


def test_no_other_class_of_a_block_passes():
    written = "".join(f"<div class='{each}'>a</div>" for each in ("vertical-rl x", "embed", "text"))

    assert sanitise(written) == "<div>a</div><div>a</div><div>a</div>"


def test_a_sheet_that_is_never_closed_takes_no_time_and_says_nothing():
    css = "@media print{" + "a{" * 50_000 + "writing-mode:vertical-rl"

    found = article_of(f"<style>{css}</style><body>{TEXT}")

    assert found.startswith("<p>")
