"""What the rewriter's tests share: ways to feed it a document of one page."""

import random
from collections.abc import Callable

import pytest

from archiver.rewrite.address import Modifier
from archiver.rewrite.html import HtmlRewriter
from archiver.rewrite.url_rewriter import UrlRewriter

PAGE = "https://example.com/dir/page.html"
MOMENT = "20240229120001"


@pytest.fixture
def links() -> UrlRewriter:
    """UrlRewriter of the page."""
    return UrlRewriter(PAGE, MOMENT)


@pytest.fixture(scope="session")
def html() -> Callable[..., str]:
    """Rewrites a document; with a ``seed``, in pieces of random small sizes."""

    def rewrite(markup: str, *, seed: int | None = None, **options) -> str:
        page = options.pop("page", Modifier.NONE)
        rewriter = HtmlRewriter(UrlRewriter(PAGE, MOMENT, page=page), **options)
        return _fed(rewriter, markup, seed)

    return rewrite


@pytest.fixture(scope="session")
def led() -> Callable[..., str]:
    """The path of a memento of the page's time; a relative URL is one beside the page."""

    def path(url: str, modifier: str = "") -> str:
        absolute = url if "://" in url else f"https://example.com/dir/{url}"
        return f"/web/{MOMENT}{modifier}/{absolute}"

    return path


def _fed(rewriter: HtmlRewriter, text: str, seed: int | None) -> str:
    chosen = random.Random(seed)
    out, at = [], 0
    while at < len(text):
        size = len(text) if seed is None else chosen.choice((1, 1, 2, 3, 7, 20))
        out.append(rewriter.feed(text[at : at + size]))
        at += size
    return "".join(out) + rewriter.close()
