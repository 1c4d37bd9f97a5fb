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
from tests.rewriting import MOMENT, PAGE, fed, led_to

Pointed = set[tuple[str, RequisiteKind]]


class RecordingRewriter(UrlRewriter):
    """Rewriter that records the references it changed."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.led: list[tuple[str, Use]] = []

    def rewrite(self, reference, use):
        path = super().rewrite(reference, use)
        if path:
            self.led.append((join(self.base, reference.partition("#")[0]), use))
        return path

    def nested(self):
        inner = RecordingRewriter(self.base, MOMENT)
        inner.led = self.led
        return inner


@pytest.fixture(scope="session")
def discovered() -> Callable[[str], Pointed]:
    """Return a function for the references that discovery finds."""
    return lambda markup: {
        (each.url, each.kind) for each in discover_requisites(markup, PAGE, 1000).requisites
    }


@pytest.fixture(scope="session")
def loaded() -> Callable[[str], Pointed]:
    """Return a function for the references that rewriting treats as loaded by a browser."""

    def lead(markup: str) -> Pointed:
        links = RecordingRewriter(PAGE, MOMENT)
        rewriter = HtmlRewriter(links)
        rewriter.feed(markup)
        rewriter.close()
        return {(url, REQUISITE_KINDS[use]) for url, use in links.led if use in REQUISITE_KINDS}

    return lead


@pytest.fixture(scope="session")
def css() -> Callable[..., str]:
    """Return a function that rewrites a style sheet; with a ``seed``, in random small pieces."""

    def lead(sheet: str, *, seed: int | None = None) -> str:
        return fed(CssReferences(UrlRewriter(PAGE, MOMENT).rewrite), sheet, seed)

    return lead


@pytest.fixture(scope="session")
def led() -> Callable[..., str]:
    """Return a function for the rewritten form of a URL in the page."""
    return led_to
