"""Fixtures for tests of references: discovery and rewriting of a page."""

from collections.abc import Callable

import pytest

from archiver.http.urls import join
from archiver.model.requisite import RequisiteKind
from archiver.pages.css_references import CssReferences
from archiver.pages.references import REQUISITE_KINDS, Use
from archiver.pages.requisites import discover_requisites
from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.url_rewriter import UrlRewriter
from tests.rewriting import PAGE, TIMESTAMP, feed_in_pieces

References = set[tuple[str, RequisiteKind]]


class RecordingRewriter(UrlRewriter):
    """Rewriter that records the references it changed."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.rewritten: list[tuple[str, Use]] = []

    def rewrite(self, reference, use):
        path = super().rewrite(reference, use)
        if path:
            self.rewritten.append((join(self.base, reference.partition("#")[0]), use))
        return path

    def nested(self):
        inner = RecordingRewriter(self.base, TIMESTAMP)
        inner.rewritten = self.rewritten
        return inner


@pytest.fixture(scope="session")
def discover() -> Callable[[str], References]:
    """Return a function for the references that discovery finds for a browser."""
    return lambda markup: {
        (each.url, each.kind)
        for each in discover_requisites(markup, PAGE, 1000).requisites
        if each.kind is not RequisiteKind.PART
    }


@pytest.fixture(scope="session")
def load() -> Callable[[str], References]:
    """Return a function for the references that rewriting treats as loaded by a browser."""

    def rewrite(markup: str) -> References:
        links = RecordingRewriter(PAGE, TIMESTAMP)
        rewriter = HtmlRewriter(links)
        rewriter.feed(markup)
        rewriter.close()
        return {
            (url, REQUISITE_KINDS[use]) for url, use in links.rewritten if use in REQUISITE_KINDS
        }

    return rewrite


@pytest.fixture(scope="session")
def css() -> Callable[..., str]:
    """Return a function that rewrites a style sheet; with a ``seed``, in random small pieces."""

    def rewrite(sheet: str, *, seed: int | None = None) -> str:
        return feed_in_pieces(CssReferences(UrlRewriter(PAGE, TIMESTAMP).rewrite), sheet, seed)

    return rewrite
