"""Fixtures for an empty index on disk and rows to fill it with."""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from archiver.db import captures, search, segment_rows, visit_results
from archiver.db.engine import AsyncConnection, Database
from archiver.db.entries import Filters
from archiver.db.query_sql import SearchContext, split
from archiver.db.search import SearchRequest
from archiver.http.timestamps import to_timestamp
from archiver.model.annotation import Annotation
from archiver.model.capture import Capture, HashUrl, Location, PayloadDigest, RecordId
from archiver.model.listing import SearchDocument
from archiver.model.page import PageMetadata
from archiver.model.seed import Seed
from archiver.search.query_parser import parse_query
from archiver.search.search_document import index_words
from tests.postgres import SERVER, empty_index

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SEGMENT = "archiver-20260301120000-0123456789ab-00001.warc.gz"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run index tests with each engine, unless they are marked as SQLite only."""
    if "engine" in metafunc.fixturenames:
        is_both = SERVER and not metafunc.definition.get_closest_marker("sqlite")
        engines = ("sqlite", "postgresql") if is_both else ("sqlite",)
        metafunc.parametrize("engine", engines, indirect=True, scope="function")


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """Return the database engine of the test's index."""
    return str(request.param)


@pytest.fixture
def index_location(engine: str, tmp_path: Path, shared_directory: Path) -> Iterator[Path | str]:
    """The test's index: a path, or the URL of a separate database."""
    if engine == "sqlite":
        yield tmp_path / "archive.sqlite3"
        return
    with empty_index(shared_directory) as url:
        yield url


@pytest.fixture
async def db(index_location: Path | str) -> AsyncIterator[Database]:
    """An empty index."""
    opened = await Database.open(index_location)
    yield opened
    await opened.close()


@pytest.fixture
def seed() -> Callable[..., Seed]:
    """Make a seed for a URL."""

    def make(url: str, **fields: object) -> Seed:
        annotation = Annotation(**{"url_given": url, "added_at": NOW, **fields})
        key = HashUrl(hashlib.md5(url.encode()).hexdigest())
        return Seed(key, url, urlsplit(url).netloc, annotation)

    return make


@pytest.fixture
def capture() -> Callable[..., Capture]:
    """Return a function that makes captures, each in another place."""
    count = 0

    def make(url: str, after: float = 0, **fields: object) -> Capture:
        nonlocal count
        count += 1
        return Capture(
            **{
                "url": url,
                "timestamp": to_timestamp(NOW + timedelta(seconds=after)),
                "status": 200,
                "media_type": "text/html",
                "payload_digest": PayloadDigest("sha256:" + f"{count:064x}"),
                "payload_length": 10,
                "record_id": RecordId(f"urn:uuid:{count}"),
                "location": Location(SEGMENT, count * 1000, 500),
                **fields,
            }
        )

    return make


def search_document(title: str, text: str) -> SearchDocument:
    """Return a search document with this title and text only."""
    return SearchDocument(title=index_words(title), text=index_words(text))


@pytest.fixture
def new_snapshot(capture: Callable[..., Capture]) -> Callable[..., object]:
    """Return a function that indexes a page ``after`` seconds past noon, for a new snapshot."""

    async def make(
        conn: AsyncConnection,
        entry_id: int,
        url: str,
        after: float = 0,
        words: tuple[str, str] | None = ("", ""),
        **fields: object,
    ) -> visit_results.NewSnapshot:
        page = capture(url, after)
        await segment_rows.set_indexed_with_ids(
            conn, {SEGMENT: page.location.offset + page.location.length}
        )
        rows = await captures.insert_all(conn, [page])
        return visit_results.NewSnapshot(
            **{
                "entry_id": entry_id,
                "timestamp": page.timestamp,
                "at": NOW + timedelta(seconds=after),
                "capture_id": rows[page.record_id],
                "final_url": url,
                "status": 200,
                "media_type": "text/html",
                "metadata": PageMetadata(title=f"Title of {url}"),
                "requisite_count": 0,
                "missing_count": 0,
                "article": None,
                "extractor": "1",
                "record": page.location,
                "search_document": words and search_document(*words),
                **fields,
            }
        )

    return make


@pytest.fixture
def add_snapshot(new_snapshot: Callable[..., object]) -> Callable[..., object]:
    """Return a function that indexes a snapshot ``after`` seconds past noon."""

    async def index(conn: AsyncConnection, *page: object, **fields: object) -> None:
        await visit_results.add_snapshots(conn, [await new_snapshot(conn, *page, **fields)])

    return index


@pytest.fixture
def find(db: Database) -> Callable[..., object]:
    """Return (document, entry id) of the matches of a query, newest first."""

    async def matching(
        q: str, filters: Filters | None = None, *, after: int | None = None, count: int = 9
    ) -> list[tuple[int, int]]:
        query = parse_query(q)
        async with db.read() as conn:
            request = SearchRequest(query, filters or Filters(), SearchContext(NOW))
            result = await search.matching_documents(
                conn, split(query), request, after=after, count=count
            )
        pairs = zip(result.documents, result.entries, strict=True)
        return [(row, entry_id) for row, entry_id in pairs if entry_id is not None]

    return matching
