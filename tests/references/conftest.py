"""What the tests of references share: how a page is discovered, and how it is led."""

import random
from collections.abc import Callable

import pytest

from archiver.html.requisites import find_requisites
from archiver.model.requisite import RequisiteKind
from archiver.references.css import CssReferences
from archiver.references.use import REQUISITE_KINDS, Use
from archiver.rewrite.html import HtmlRewriter
from archiver.rewrite.url_rewriter import UrlRewriter
from archiver.urls.parse import join

PAGE = "https://example.com/dir/page.html"
MOMENT = "20240229120001"
Pointed = set[tuple[str, RequisiteKind]]


class Watched(UrlRewriter):
    """Leads references, and remembers what it led into the archive."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.led: list[tuple[str, Use]] = []

    def lead(self, reference, use):
        path = super().lead(reference, use)
        if path:
            self.led.append((join(self.base, reference.partition("#")[0]), use))
        return path

    def nested(self):
        inner = Watched(self.base, MOMENT)
        inner.led = self.led
        return inner


@pytest.fixture(scope="session")
def discovered() -> Callable[[str], Pointed]:
    """What discovery names."""
    return lambda markup: {(each.url, each.kind) for each in find_requisites(markup, PAGE, 1000)}


@pytest.fixture(scope="session")
def loaded() -> Callable[[str], Pointed]:
    """What rewriting leads into the archive as something that a browser loads."""

    def lead(markup: str) -> Pointed:
        links = Watched(PAGE, MOMENT)
        rewriter = HtmlRewriter(links)
        rewriter.feed(markup)
        rewriter.close()
        return {(url, REQUISITE_KINDS[use]) for url, use in links.led if use in REQUISITE_KINDS}

    return lead


@pytest.fixture(scope="session")
def css() -> Callable[..., str]:
    """Leads a style sheet; with a ``seed``, in pieces of random small sizes."""

    def lead(sheet: str, *, seed: int | None = None) -> str:
        chosen, read = random.Random(seed), CssReferences(UrlRewriter(PAGE, MOMENT).lead)
        out, at = [], 0
        while at < len(sheet):
            size = len(sheet) if seed is None else chosen.choice((1, 1, 2, 3, 7, 20))
            out.append(read.feed(sheet[at : at + size]))
            at += size
        return "".join(out) + read.close()

    return lead


@pytest.fixture(scope="session")
def led() -> Callable[..., str]:
    """The path of a memento of the page's time; a relative URL is one beside the page."""

    def path(url: str, modifier: str = "") -> str:
        absolute = url if "://" in url else f"https://example.com/dir/{url}"
        return f"/web/{MOMENT}{modifier}/{absolute}"

    return path
