"""CPU cost of a page in our crawl, compared with the best library for each stage alone.

Usage: python -m benchmarks.stages FOLDER [--copies N]

FOLDER contains ``NAME/source.html`` and ``NAME/expected.html``. The output is CPU ms per page for
the same pages and resources, from a loopback server; and the quality of the articles: the F1 of
word 4-grams with the expected text, averaged over pages. trafilatura is included if installed.
"""

import argparse
import hashlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import ada_url
from readability import Document
from selectolax.lexbor import LexborHTMLParser
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from archiver.http.encoding_detection import decode_document
from archiver.pages.article.extraction import extract_article
from archiver.pages.article_text import to_text
from archiver.pages.requisites import discover_requisites
from benchmarks.capture import _TAG, f1
from benchmarks.crawl import crawl_settings
from benchmarks.measure import measure
from benchmarks.pages import PageServer, read_pages

REFERENCES = "img[src], link[href], source[src], script[src], iframe[src], video[src], input[src]"
ROW = "INSERT INTO capture VALUES (?, ?, ?, ?, ?)"
Texts = dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=4)
    options = parser.parse_args()
    pages = read_pages(options.folder)
    with PageServer(pages) as server, tempfile.TemporaryDirectory() as directory:
        urls = [server.url(n) for n in range(options.copies * len(pages))]
        listing = Path(directory) / "urls.txt"
        listing.write_text("".join(f"{url}\n" for url in urls))
        ours = {name: our_crawl(listing, Path(directory) / name, name) for name in ("now", "later")}
        bodies = [server.answer(url.removeprefix(server.base).encode())[1] for url in urls]
        texts = {
            url: decode_document(body, "text/html", "", url).text
            for url, body in zip(urls, bodies, strict=True)
        }
        needs = {
            url: [each.url for each in discover_requisites(texts[url], url, 500).requisites]
            for url in urls
        }
        every = [url for page in urls for url in (page, *needs[page])]
        stages = {
            "fetch (aiohttp, uvloop)": fetching(every, Path(directory)) / len(urls),
            **alone(server, every, texts),
        }
    articles = read_articles(dict(list(texts.items())[: len(pages)]))
    scores = {
        name: mean_score(options.folder, [*pages], contents)
        for name, (_, contents) in articles.items()
    }
    best = max(("readability-lxml", "trafilatura"), key=lambda name: scores.get(name, 0.0))
    show(stages, articles, scores, best, ours)


def our_crawl(listing: Path, directory: Path, articles: str) -> float:
    """Return CPU ms per page of ``archiver crawl``, without starting the program."""
    directory.mkdir()
    environment = os.environ | crawl_settings(directory / "data", 32)
    environment |= {"ARCHIVER_ARTICLES": articles, "ARCHIVER_LOG_LEVEL": "error"}
    idle = measure(["-m", "archiver", "crawl"], environment).cpu
    measure(["-m", "archiver", "import", str(listing), "--no-crawl"], environment)
    cost = measure(["-m", "archiver", "crawl"], environment)
    return 1000 * (cost.cpu - idle) / len(listing.read_text().split())


def fetching(urls: Sequence[str], directory: Path) -> float:
    """Return CPU ms of fetching everything with a pool of 32, without starting the program."""
    costs = []
    for batch in (urls[:1], urls):
        listing = directory / "every.txt"
        listing.write_text("".join(f"{url}\n" for url in batch))
        costs.append(measure(["-m", "benchmarks.simple_clients", "pool", str(listing), "32"]).cpu)
    return 1000 * (costs[1] - costs[0])


def alone(server: PageServer, every: Sequence[str], texts: Texts) -> dict[str, float]:
    """Return CPU ms per page of the stages other than fetching and extraction."""
    exchanges = [(url, *server.answer(url.removeprefix(server.base).encode())) for url in every]
    count = len(texts)
    return {
        "hash (hashlib)": timed(lambda: [hashlib.sha256(body) for _, _, body in exchanges]) / count,
        "WARC records (warcio)": timed(lambda: write_warc(exchanges)) / count,
        "requisites (selectolax, ada)": timed(lambda: [*map(references, texts.values(), texts)])
        / count,
        "rows (sqlite3, FTS5)": timed(lambda: write_rows(exchanges, texts)) / count,
    }


def timed(work: Callable[[], object]) -> float:
    """Return CPU ms of one call, the minimum of two."""
    costs = []
    for _ in range(2):
        started = time.process_time()
        work()
        costs.append(1000 * (time.process_time() - started))
    return min(costs)


def write_warc(exchanges: Sequence[tuple[str, bytes, bytes]]) -> None:
    """Write a compressed response and request record for each, with warcio."""
    writer = WARCWriter(BytesIO(), gzip=True)
    for url, kind, body in exchanges:
        head = StatusAndHeaders("200 OK", [("Content-Type", kind.decode())], protocol="HTTP/1.1")
        answer = writer.create_warc_record(
            url, "response", payload=BytesIO(body), http_headers=head
        )
        ask = StatusAndHeaders("GET / HTTP/1.1", [("User-Agent", "x")], is_http_request=True)
        writer.write_request_response_pair(
            writer.create_warc_record(url, "request", http_headers=ask), answer
        )


def references(text: str, base: str) -> list[str]:
    """Return the absolute URLs in a page's elements."""
    results = []
    for node in LexborHTMLParser(text).css(REFERENCES):
        reference = node.attributes.get("src") or node.attributes.get("href")
        with suppress(ValueError):
            results.append(ada_url.join_url(base, reference or ""))
    return results


def write_rows(exchanges: Sequence[tuple[str, bytes, bytes]], texts: Texts) -> None:
    """Insert a row for each capture by URL, and index the text of each page."""
    with tempfile.TemporaryDirectory() as directory:
        conn = sqlite3.connect(f"{directory}/index")
        conn.execute("CREATE TABLE capture (url, at, kind, digest, length)")
        conn.execute("CREATE INDEX by_url ON capture (url, at)")
        conn.execute("CREATE VIRTUAL TABLE search USING fts5(text, content='')")
        rows = [(url, n, kind, url, len(body)) for n, (url, kind, body) in enumerate(exchanges)]
        conn.executemany(ROW, rows)
        words = ((to_text(text[:20_000]),) for text in texts.values())
        conn.executemany("INSERT INTO search (text) VALUES (?)", words)
        conn.commit()
        conn.close()


def read_articles(texts: Texts) -> dict[str, tuple[float, list[str]]]:
    """Return CPU ms per page, and the texts, of each way to extract an article."""
    ways: dict[str, Callable[[str, str], str]] = {
        "ours": lambda text, url: extract_article(text, url).text,
        "readability-lxml": lambda text, _: to_text(Document(text).summary(html_partial=True)),
    }
    with suppress(ImportError):
        import trafilatura  # noqa: PLC0415 - not installed by us

        ways["trafilatura"] = lambda text, _: trafilatura.extract(text) or ""
    articles = {}
    for name, read in ways.items():
        started = time.process_time()
        read_texts = [read(text, url) for url, text in texts.items()]
        articles[name] = (1000 * (time.process_time() - started) / len(texts), read_texts)
    return articles


def mean_score(folder: Path, names: Sequence[str], texts: Sequence[str]) -> float:
    """Return the mean F1 of texts with those expected."""
    scores = []
    for name, text in zip(names, texts, strict=True):
        expected = (folder / name / "expected.html").read_text(encoding="utf-8")
        scores.append(f1(text, to_text(_TAG.sub("", expected))))
    return sum(scores) / len(scores)


def show(
    stages: dict[str, float],
    articles: dict[str, tuple[float, Any]],
    scores: dict[str, float],
    best: str,
    ours: dict[str, float],
) -> None:
    """Print the table."""
    rows = stages | {f"article ({best}, F1 {scores[best]:.3f})": articles[best][0]}
    for name, cost in rows.items():
        print(f"{name:44}{cost:8.2f}")
    for what, alone_, mine in (
        ("all of it", sum(rows.values()), ours["now"]),
        ("articles later", sum(stages.values()), ours["later"]),
    ):
        print(f"{'sum, ' + what:44}{alone_:8.2f}")
        print(f"{'archiver crawl, ' + what:44}{mine:8.2f}   {mine / alone_:.2f} x")
    for name, (cost, _) in articles.items():
        print(f"article by {name:33}{cost:8.2f}   F1 {scores[name]:.4f}")


if __name__ == "__main__":
    main()
