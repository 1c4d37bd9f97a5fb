"""Prints search quality: nDCG@10 over 60 searches, and over 24 held-out ones.

Usage: python -m benchmarks.relevance [--each]

The collection contains the docstrings of Python's standard library (from the source of the running
Python, under its licence), a page for each module, and a few pages in Japanese, Chinese and Thai.
A person who knows the library graded the answers: 3 for the intended page, 2 for an equally good
one, 1 for a useful one. "newest" sorts by date, "best" by rank. The
held-out searches were added later and are not used for tuning; check a change of the ranking
with both.
"""

import argparse
import ast
import asyncio
import math
import random
import sys
import sysconfig
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from archiver.db.engine import Database
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import Search
from benchmarks.synthetic import Page, fill

TOP = 10
START = datetime(2020, 1, 1, tzinfo=UTC)
SOME_OF_OURS = {
    "ja-tokyo": (
        "東京の歴史",
        "東京は江戸と呼ばれていた。徳川家康が幕府を開き、江戸の町は大きくなった。",
    ),
    "ja-kyoto": ("京都の寺", "京都には多くの寺と神社がある。金閣寺は東京からも多くの人が訪れる。"),
    "ja-cats": ("猫の飼い方", "猫は水を飲むのが苦手である。毎日新しい水を用意し、猫の健康を守る。"),
    "zh-tea": ("中国茶文化", "中国是茶的故乡。绿茶、红茶和乌龙茶都很有名。泡茶的水温很重要。"),
    "zh-bread": ("面包的做法", "做面包需要面粉、水、盐和酵母。面团要发酵两个小时。"),
    "th-food": ("อาหารไทย", "ต้มยำกุ้งเป็นอาหารไทยที่มีชื่อเสียง มีรสเผ็ดและเปรี้ยว"),
    "th-travel": ("ท่องเที่ยวเชียงใหม่", "เชียงใหม่มีวัดและภูเขาสวยงาม อาหารเหนือก็อร่อย"),
}
QUERIES: dict[str, dict[str, int]] = {
    "parse command line arguments": {"argparse": 3, "optparse": 2, "getopt": 2},
    "command line options": {"optparse": 3, "argparse": 3, "getopt": 3},
    "read csv": {"csv": 3},
    "comma separated values": {"csv": 3},
    "json encoder": {"json.encoder": 3, "json": 3},
    "json decoder": {"json.decoder": 3, "json": 3},
    "regular expressions": {"re": 3},
    "temporary files": {"tempfile": 3},
    "temporary directory": {"tempfile": 3},
    "copy files": {"shutil": 3},
    "copy directory tree": {"shutil": 3},
    "zip archive": {"zipfile": 3, "zipapp": 2, "zipimport": 1},
    "tar archive": {"tarfile": 3},
    "gzip": {"gzip": 3},
    "bz2 compression": {"bz2": 3},
    "lzma": {"lzma": 3},
    "http server": {"http.server": 3, "socketserver": 1},
    "http client": {"http.client": 3, "urllib.request": 2},
    "http cookies": {"http.cookies": 3, "http.cookiejar": 3},
    "parse urls": {"urllib.parse": 3},
    "open urls": {"urllib.request": 3},
    "robots.txt": {"urllib.robotparser": 3},
    "send email smtp": {"smtplib": 3},
    "imap4 client": {"imaplib": 3},
    "pop3": {"poplib": 3},
    "ftp client": {"ftplib": 3},
    "mime types": {"mimetypes": 3},
    "base64 encoding": {"base64": 3, "email.base64mime": 2},
    "quoted printable": {"quopri": 3, "email.quoprimime": 3},
    "email message parser": {"email.parser": 3, "email.feedparser": 3, "email": 1},
    "email header": {"email.header": 3, "email.headerregistry": 2},
    "xml elementtree": {"xml.etree.ElementTree": 3},
    "minidom": {"xml.dom.minidom": 3},
    "sax parser": {"xml.sax": 3, "xml.sax.expatreader": 2, "xml.sax.handler": 2},
    "html parser": {"html.parser": 3},
    "html entities": {"html.entities": 3, "html": 2},
    "random numbers": {"random": 3, "secrets": 2},
    "cryptographically strong random": {"secrets": 3, "random": 1},
    "mean median mode": {"statistics": 3},
    "standard deviation": {"statistics": 3},
    "fractions": {"fractions": 3},
    "decimal arithmetic": {"_pydecimal": 3},
    "calendar": {"calendar": 3},
    "time zone": {"zoneinfo": 3, "datetime": 2},
    "heap queue": {"heapq": 3},
    "bisection": {"bisect": 3},
    "topological sort": {"graphlib": 3},
    "abstract base classes": {"abc": 3, "_collections_abc": 2},
    "context managers": {"contextlib": 3},
    "enumerations": {"enum": 3},
    "weak references": {"weakref": 3},
    "thread pool": {"concurrent.futures.thread": 3, "multiprocessing.pool": 2},
    "process pool": {"concurrent.futures.process": 3, "multiprocessing.pool": 3},
    "event loop": {"asyncio.events": 3, "asyncio.base_events": 3, "asyncio.unix_events": 2},
    "python debugger": {"pdb": 3, "bdb": 2},
    "profiler": {"profile": 3, "cProfile": 3, "pstats": 2},
    "東京": {"ja-tokyo": 3, "ja-kyoto": 1},
    "江戸の町": {"ja-tokyo": 3},
    "茶": {"zh-tea": 3},
    "อาหารไทย": {"th-food": 3},
}
HELD_OUT: dict[str, dict[str, int]] = {
    "sqlite database": {"sqlite3": 3, "dbm": 1},
    "unified diff": {"difflib": 3},
    "ip addresses": {"ipaddress": 3},
    "read ini files": {"configparser": 3},
    "unit tests": {"unittest": 3, "unittest.case": 2, "doctest": 1},
    "mock object": {"unittest.mock": 3},
    "pretty print": {"pprint": 3},
    "hash functions": {"hashlib": 3},
    "message authentication": {"hmac": 3},
    "serialize objects": {"pickle": 3, "shelve": 2},
    "wrap text": {"textwrap": 3},
    "file system paths": {"pathlib": 3, "posixpath": 2, "ntpath": 2},
    "subprocesses": {"subprocess": 3, "asyncio.subprocess": 2},
    "memory allocations": {"tracemalloc": 3},
    "universally unique identifiers": {"uuid": 3},
    "time a snippet of code": {"timeit": 3},
    "logging handlers": {"logging.handlers": 3, "logging": 2, "logging.config": 1},
    "file names with wildcards": {"fnmatch": 3, "glob": 3},
    "password prompt": {"getpass": 3},
    "event scheduler": {"sched": 3},
    "coroutine queue": {"asyncio.queues": 3, "queue": 1},
    "猫の健康": {"ja-cats": 3},
    "发酵": {"zh-bread": 3},
    "วัด": {"th-travel": 3},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", action="store_true", help="print every search")
    options = parser.parse_args()
    pages = [*library(), *(Page(name, *text) for name, text in SOME_OF_OURS.items())]
    random.Random(1).shuffle(pages)
    scores = asyncio.run(ask(pages))
    print(f"{len(pages)} pages, Python {sys.version.split()[0]}")
    for name, queries in (("known", QUERIES), ("held out", HELD_OUT)):
        print(f"{len(queries)} searches, {name}")
        for q in queries if options.each else ():
            print(f"  {q:34}" + "".join(f"{score:8.3f}" for score in scores[q].values()))
        for sort in (Sort.NEWEST, Sort.BEST):
            each = [scores[q][sort] for q in queries]
            print(f"nDCG@{TOP} {sort:8} {sum(each) / len(each):.3f}")


def library() -> list[Page]:
    """Return a page for each module of Python's library, with its docstrings."""
    root = Path(sysconfig.get_path("stdlib"))
    entries = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if {"test", "tests", "idlelib", "lib2to3", "site-packages", "pydoc_data"} & {*parts}:
            continue
        name = ".".join(parts).removesuffix(".__init__")
        docstring, texts = docstrings(path)
        if texts and name != "this":
            title = f"{name}: {docstring.splitlines()[0]}" if docstring else name
            entries.append(Page(name, title, "\n".join(texts)))
    return entries


def docstrings(path: Path) -> tuple[str, list[str]]:
    """Return the docstring of a module, and those of all its members."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return "", []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds)]
    return texts[0] or "", [text for text in texts if text]


async def ask(pages: list[Page]) -> dict[str, dict[Sort, float]]:
    """Return the nDCG@10 of each search in each order."""
    with tempfile.TemporaryDirectory() as directory:
        database = await Database.open(Path(directory) / "archive.sqlite3")
        urls = await fill(database, pages, START, timedelta(hours=1))
        names = {url: page.name for url, page in zip(urls, pages, strict=True)}
        search = Search(database, store=None)
        scores = {}
        for q, answers in {**QUERIES, **HELD_OUT}.items():
            scores[q] = {}
            for sort in (Sort.NEWEST, Sort.BEST):
                results = await search.listing(ListingQuery(q=q, sort=sort, limit=TOP))
                gains = [answers.get(names[each.entry.url], 0) for each in results.items]
                scores[q][sort] = ndcg(gains, [*answers.values()])
        await database.close()
    return scores


def ndcg(gains: list[int], answers: list[int]) -> float:
    """Return the discounted gain relative to the ideal order."""
    best = sorted(answers, reverse=True)[:TOP]
    return dcg(gains) / dcg(best)


def dcg(gains: list[int]) -> float:
    return sum((2**gain - 1) / math.log2(place + 2) for place, gain in enumerate(gains))


if __name__ == "__main__":
    main()
