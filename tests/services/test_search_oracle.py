"""Queries find the same pages as evaluating the query on every page."""

import asyncio
import re
import unicodedata
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archiver.db import attempts, captures, new_entries, segment_rows, snapshots, visit_results
from archiver.db.engine import Database
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation, Highlight
from archiver.model.capture import Capture, HashUrl, Location, PayloadDigest, RecordId
from archiver.model.failure import Failure, FailureKind
from archiver.model.imports import CaptureWhen
from archiver.model.listing import ListingQuery, Sort, snapshot_kind
from archiver.model.page import PageMetadata
from archiver.model.seed import Seed
from archiver.search.query_parser import parse_query
from archiver.search.query_tree import (
    All,
    Any,
    Column,
    Condition,
    FieldCondition,
    Not,
    Term,
    conjunction,
    disjunction,
    negate,
    query_text,
)
from archiver.search.search_document import index_words, link_document, page_document
from archiver.search.words import words_of
from archiver.services.search import Search, matching_entries

START = datetime(2019, 2, 27, 12, tzinfo=UTC)
SEGMENT = "archiver-20260301120000-0123456789ab-00001.warc.gz"


@dataclass(frozen=True)
class Page:
    """Known data of an entry.

    ``score`` and ``changed`` are hundredths of its snapshot; ``marked`` are highlighted words.
    """

    url: str
    title: str = ""
    text: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    by: str = ""
    language: str = ""
    published: str = ""
    media_type: str = "text/html"
    status: int = 200
    missing: int = 0
    state: str = "saved"
    source: str = "web"
    is_read: bool = False
    is_starred: bool = False
    lists: tuple[str, ...] = ()
    score: int = 100
    changed: int = 0
    marked: str = ""
    added: datetime = START


FEED = "https://a.example/feed.xml?a=b_c"
# fmt: off
PAGES = [
    replace(page, added=START + timedelta(days=40 * n))
    for n, page in enumerate([
        Page("http://a.example/kites", "Red kites", "the red kite and the paper kite " * 30,
             lists=("Birds/Kites", "Unread"), changed=25),
        Page("http://www.a.example/b", "Paper", "paper kite, red paper", note="a red note",
             lists=("Birds",), score=40),
        Page("http://b.example:8080/x", "東京の鳥", "東京都で鳶を見た。猫もいた", language="ja",
             lists=("鳥/東京", "BIRDS/Kites"), score=99),
        Page("http://b.example/y", "Tokyo", "京都と東京", tags=("鳥", "to read"), language="ja-JP",
             lists=("鳥",), changed=1),
        Page("http://127.0.0.1/z", "Café", "naïve résumé", tags=("Café",), by="Zoë Red",
             lists=("Café",)),
        Page("http://c.example/red-kite.pdf", "file", media_type="application/pdf"),
        Page("http://c.example/i.png", media_type="image/png", tags=("to read",)),
        Page("http://c.example/gone", "not here", "red", status=404, missing=2, score=0),
        Page("http://www.a.example/w", "A kite that waits", state="queued", tags=("Café",),
             lists=("Birds/Kites",)),
        Page("http://d.example/f", "A red kite that failed", note="kite", state="failed",
             lists=("Birdsong", "Birds/Owls and\\/or kites")),
        Page("http://d.example/l", "A kite as a link", state="link", lists=("Birds/Kites",)),
        Page("http://d.example/en", "Reading", "kite", language="en-GB", published="2019-03-05"),
        Page("http://d.example/pt", "Ler", "papel", language="pt_BR", published="2020-01",
             is_read=True, marked="the red papel"),
        Page("http://a.example/star", "Star", "kiteing kite red", is_starred=True,
             source="import:my.html"),
        Page("http://xa.example/star", "ภาษาไทย", "ที่นี่ภาษาไทยดี hello", published="May 2019"),
        Page("http://e.example/str%C3%A4%C3%9Fe?q=a-b_c&x=1", "Straße İstanbul ﬁnal",
             "GROẞE Straße, e-mail; don\u2019t: C++ C# 3.14 1,000 AT&T", tags=("e-mail", "C++"),
             by="O'Brien, Łukasz"),
        Page("http://f.example/h", "한국어 검색", "서울특별시 문장 안에서 ﾃｽﾄ ガギグ ｶﾞ",
             tags=("한국",)),
        Page("http://g.example/ar", "العَرَبِيَّة", "مُحَمَّد كتاب الكتاب हिन्दी में खोज क्षेत्र"),
        Page("http://h.example/th", "ภาษา", "กรุงเทพมหานครเป็นเมืองหลวง น้ำใจ 123",
             tags=("กรุงเทพ",)),
        Page("http://i.example/emo", "🦊 fox", "½ ² x² ① Ⅷ \uff46\uff55\uff4c\uff4c \U0001d4b3",
             note="\u017f \u212b Å", source=f"feed:{FEED}"),
    ])
]
# fmt: on
FAILURE = Failure(FailureKind.HTTP_STATUS, "Gone.", 410)
REASONS = ("410", "http-status", "http-status 410")


async def build(path: Path) -> None:
    database = await Database.open(path)
    async with database.write() as conn:
        await segment_rows.set_indexed_with_ids(conn, {SEGMENT: 1})
        for n, page in enumerate(PAGES):
            await index(conn, n, page)
    await database.close()


async def index(conn, n, page):
    annotation = Annotation(
        page.url,
        page.added,
        page.title,
        page.tags,
        page.note,
        page.source,
        page.is_read,
        page.is_starred,
        page.lists,
        highlights=(Highlight("0" * 16, page.marked),) if page.marked else (),
    )
    seed = Seed(HashUrl(hash_url(page.url)), page.url, host(page.url), annotation)
    when = CaptureWhen.NEVER if page.state == "link" else CaptureWhen.NOW
    await new_entries.receive(conn, [seed], now=page.added, recapture=False, capture=when)
    common = {"url": page.url, "host": host(page.url), "revision": 0}
    if page.state == "failed":
        failed = attempts.FailedAttempt(
            n + 1,
            page.added,
            FAILURE,
            final=True,
            search_document=link_document(annotation, **common),
        )
        await attempts.add_failures(conn, [failed])
    if page.state != "saved":
        return
    metadata = PageMetadata(
        byline=page.by, language=page.language, published=page.published, title=page.title
    )
    capture = Capture(
        url=page.url,
        timestamp=to_timestamp(page.added),
        status=page.status,
        media_type=page.media_type,
        payload_digest=PayloadDigest(f"sha256:{n:064x}"),
        payload_length=1,
        record_id=RecordId(f"urn:uuid:{n}"),
        location=Location(SEGMENT, n + 1, 1),
    )
    rows = await captures.insert_all(conn, [capture])
    snapshot = visit_results.NewSnapshot(
        entry_id=n + 1,
        timestamp=capture.timestamp,
        at=page.added,
        capture_id=rows[capture.record_id],
        final_url=page.url,
        status=page.status,
        media_type=page.media_type,
        metadata=metadata,
        requisite_count=page.missing,
        missing_count=page.missing,
        article=None,
        extractor="1",
        record=capture.location,
        score=page.score,
        search_document=page_document(
            annotation,
            metadata,
            urls=(page.url,),
            host=host(page.url),
            media_type=page.media_type,
            words=index_words(page.text),
            revision=0,
        ),
    )
    await visit_results.add_snapshots(conn, [snapshot])
    if page.changed:
        await snapshots.store_comparisons(conn, [(n + 1, int(capture.timestamp), page.changed)])


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("oracle") / "archive.sqlite3"
    asyncio.run(build(path))
    return path


def matches(node, page) -> bool:
    """Return whether a page matches a query, as described in the help."""
    if isinstance(node, All):
        return all(matches(each, page) for each in node.nodes)
    if isinstance(node, Any):
        return any(matches(each, page) for each in node.nodes)
    if isinstance(node, Not):
        return not matches(node.node, page)
    if isinstance(node, Term):
        return has_document(page) and any(holds(text, node) for text in texts(page, node.column))
    return has_happened(node, page)


def texts(page, column):
    has_text = page.state == "saved"
    parts = {
        Column.TITLE: page.title,
        Column.NOTE: f"{page.note} {page.marked}",
        Column.URL: page.url.partition("://")[2],
        Column.AUTHOR: page.by if has_text else "",
        "text": page.text if has_text else "",
        "tags": " ".join(page.tags),
    }
    return [parts[column]] if column else parts.values()


def holds(text, term) -> bool:
    """Return whether the words of a term are adjacent; text without spaces by characters."""
    spaced = f" {' '.join(atoms(text))} "
    phrase = " ".join(atoms(term.text))
    return f" {phrase}" in spaced if term.prefix else f" {phrase} " in spaced


def atoms(text):
    """Return words without accents; each character of text without spaces is a word."""
    marked = re.sub("([\u0e01-\u0e4f\u3041-\u30ff\u4e00-\u9fff])", r" \1 ", plain(text))
    return "".join(
        each if each.isalnum() or unicodedata.category(each) in ("Mn", "Mc") else " "
        for each in marked
    ).split()


def plain(text):
    """Return a text without accents and strokes, in lower case."""
    text = unicodedata.normalize("NFKC", text).lower().replace("ł", "l")
    return "".join(
        each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each)
    )


def has_happened(node, page) -> bool:
    return IS_SO[node.condition](page, node.value)


def has_words(page, value) -> bool:
    count = len(index_words(page.text).split()) if is_saved(page) else 0
    return has_document(page) and is_among(count, value)


def is_among(number, value) -> bool:
    most = number if value.most is None else value.most
    return (value.least or 0) <= number <= most


def is_in_list(page, value) -> bool:
    """Return whether a page is in a list; with a final slash, also in nested lists."""
    path = plain(value.removesuffix("/"))
    paths = [plain(each) for each in page.lists]
    return path in paths or (
        value.endswith("/") and any(each.startswith(f"{path}/") for each in paths)
    )


def is_within(moment, value) -> bool:
    first, end = value.span(NOW)
    return bool(moment) and not (first and moment < first) and not (end and moment >= end)


def is_of_site(page, value) -> bool:
    page_host = host(page.url)
    bare = page_host.partition(":")[0]
    return value in (page_host, bare) or (bare.endswith(f".{value}") and not bare[0].isdigit())


def is_in(page, value) -> bool:
    language = page.language.lower().replace("_", "-")
    return is_saved(page) and (language == value or language.startswith(f"{value}-"))


def has_status(page, value) -> bool:
    if value == "4xx":
        return is_saved(page) and page.status // 100 == 4
    return (is_saved(page) and str(page.status) == value) or page.state == value


def is_marked(page, value) -> bool:
    return {
        "read": page.is_read,
        "unread": not page.is_read,
        "starred": page.is_starred,
        "failed": page.state == "failed",
        "waiting": page.state == "queued",
        "gap": is_saved(page) and page.missing > 0,
        "gone": (is_saved(page) and page.status in (404, 410)) or page.state == "failed",
        "untagged": not page.tags,
        "highlighted": bool(page.marked),
        "changed": page.changed > 0,
        "link": page.state == "link",
        "unrendered": False,
    }[value]


def is_saved(page) -> bool:
    return page.state == "saved"


def has_document(page) -> bool:
    """Return whether a page was visited; a link is found by its words shortly after saving."""
    return page.state in ("saved", "failed")


PUBLISHED = {
    "2019-03-05": datetime(2019, 3, 5, tzinfo=UTC),
    "2020-01": datetime(2020, 1, 1, tzinfo=UTC),
}
IS_SO = {
    Condition.WORDS: has_words,
    Condition.LIST: is_in_list,
    Condition.SCORE: lambda page, value: is_saved(page) and is_among(page.score, value),
    Condition.CHANGED: lambda page, value: has_document(page) and is_among(page.changed, value),
    Condition.ADDED: lambda page, value: is_within(page.added, value),
    Condition.CAPTURED: lambda page, value: is_within(is_saved(page) and page.added, value),
    Condition.PUBLISHED: lambda page, value: is_within(PUBLISHED.get(page.published), value),
    Condition.SITE: is_of_site,
    Condition.TAG: lambda page, value: atoms(value) in [atoms(each) for each in page.tags],
    Condition.LANG: is_in,
    Condition.TYPE: lambda page, value: (
        is_saved(page)
        and snapshot_kind(page.media_type, len(index_words(page.text).split())) == value
    ),
    Condition.STATUS: has_status,
    Condition.FAILED: lambda page, value: page.state == "failed" and value in REASONS,
    Condition.IMPORT: lambda page, value: page.source == f"import:{value}",
    Condition.FEED: lambda page, value: (
        page.source == f"feed:{value}"
        or page.source.startswith((f"feed:https://{value}", f"feed:http://{value}"))
    ),
    Condition.IS: is_marked,
}
NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = (
    "red kite paper RED Café cafe kit 東京 京都 京 鳥 猫 東京都で ภาษา ไทย to read example "
    "b.example Zoë"
).split()
TERMS = st.builds(
    Term,
    st.sampled_from(
        [*WORDS, "red kite", "the paper kite", "kite red", "東京の鳥", "a.example/kites"]
    ),
    st.none() | st.none() | st.sampled_from(Column),
    st.booleans(),
)
TYPED = [
    words
    for page in PAGES
    for text in (page.title, page.text[:120], page.note, page.by, *page.tags)
    for start in range(0, len(text), 5)
    for length in (1, 2, 6, 13)
    if words_of(words := " ".join(text[start : start + length].split()))
]
"""Return random parts of a text."""
CONDITIONS = (
    "site:a.example site:b.example site:b.example:8080 site:example site:127.0.0.1 site:0.0.1 "
    "tag:cafe tag:CAFÉ tag:鳥 tag:none lang:ja lang:ja-jp lang:pt lang:en type:article "
    "type:page type:pdf type:image is:unread is:read is:starred is:failed is:waiting is:gap "
    "is:gone is:untagged status:saved status:queued status:200 status:404 status:4xx added:2019 "
    "added:2019-03..2020-02 captured:<2019-12 captured:<10d added:>1d published:2019-03 "
    "published:2019..2020 published:>2019 words:>100 words:1 words:..5 import:my.html import:3 "
    "feed:a.example feed:other "
    "list:birds list:Birds/ list:BIRDS/kites list:birds/kites/ list:birdsong list:Bird/ list:cafe "
    "list:鳥 list:鳥/ list:unread score:100 score:<50 score:0 score:>0 score:0.4 score:40..99 "
    "score:..99 changed:>20 changed:0 changed:1..25 changed:>=25 changed:<1 is:changed "
    "is:highlighted is:link status:link failed:410 failed:404 failed:http-status failed:dns"
).split()
LEAVES = (
    TERMS
    | st.builds(Term, st.sampled_from(TYPED), st.none() | st.sampled_from(Column), st.booleans())
    | st.sampled_from(CONDITIONS).map(parse_query)
    | st.just(FieldCondition(Condition.TAG, "to read"))
    | st.just(FieldCondition(Condition.FEED, FEED))
    | st.just(FieldCondition(Condition.FAILED, "http-status 410"))
    | st.just(FieldCondition(Condition.LIST, "birds/owls and\\/or kites"))
)
TREES = st.recursive(
    LEAVES,
    lambda some: st.one_of(
        st.lists(some, min_size=2, max_size=3).map(conjunction),
        st.lists(some, min_size=2, max_size=3).map(disjunction),
        some.map(negate),
    ),
    max_leaves=5,
)


@asynccontextmanager
async def open_index(path):
    database = await Database.open(path)
    yield database
    await database.close()


async def search_rows(database, q):
    """Return the pages that a query finds, in batches."""
    async with database.read() as conn:
        batches = matching_entries(conn, ListingQuery(q=q), limit=3)
        return sorted([row - 1 async for batch in batches for row in batch])


async def paged(listing, q, sort):
    """Return the pages that a query lists, page by page."""
    urls, after = [], ""
    while after is not None:
        page = await listing.listing(ListingQuery(q=q, sort=sort, after=after, limit=5))
        urls += [each.entry.url for each in page.items]
        after = page.after
    return [next(n for n, page in enumerate(PAGES) if page.url == url) for url in urls]


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(trees=st.lists(TREES, min_size=3, max_size=6))
async def test_a_query_finds_the_pages_that_match_its_tree(archive, trees):
    async with open_index(archive) as database:
        listing = Search(database, None)
        for n, tree in enumerate(trees):
            q, expected = (
                query_text(tree),
                [n for n, page in enumerate(PAGES) if matches(tree, page)],
            )
            assert await search_rows(database, q) == expected, q
            if n % 2:
                assert await paged(listing, q, "oldest") == expected, q
            else:
                assert await paged(listing, q, Sort.NEWEST) == expected[::-1], q


async def test_each_condition_and_prefix_finds_the_pages_that_meet_it(archive):
    prefixes = [query_text(Term(each, prefix=True)) for each in "abgknrtux"]
    async with open_index(archive) as database:
        for q in (*CONDITIONS, *prefixes):
            expected = [n for n, page in enumerate(PAGES) if matches(parse_query(q), page)]
            assert await search_rows(database, q) == expected, q
