"""How faithfully articles are read, beside other extractors, in one run on the same pages.

Usage: python -m benchmarks.reading FOLDER [--node FOLDER] [--only NAMES] [--pages N]

FOLDER holds ``NAME/source.html``, the article each should give as ``NAME/expected.html``, and,
where it is known, ``NAME/expected-metadata.json`` (``title``, ``byline``, ``publishedTime``). A
page was at the address of ``NAME/url.txt``, or at http://fakehost/test/page.html. Text is compared
by its word 4-grams, mean over pages; of everything else it is counted how many of the expected
parts are in what was found (kept), and how many of those found are expected (clean), over all
pages. A block of text counts as kept where its words stand in a row anywhere in the other.
trafilatura, rs_trafilatura and resiliparse are tried where they are installed, and readability.js
and defuddle with ``--node``: a folder in which npm installed them and jsdom.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path

from readability import Document

from archiver.encoding.choose import decode_document
from archiver.html.article import extract_article
from benchmarks.article_parts import PARTS, Parts, embed_name, shared, take_apart
from benchmarks.capture import grams

FAKE_URL = "http://fakehost/test/page.html"
NODE = ("readability.js", "defuddle")
FACTS = ("title", "author", "date")
_RUNS = 3


@dataclass(frozen=True, slots=True)
class Page:
    """A page and what is to be read on it; facts that are not known are empty."""

    name: str
    url: str
    html: str
    expected: Parts
    facts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """What an extractor read: HTML, the facts it names, and CPU ms."""

    html: str
    facts: dict[str, str]
    cost: float = 0.0


Reader = Callable[[str, str], Reading]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--node", type=Path, help="a folder with node_modules")
    parser.add_argument("--only", default="", help="names of extractors, with commas")
    parser.add_argument("--pages", type=int, default=0, help="print so many pages, the worst first")
    options = parser.parse_args()
    pages = [*read_folder(options.folder)]
    available = readers()
    others = NODE if options.node else ()
    wanted = options.only.split(",") if options.only else [*available, *others]
    tables = {}
    for name in wanted:
        if name in others:
            readings = by_node(options.node, name, pages)
        else:
            readings = [cheapest(available[name], page) for page in pages]
        tables[name] = Table(pages, readings)
    print(f"{len(pages)} pages of {options.folder}")
    show(tables)
    for name, table in tables.items() if options.pages else ():
        table.show_worst(name, options.pages)


def read_folder(folder: Path) -> Iterable[Page]:
    """The pages of a folder that have an expected article."""
    for path in sorted(folder.glob("*/expected.html")):
        beside = path.parent
        address = beside / "url.txt"
        url = address.read_text().strip() if address.exists() else FAKE_URL
        body = (beside / "source.html").read_bytes()
        html = decode_document(body, "text/html", "", url).text
        expected = take_apart(path.read_text(encoding="utf-8"), url)
        yield Page(beside.name, url, html, expected, read_facts(beside))


def read_facts(folder: Path) -> dict[str, str]:
    """Title, author and date as they should be; without those that are not known."""
    path = folder / "expected-metadata.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    names = ("title", "byline", "publishedTime")
    found = {fact: known.get(name) or "" for fact, name in zip(FACTS, names, strict=True)}
    return {fact: value for fact, value in found.items() if value}


def readers() -> dict[str, Reader]:
    """Ours, and those that are installed."""
    found: dict[str, Reader] = {"ours": ours, "readability-lxml": readability_lxml}
    with suppress(ImportError):
        import trafilatura  # noqa: PLC0415 - not installed by us

        def by_trafilatura(html: str, url: str) -> Reading:
            kept = {"include_images": True, "include_links": True, "include_tables": True}
            out = trafilatura.extract(html, url=url, output_format="html", **kept)
            return Reading(out or "", {})

        found["trafilatura"] = by_trafilatura
    with suppress(ImportError):
        import rs_trafilatura  # noqa: PLC0415 - not installed by us

        def by_rs_trafilatura(html: str, url: str) -> Reading:
            out = rs_trafilatura.extract(html, url=url, include_images=True, include_links=True)
            facts = {"title": out.title or "", "author": out.author or "", "date": out.date or ""}
            return Reading(out.content_html or paragraphs(out.main_content), facts)

        found["rs-trafilatura"] = by_rs_trafilatura
    with suppress(ImportError):
        from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415 - likewise

        found["resiliparse"] = lambda html, _: Reading(
            paragraphs(extract_plain_text(html, main_content=True)), {}
        )
    return found


def paragraphs(text: str) -> str:
    """Text as HTML, a paragraph a line."""
    return "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))


def ours(html: str, url: str) -> Reading:
    """By this program."""
    article = extract_article(html, url)
    said = article.metadata
    return Reading(
        article.html, {"title": said.title, "author": said.byline, "date": said.published}
    )


def readability_lxml(html: str, _: str) -> Reading:
    """By the library, as it is."""
    document = Document(html)
    return Reading(document.summary(html_partial=True), {"title": document.short_title()})


def cheapest(read: Reader, page: Page) -> Reading:
    """What a reader reads, at the least CPU of a few times; nothing where it fails."""
    costs = []
    reading = Reading("", {})
    for _ in range(_RUNS):
        begun = time.process_time()
        with suppress(Exception):
            reading = read(page.html, page.url)
        costs.append(1000 * (time.process_time() - begun))
    return Reading(reading.html, reading.facts, min(costs))


def by_node(folder: Path, name: str, pages: list[Page]) -> list[Reading]:
    """What a library of npm reads; its first page is read twice, to start it."""
    script = Path(__file__).with_name("reading_others.mjs").resolve()
    asked = [json.dumps({"html": page.html, "url": page.url}) for page in (pages[0], *pages)]
    command = ["node", str(script), name]
    answered = subprocess.run(
        command, cwd=folder, input="\n".join(asked), check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()[1:]
    return [
        Reading(each.get("html") or "", {fact: each.get(fact) or "" for fact in FACTS}, each["ms"])
        for each in map(json.loads, answered)
    ]


class Table:
    """How one extractor did on all pages."""

    def __init__(self, pages: list[Page], readings: list[Reading]) -> None:
        self.cost = sum(each.cost for each in readings) / len(pages)
        self.texts: dict[str, tuple[float, float, float]] = {}
        self.kept: dict[str, list[int]] = {kind: [0, 0] for kind in PARTS}
        self.clean: dict[str, list[int]] = {kind: [0, 0] for kind in PARTS}
        self.facts: dict[str, list[int]] = {fact: [0, 0] for fact in FACTS}
        self.lost: dict[str, str] = {}
        for page, reading in zip(pages, readings, strict=True):
            self._add(page, reading)

    def _add(self, page: Page, reading: Reading) -> None:
        found = take_apart(reading.html, page.url)
        self.texts[page.name] = text_score(page.expected.text, found.text)
        lost = []
        for kind in PARTS:
            kept, clean = compare(kind, page.expected, found)
            for total, part in ((self.kept[kind], kept), (self.clean[kind], clean)):
                total[0] += part[0]
                total[1] += part[1]
            if kept[0] < kept[1]:
                lost.append(f"{kind} {kept[0]}/{kept[1]}")
        self.lost[page.name] = ", ".join(lost)
        for fact, value in page.facts.items():
            self.facts[fact][1] += 1
            self.facts[fact][0] += same(fact, value, reading.facts.get(fact, ""))

    def rows(self) -> list[tuple[str, str]]:
        """What is printed: a name and a value each."""
        recall, precision, score = (
            sum(part) / len(self.texts) for part in zip(*self.texts.values(), strict=True)
        )
        return [
            ("text F1", f"{score:.4f}"),
            ("text kept / clean", f"{recall:.3f} / {precision:.3f}"),
            *((kind, f"{ratio(self.kept[kind])} / {ratio(self.clean[kind])}") for kind in PARTS),
            *((fact, f"{right} of {count}") for fact, (right, count) in self.facts.items()),
            ("CPU ms a page", f"{self.cost:.1f}"),
        ]

    def show_worst(self, name: str, count: int) -> None:
        """Print the pages whose text was read worst, and what each lost."""
        print(f"\n{name}")
        for page, score in sorted(self.texts.items(), key=lambda each: each[1][2])[:count]:
            recall, precision, f1 = score
            print(f"  {f1:.3f} ({recall:.2f} / {precision:.2f}) {page}: {self.lost[page]}")


def text_score(expected: str, found: str) -> tuple[float, float, float]:
    """Recall, precision and F1 of a text's word 4-grams."""
    left, right = grams(expected), grams(found)
    both = sum((left & right).values())
    wanted, given = sum(left.values()), sum(right.values())
    recall = both / wanted if wanted else 1.0
    precision = both / given if given else float(not wanted)
    return recall, precision, 2 * both / (wanted + given) if wanted + given else 1.0


def compare(kind: str, expected: Parts, found: Parts) -> tuple[tuple[int, int], tuple[int, int]]:
    """(kept, expected) and (clean, found) of one kind of part."""
    wanted, given = expected.found[kind], found.found[kind]
    if kind == "paragraphs":
        return contained(wanted, found.words), contained(given, expected.words)
    if kind == "embeds":
        return embeds_kept(wanted, found), (0, 0)
    both = shared(wanted, given)
    return (both, len(wanted)), (both, len(given))


def contained(blocks: list[frozenset[str]], words: tuple[str, ...]) -> tuple[int, int]:
    """How many of the blocks stand in a text."""
    text = f" {' '.join(words)} "
    return sum(any(f" {each} " in text for each in keys) for keys in blocks), len(blocks)


def embeds_kept(wanted: list[frozenset[str]], found: Parts) -> tuple[int, int]:
    """How many of what is embedded is there still, or linked to."""
    named = {
        embed_name(key)
        for kind in ("links", "embeds")
        for keys in found.found[kind]
        for key in keys
    }
    addresses = " ".join(key for keys in found.found["links"] for key in keys)
    kept = sum(
        any(embed_name(key) in named or f"{embed_name(key)}" in addresses for key in keys)
        for keys in wanted
    )
    return kept, len(wanted)


def same(fact: str, expected: str, found: str) -> bool:
    """Whether a fact is the one expected: words folded, dates by their day."""
    if fact == "date":
        return expected[:10] == found[:10]
    left, right = (" ".join(value.split()).removeprefix("By ") for value in (expected, found))
    return left.lower() == right.lower()


def ratio(part: list[int]) -> str:
    """A share, and of how many."""
    return f"{part[0] / part[1]:.3f} of {part[1]}" if part[1] else "-"


def show(tables: dict[str, Table]) -> None:
    """Print a column for each extractor."""
    columns = [table.rows() for table in tables.values()]
    print(f"{'':20}" + "".join(f"{name:>30}" for name in tables))
    for row in zip(*columns, strict=True):
        print(f"{row[0][0]:20}" + "".join(f"{value:>30}" for _, value in row))


if __name__ == "__main__":
    main()
