"""Which pages that need a browser are told by their source alone, and which are taken for some.

Usage: python -m benchmarks.recall FOLDER [PATH...] [--whole CORPUS]

FOLDER holds built sites; it is served on loopback, and each PATH in it (all its ``index.html``, if
none is named) shown by a browser with scripts and without. A page needs one if less than half of
its words, or of the elements that are drawn, is there without scripts; what has hardly a word with
them (``LEAST_WORDS``) does not count. Recall is how many of these the crawl's own signals find,
beside how many of the others raise them.
CORPUS holds whole pages, as ``NAME/source.html``: each that raises them is a false alarm.
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
_MOST_REQUISITES = 10


@dataclass(frozen=True, slots=True)
class Looked:
    """A page: its words with scripts, shares of words and elements without, and what is told."""

    path: str
    words: int
    without: float
    drawn: float
    told: bool

    @property
    def needs_browser(self) -> bool:
        """Whether less than half of it is there without scripts."""
        return min(self.without, self.drawn) < NEEDED_BELOW


def told(content: bytes) -> bool:
    """Whether the signals of the first look are raised."""
    html = content.decode("utf-8", "replace")
    return discover_requisites(html, "https://example.org/", _MOST_REQUISITES).needs_browser


async def seen_at(browser: Browser, url: str, *, scripts: bool) -> tuple[str, int]:
    """The text of a page, and how many of its elements are drawn."""
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
    found = []
    async with looking() as browser:
        for path in paths:
            url = f"{origin}/{path}"
            try:
                text, elements = await seen_at(browser, url, scripts=True)
                text_without, left = await seen_at(browser, url, scripts=False)
            except Error as error:
                print(f"not shown: {path} ({error.message.splitlines()[0]})")
                continue
            live = words(text)
            if live.total() < LEAST_WORDS:
                print(f"nothing to read live: {path} ({live.total()} words)")
                continue
            content = await asyncio.to_thread((folder / path).read_bytes)
            shares = kept(live, text_without), left / max(elements, 1)
            found.append(Looked(path, live.total(), *shares, told(content)))
    return found


def tell(found: Iterable[Looked]) -> Iterator[str]:
    """Lines of a table, and what they come to."""
    needing, whole = [], []
    for each in found:
        (needing if each.needs_browser else whole).append(each)
        shares = f"{each.without:8.1%} {each.drawn:8.1%}"
        state = "needs a browser" if each.needs_browser else "whole"
        yield f"{each.words:6} {shares}  {state:16} {'told' if each.told else '-':5} {each.path}"
    yield f"recall: {sum(each.told for each in needing)} of {len(needing)} that need a browser"
    yield f"raised by others of these: {sum(each.told for each in whole)} of {len(whole)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--whole", type=Path)
    asked = parser.parse_args()
    every = (each.relative_to(asked.folder) for each in asked.folder.rglob("index.html"))
    paths = asked.paths or sorted(map(str, every))
    with serving(asked.folder) as origin:
        print(f"{'words':>6} {'without':>8} {'drawn':>8}  {'it':16} {'signs':5} page")
        for line in tell(asyncio.run(look_at(asked.folder, origin, paths))):
            print(line, flush=True)
    if asked.whole:
        pages = sorted(asked.whole.glob("*/source.html"))
        false = [each.parent.name for each in pages if told(each.read_bytes())]
        print(f"false alarms: {len(false)} of {len(pages)} whole pages {false}")


if __name__ == "__main__":
    main()
