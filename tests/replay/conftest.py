"""What the rewriter's tests share: ways to feed it a document of one page."""

from collections.abc import Callable

import pytest

from archiver.replay.addresses import Modifier
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.url_rewriter import UrlRewriter
from tests.led import MOMENT, PAGE, fed, led_to


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
        return fed(rewriter, markup, seed)

    return rewrite


@pytest.fixture(scope="session")
def led() -> Callable[..., str]:
    """Where a URL of the page is led to."""
    return led_to
