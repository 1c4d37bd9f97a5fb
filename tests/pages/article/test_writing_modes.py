"""Vertical text keeps its writing mode as one of two class names, without other styles."""

import pytest

from archiver.pages.article.extraction import extract_article
from archiver.pages.sanitizer import sanitise

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
def test_an_article_has_the_writing_mode_of_its_page(page, mode):
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
def test_horizontal_text_stays_horizontal(page):
    found = article_of(page)

    assert SENTENCE in found
    assert "vertical-rl" not in found.replace("about writing-mode: vertical-rl", "")


def test_other_classes_are_removed():
    written = "".join(f"<div class='{each}'>a</div>" for each in ("vertical-rl x", "embed", "text"))

    assert sanitise(written) == "<div>a</div><div>a</div><div>a</div>"


def test_an_unclosed_style_sheet_is_fast_and_ignored():
    css = "@media print{" + "a{" * 50_000 + "writing-mode:vertical-rl"

    found = article_of(f"<style>{css}</style><body>{TEXT}")

    assert found.startswith("<p>")


@pytest.mark.parametrize(
    ("head", "css", "mode"),
    [
        ("<link rel=stylesheet href=a.css>", "main{writing-mode:vertical-rl}", "vertical-rl"),
        ("<link rel=stylesheet href=a.css>", "body > #m.x{writing-mode:tb-rl}", "vertical-rl"),
        ("<style>@import 'a.css'</style>", "main{writing-mode:vertical-lr}", "vertical-lr"),
        (
            "<link rel=stylesheet href=a.css><style>main{writing-mode:horizontal-tb}</style>",
            "main{writing-mode:vertical-rl}",
            "",
        ),
        ("<link rel=stylesheet media=print href=a.css>", "main{writing-mode:vertical-rl}", ""),
        ("<link rel='alternate stylesheet' href=a.css>", "main{writing-mode:vertical-rl}", ""),
        ("<link rel=stylesheet href=a.css>", "main:hover{writing-mode:vertical-rl}", ""),
        ("<link rel=stylesheet href=a.css>", "h1, .note{writing-mode:vertical-rl}", ""),
    ],
)
def test_an_external_style_sheet_applies_if_the_page_uses_it(head, css, mode):
    page = f"{head}<body><main id=m class=x>{TEXT}<p class=note>x</p></main>"
    sheets = (("https://example.com/a.css", css),)

    found = extract_article(page, URL, sheets=sheets).html

    assert found.startswith(f'<div class="{mode}">' if mode else "<div><p>")
    assert "data-" not in found


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
