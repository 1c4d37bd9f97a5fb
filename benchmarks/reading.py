"""Quality of article extraction compared with other extractors on the same pages.

Usage: python -m benchmarks.reading FOLDER [--others FOLDER] [--program NAME=PATH] [--only NAMES]
       [--pages N]

FOLDER contains ``NAME/source.html``, the expected article ``NAME/expected.html``, and optionally
``NAME/expected-metadata.json`` (``title``, ``byline``, ``publishedTime``). The URL of a page is in
``NAME/url.txt``, by default http://fakehost/test/page.html. Text is compared by word 4-grams,
averaged over pages; for all other parts the output is the share of expected parts found (kept)
and of found parts expected (clean), over all pages. Our text is measured without its head, which
is the title and the lead picture. *As seen* applies the corrections of ``reading_shown.py``. A
block of text counts as kept if its words are in sequence in the other text. trafilatura,
rs_trafilatura and resiliparse are included if installed. With ``--others``, a folder to build in,
readability.js, defuddle, go-readability, dom_smoothie and legible are included if npm, Go or Rust
is installed; with ``--program``, any program with the protocol of ``extractors/programs.py``.
"""

import argparse
import json
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from archiver.http.encoding_detection import decode_document
from archiver.pages.metadata import read_metadata
from archiver.pages.parsing import parse
from benchmarks.article_parts import PARTS, Parts, embed_name, shared, take_apart
from benchmarks.capture import grams
from benchmarks.extractors.in_python import readers
from benchmarks.extractors.programs import commands, read_all
from benchmarks.extractors.reading import FACTS, Reader, Reading
from benchmarks.reading_shown import KINDS, judged_right, read_judged, without_title

FAKE_URL = "http://fakehost/test/page.html"
_RUNS = 3


@dataclass(frozen=True, slots=True)
class Page:
    """A page and its expected article; unknown metadata is empty."""

    name: str
    url: str
    html: str
    expected: Parts
    facts: dict[str, str]
    title: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--others", type=Path, help="a folder to build extractors in")
    parser.add_argument("--program", action="append", default=[], help="NAME=PATH of one more")
    parser.add_argument("--only", default="", help="names of extractors, with commas")
    parser.add_argument("--pages", type=int, default=0, help="print so many pages, the worst first")
    options = parser.parse_args()
    pages = [*read_folder(options.folder)]
    tables = {name: Table(pages, readings) for name, readings in read_by_all(options, pages)}
    print(f"{len(pages)} pages of {options.folder}")
    show(tables)
    for name, table in tables.items() if options.pages else ():
        table.show_worst(name, options.pages)


def read_by_all(options: Namespace, pages: list[Page]) -> Iterator[tuple[str, list[Reading]]]:
    """Yield the results of each selected extractor for every page."""
    programs = list(filter(None, options.only.split(",")))
    for name, read in readers().items():
        if not programs or name in programs:
            yield name, [cheapest(read, page) for page in pages]
    command_lines = commands(options.others, programs) if options.others else {}
    for option in options.program:
        name, _, path = option.partition("=")
        command_lines[name] = [path, name]
    for name, command in command_lines.items():
        yield name, read_all(command, [(page.html, page.url) for page in pages])


def read_folder(folder: Path) -> Iterable[Page]:
    """Return the pages of a folder that have an expected article."""
    for path in sorted(folder.glob("*/expected.html")):
        folder_of_page = path.parent
        address = folder_of_page / "url.txt"
        url = address.read_text().strip() if address.exists() else FAKE_URL
        body = (folder_of_page / "source.html").read_bytes()
        html = decode_document(body, "text/html", "", url).text
        expected = take_apart(path.read_text(encoding="utf-8"), url)
        tree = parse(html)
        title = read_metadata(tree, url).title if tree else ""
        yield Page(folder_of_page.name, url, html, expected, read_facts(folder_of_page), title)


def read_facts(folder: Path) -> dict[str, str]:
    """Return the expected title, author and date; unknown ones are empty."""
    path = folder / "expected-metadata.json"
    facts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    names = ("title", "byline", "publishedTime")
    by_fact = {fact: facts.get(name) or "" for fact, name in zip(FACTS, names, strict=True)}
    return {fact: value for fact, value in by_fact.items() if value}


def cheapest(read: Reader, page: Page) -> Reading:
    """Return a reader's result with the least CPU of several runs; empty if it fails."""
    costs = []
    reading = Reading("", {})
    for _ in range(_RUNS):
        started = time.process_time()
        with suppress(Exception):
            reading = read(page.html, page.url)
        costs.append(1000 * (time.process_time() - started))
    return Reading(reading.html, reading.facts, min(costs))


class Table:
    """Results of one extractor over all pages."""

    def __init__(self, pages: list[Page], readings: list[Reading]) -> None:
        self.cost = sum(each.cost for each in readings) / len(pages)
        self.texts: dict[str, tuple[float, float, float]] = {}
        self.kept: dict[str, list[int]] = {kind: [0, 0] for kind in PARTS}
        self.clean: dict[str, list[int]] = {kind: [0, 0] for kind in PARTS}
        self.shown: dict[str, list[list[int]]] = {kind: [[0, 0], [0, 0]] for kind in KINDS}
        self.judged = read_judged()
        self.facts: dict[str, list[int]] = {fact: [0, 0] for fact in FACTS}
        self.lost: dict[str, str] = {}
        for page, reading in zip(pages, readings, strict=True):
            self._add(page, reading)

    def _add(self, page: Page, reading: Reading) -> None:
        extracted = take_apart(reading.html, page.url)
        self.texts[page.name] = text_score(page.expected.text, extracted.text)
        lost = []
        for kind in PARTS:
            shared_count, clean = compare(kind, page.expected, extracted)
            for total, part in ((self.kept[kind], shared_count), (self.clean[kind], clean)):
                total[0] += part[0]
                total[1] += part[1]
            if shared_count[0] < shared_count[1]:
                lost.append(f"{kind} {shared_count[0]}/{shared_count[1]}")
        self.lost[page.name] = ", ".join(lost)
        self._add_shown(page, extracted)
        for fact, value in page.facts.items():
            self.facts[fact][1] += 1
            self.facts[fact][0] += same(fact, value, reading.facts.get(fact, ""))

    def _add_shown(self, page: Page, extracted: Parts) -> None:
        """Count the parts as a reader sees them, without the title and with manual judgements."""
        for kind, totals in self.shown.items():
            expected, extracted_parts = page.expected.found[kind], extracted.found[kind]
            if kind == "headings":
                expected, extracted_parts = (
                    without_title(each, page.title) for each in (expected, extracted_parts)
                )
            right = judged_right(extracted_parts, self.judged.get(page.name, {}).get(kind, ()))
            counted = (
                (shared(expected, extracted_parts), len(expected)),
                (shared([*expected, *right], extracted_parts), len(extracted_parts)),
            )
            for total, part in zip(totals, counted, strict=True):
                total[0] += part[0]
                total[1] += part[1]

    def rows(self) -> list[tuple[str, str]]:
        """Return the names and values to print."""
        recall, precision, score = (
            sum(part) / len(self.texts) for part in zip(*self.texts.values(), strict=True)
        )
        return [
            ("text F1", f"{score:.4f}"),
            ("text kept / clean", f"{recall:.3f} / {precision:.3f}"),
            *((kind, f"{ratio(self.kept[kind])} / {ratio(self.clean[kind])}") for kind in PARTS),
            *((f"as seen: {each}", " / ".join(map(ratio, self.shown[each]))) for each in KINDS),
            *((fact, f"{right} of {count}") for fact, (right, count) in self.facts.items()),
            ("CPU ms a page", f"{self.cost:.1f}"),
        ]

    def show_worst(self, name: str, count: int) -> None:
        """Print the pages with the lowest text scores."""
        print(f"\n{name}")
        for page, score in sorted(self.texts.items(), key=lambda each: each[1][2])[:count]:
            recall, precision, f1 = score
            print(f"  {f1:.3f} ({recall:.2f} / {precision:.2f}) {page}: {self.lost[page]}")


def text_score(expected: str, extracted: str) -> tuple[float, float, float]:
    """Return recall, precision and F1 of a text's word 4-grams."""
    left, right = grams(expected), grams(extracted)
    both = sum((left & right).values())
    expected_count, extracted_count = sum(left.values()), sum(right.values())
    recall = both / expected_count if expected_count else 1.0
    precision = both / extracted_count if extracted_count else float(not expected_count)
    return (
        recall,
        precision,
        2 * both / (expected_count + extracted_count) if expected_count + extracted_count else 1.0,
    )


def compare(
    kind: str, expected: Parts, extracted: Parts
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return (kept, expected) and (clean, found) of one kind of part."""
    expected_parts, extracted_parts = expected.found[kind], extracted.found[kind]
    if kind == "paragraphs":
        return contained(expected_parts, extracted.words), contained(
            extracted_parts, expected.words
        )
    if kind == "embeds":
        return embeds_kept(expected_parts, extracted), (0, 0)
    both = shared(expected_parts, extracted_parts)
    return (both, len(expected_parts)), (both, len(extracted_parts))


def contained(blocks: list[frozenset[str]], words: tuple[str, ...]) -> tuple[int, int]:
    """Return how many of the blocks are in a text."""
    text = f" {' '.join(words)} "
    return sum(any(f" {each} " in text for each in keys) for keys in blocks), len(blocks)


def embeds_kept(expected: list[frozenset[str]], extracted: Parts) -> tuple[int, int]:
    """Return how many expected embeds an article contains or links to, and their number."""
    named = {
        embed_name(key)
        for kind in ("links", "embeds")
        for keys in extracted.found[kind]
        for key in keys
    }
    addresses = " ".join(key for keys in extracted.found["links"] for key in keys)
    count = sum(
        any(embed_name(key) in named or f"{embed_name(key)}" in addresses for key in keys)
        for keys in expected
    )
    return count, len(expected)


def same(fact: str, expected: str, extracted: str) -> bool:
    """Return whether metadata matches: words case-folded, dates by day."""
    if fact == "date":
        return expected[:10] == extracted[:10]
    left, right = (" ".join(value.split()).removeprefix("By ") for value in (expected, extracted))
    return left.lower() == right.lower()


def ratio(part: list[int]) -> str:
    """Return a share with its total."""
    return f"{part[0] / part[1]:.3f} of {part[1]}" if part[1] else "-"


def show(tables: dict[str, Table]) -> None:
    """Print a column for each extractor."""
    columns = [table.rows() for table in tables.values()]
    print(f"{'':24}" + "".join(f"{name:>30}" for name in tables))
    for row in zip(*columns, strict=True):
        print(f"{row[0][0]:24}" + "".join(f"{value:>30}" for _, value in row))


if __name__ == "__main__":
    main()
