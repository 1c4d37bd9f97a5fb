"""Fixtures for tests of the rewriter, for a document of one page."""

from collections.abc import Callable

import pytest

from archiver.replay.addresses import Modifier
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.url_rewriter import UrlRewriter
from tests.rewriting import PAGE, TIMESTAMP, feed_in_pieces


@pytest.fixture
def links() -> UrlRewriter:
    """Return the URL rewriter of the page."""
    return UrlRewriter(PAGE, TIMESTAMP)


@pytest.fixture(scope="session")
def html() -> Callable[..., str]:
    """Return a function that rewrites a document; with a ``seed``, in small random pieces."""

    def rewrite(markup: str, *, seed: int | None = None, **options) -> str:
        page = options.pop("page", Modifier.NONE)
        rewriter = HtmlRewriter(UrlRewriter(PAGE, TIMESTAMP, page=page), **options)
        return feed_in_pieces(rewriter, markup, seed)

    return rewrite
