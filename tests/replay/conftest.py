"""Fixtures for tests of the rewriter, for a document of one page."""

from collections.abc import Callable

import pytest

from archiver.replay.addresses import Modifier
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.url_rewriter import UrlRewriter
from tests.rewriting import MOMENT, PAGE, fed, replay_path_of


@pytest.fixture
def links() -> UrlRewriter:
    """Return the URL rewriter of the page."""
    return UrlRewriter(PAGE, MOMENT)


@pytest.fixture(scope="session")
def html() -> Callable[..., str]:
    """Return a function that rewrites a document; with a ``seed``, in small random pieces."""

    def rewrite(markup: str, *, seed: int | None = None, **options) -> str:
        page = options.pop("page", Modifier.NONE)
        rewriter = HtmlRewriter(UrlRewriter(PAGE, MOMENT, page=page), **options)
        return fed(rewriter, markup, seed)

    return rewrite


@pytest.fixture(scope="session")
def replayed() -> Callable[..., str]:
    """Return a function for the rewritten form of a URL in the page."""
    return replay_path_of
