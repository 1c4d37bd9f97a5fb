"""Documents and style sheets in data URLs."""

import base64
from urllib.parse import quote

import pytest

from archiver.pages.references import Use
from archiver.replay.html_rewriter import rewrite_data_url
from archiver.replay.svg_copies import SvgCopies
from archiver.replay.url_rewriter import BLOCKED, Embedding, UrlRewriter
from tests.rewriting import PAGE, TIMESTAMP

ORIGIN = "http://here.example"


@pytest.fixture
def links():
    return UrlRewriter(
        PAGE, TIMESTAMP, embedding=Embedding(ORIGIN, rewrite_data_url, SvgCopies(lambda _: ""))
    )


@pytest.mark.parametrize(
    ("use", "head", "before", "after"),
    [
        (
            Use.STYLE,
            "text/css",
            "@import 'http://a.example/x'",
            "@import '<cs_>http://a.example/x'",
        ),
        (Use.STYLE, "", "i{a:url(//a.example/x)}", "i{a:url(data:,)}"),
        (Use.STYLE, "text/css", "i { color: red }", None),
        (
            Use.FRAME,
            "text/html",
            "<img src=http://a.example/x>",
            '<img src="<im_>http://a.example/x">',
        ),
        (
            Use.FRAME,
            "TEXT/HTML;charset=windows-1252",
            "<base href=http://a.example/b/><a href=x>%e9",
            '<base data-archived-href=http://a.example/b/><a href="<>http://a.example/b/x">é',
        ),
        (Use.FRAME, "text/html", "<img src=x>", "<img data-archived-src=x>"),
        (Use.FRAME, "text/html", "<script>x", '<script type="text/x-archived-script">x'),
        (
            Use.FRAME,
            "image/svg+xml",
            "<image href='http://a.example/x'/>",
            "<image href='<im_>http://a.example/x'/>",
        ),
        (Use.FRAME, "text/plain", "<img src=http://a.example/x>", None),
        (Use.FRAME, "image/png", "x", None),
        (Use.IMAGE, "image/svg+xml", "<image href='http://a.example/x'/>", None),
    ],
)
def test_references_in_a_data_url_become_absolute_replay_urls(links, use, head, before, after):
    packed = base64.b64encode(before.encode()).decode()
    urls = [f"data:{head},{before if '%' in before else quote(before)}#f"]
    urls += [] if "%" in before else [f"data:{head};base64,{packed}#f"]

    for url in urls:
        result = links.rewrite(url, use)

        if after is None:
            assert result is None
            continue
        start, _, body = result.removesuffix("#f").partition(",")
        assert (
            start == f"data:{head.partition(';')[0].lower() or 'text/plain'};charset=utf-8;base64"
        )
        for modifier in ("", "im_", "cs_"):
            after = after.replace(f"<{modifier}>", f"{ORIGIN}/web/{TIMESTAMP}{modifier}/")
        assert base64.b64decode(body).decode() == after


def test_data_urls_are_rewritten_as_deep_as_documents_nest_and_blocked_below(links):
    url = "data:text/html,x"
    for _ in range(4):
        url = f"data:text/html,{quote(f'<iframe src={url}>')}"

    result, levels = links.rewrite(url, Use.FRAME), 0
    while "base64," in result:
        result = base64.b64decode(result.partition("base64,")[2].rstrip('">')).decode()
        levels += 1

    assert levels == 3
    assert result.startswith("<iframe data-archived-src=")


@pytest.mark.parametrize("url", ["data:text/html", "data:text/html;base64,a"])
def test_a_malformed_data_url_is_blocked(links, url):
    assert links.rewrite(url, Use.FRAME) == BLOCKED


def test_a_page_in_a_data_url_is_no_link(links):
    assert links.rewrite("data:text/html,x", Use.ANCHOR) == BLOCKED
