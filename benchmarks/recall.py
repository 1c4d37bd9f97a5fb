"""Detection of pages that need a browser by their source: recall and false alarms.

Usage: python -m benchmarks.recall FOLDER [PATH...] [--whole CORPUS]

FOLDER contains built sites; it is served on loopback, and each PATH in it (by default all
``index.html``) loaded in a browser with and without scripts. A page needs a browser if less than
half of its words or drawn elements are there without scripts. Pages that have fewer than
``LEAST_WORDS`` words even with scripts are ignored. Recall is the share of pages that need a
browser and that the crawl's signals find. The share of other pages that raise the signals is
printed, too. CORPUS contains complete pages, ``NAME/source.html``: each that raises the signals is
a false alarm.
"""

import argparse
import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Error

from archiver.pages.requisites import discover_requisites
from benchmarks.render import kept, looking, serving, words

LEAST_WORDS = 10
NEEDED_BELOW = 0.5
_SETTLE_MS = 2500
_DRAWN = "[...document.body.querySelectorAll('*')].filter((e) => e.getClientRects().length).length"
_MAX_REQUISITES = 10


@dataclass(frozen=True, slots=True)
class Looked:
    """Measurements of a page: words with scripts, shares without scripts, and the signals."""

    path: str
    words: int
    without: float
    drawn: float
    has_signals: bool

    @property
    def needs_browser(self) -> bool:
        """Return whether less than half of it is there without scripts."""
        return min(self.without, self.drawn) < NEEDED_BELOW


def has_signals(content: bytes) -> bool:
    """Return whether the signals of the plain response are raised."""
    html = content.decode("utf-8", "replace")
    return discover_requisites(html, "https://example.org/", _MAX_REQUISITES).needs_browser


async def seen_at(browser: Browser, url: str, *, scripts: bool) -> tuple[str, int]:
    """Return the text of a page and the number of its drawn elements."""
    context = await browser.new_context(java_script_enabled=scripts)
    try:
        page = await context.new_page()
        await page.goto(url, wait_until="load", timeout=15_000)
        if scripts:
            await page.wait_for_timeout(_SETTLE_MS)
        return await page.inner_text("body", timeout=5_000), await page.evaluate(_DRAWN)
    finally:
        await context.close()


async def look_at(folder: Path, origin: str, paths: Sequence[str]) -> list[Looked]:
    rows = []
    async with looking() as browser:
        for path in paths:
            url = f"{origin}/{path}"
            try:
                text, elements = await seen_at(browser, url, scripts=True)
                text_without, remaining = await seen_at(browser, url, scripts=False)
            except Error as error:
                print(f"not shown: {path} ({error.message.splitlines()[0]})")
                continue
            live = words(text)
            if live.total() < LEAST_WORDS:
                print(f"nothing to read live: {path} ({live.total()} words)")
                continue
            content = await asyncio.to_thread((folder / path).read_bytes)
            shares = kept(live, text_without), remaining / max(elements, 1)
            rows.append(Looked(path, live.total(), *shares, has_signals(content)))
    return rows


def table_of(pages: Iterable[Looked]) -> Iterator[str]:
    """Yield the lines of a table with a summary."""
    needing, whole = [], []
    for each in pages:
        (needing if each.needs_browser else whole).append(each)
        shares = f"{each.without:8.1%} {each.drawn:8.1%}"
        state = "needs a browser" if each.needs_browser else "whole"
        signals = "signals" if each.has_signals else "-"
        yield f"{each.words:6} {shares}  {state:16} {signals:7} {each.path}"
    yield f"recall: {sum(p.has_signals for p in needing)} of {len(needing)} that need a browser"
    yield f"raised by others of these: {sum(each.has_signals for each in whole)} of {len(whole)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--whole", type=Path)
    options = parser.parse_args()
    every = (each.relative_to(options.folder) for each in options.folder.rglob("index.html"))
    paths = options.paths or sorted(map(str, every))
    with serving(options.folder) as origin:
        print(f"{'words':>6} {'without':>8} {'drawn':>8}  {'it':16} {'signs':5} page")
        for line in table_of(asyncio.run(look_at(options.folder, origin, paths))):
            print(line, flush=True)
    if options.whole:
        pages = sorted(options.whole.glob("*/source.html"))
        false = [each.parent.name for each in pages if has_signals(each.read_bytes())]
        print(f"false alarms: {len(false)} of {len(pages)} whole pages {false}")


if __name__ == "__main__":
    main()
