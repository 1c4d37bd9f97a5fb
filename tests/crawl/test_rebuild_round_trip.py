"""The index rebuilt from the WARC files equals the original, ``rebuild(write(x)) == x``."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from archiver.crawl import record_building
from archiver.crawl import recorder as crawl_recorder
from archiver.crawl.derived_rows import compare_pending, rebuild_stale
from archiver.crawl.rebuild import fill_index
from archiver.crawl.recorder import Recorder
from archiver.crawl.stored_content import read_snapshot_record
from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db import (
    captures,
    edit_history,
    entries,
    new_entries,
    screenshots,
    snapshots,
    tags_and_lists,
    tombstones,
)
from archiver.db.engine import Database
from archiver.db.full_text import Phrase, with_expressions, word_index_of
from archiver.db.schema import attempt, entry, entry_table, excluded_response
from archiver.errors import InputError, NotFound
from archiver.http.timestamps import to_datetime, to_timestamp
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation, Colour, Highlight
from archiver.model.capture import CaptureRef, Exchange, PayloadDigest
from archiver.model.entry_list import EntryList, with_parents
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import EntryRef
from archiver.model.listing import ListingQuery
from archiver.model.page import EXTRACTOR_VERSION, UNREAD, Article, Charset, PageMetadata
from archiver.model.rendering import Limit, NewRendition, QualitySignals, RenditionKind
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.model.seed import Seed
from archiver.pages.article_text import to_text, whole
from archiver.search.search_document import index_words
from archiver.services.deletion import EntryDeletion
from archiver.warc.records import NOT_REPLAYED
from archiver.warc.segments import SegmentStore
from tests.segments import segment_store

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URLS = ("http://a.example/", "http://a.example/%C3%A9?x=%0A", "https://b.example:8443/p")

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
labels = st.lists(st.sampled_from("one two Ünï 日本".split()), max_size=3, unique=True)


@dataclass(frozen=True)
class Captured:
    """A visit that captures a page."""

    url: str
    second: int
    body: bytes
    status: int
    location: str
    article: Article
    requisites: tuple[RequisiteOutcome, ...]
    charset: Charset
    appearance: QualitySignals = field(default_factory=QualitySignals)
    renditions: tuple[NewRendition, ...] = ()
    excluded_responses: tuple[bytes, ...] = ()


failures = st.builds(
    Failure,
    st.sampled_from(FailureKind),
    words,
    st.none() | st.integers(100, 599),
)
articles = st.builds(
    Article,
    st.builds(PageMetadata, words, words, words, words, words, words, words),
    st.sampled_from(["", "<p>badger</p>", "<p>otter &amp; vole</p>", "<h2>日本</h2><p>é</p>"]),
    st.just(""),
    st.sampled_from([EXTRACTOR_VERSION, EXTRACTOR_VERSION, UNREAD, "0"]),
    head=st.sampled_from(
        ["", "<h2>badgers</h2>", '<figure><img src="http://a.example/"></figure>']
    ),
).map(lambda made: _with_text(made if made.html else replace(made, head="")))
outcomes = st.lists(
    st.builds(
        RequisiteOutcome,
        st.sampled_from(["http://a.example/x.png", "http://a.example/y.css"]),
        st.sampled_from(RequisiteKind),
        st.integers(100, 599),
        is_preview_image=st.booleans(),
    )
    | st.builds(
        RequisiteOutcome,
        st.just("http://a.example/gone.png"),
        st.sampled_from(RequisiteKind),
        failure=failures,
    ),
    max_size=3,
).map(tuple)
said = st.builds(
    Annotation,
    st.sampled_from([*URLS, "HTTP://A.example/#part"]),
    st.integers(0, 10**9).map(lambda second: datetime.fromtimestamp(second, UTC)),
    words,
    labels.map(tuple),
    words,
    words,
    folders=st.lists(st.sampled_from(["A/B", "A", "C\\/D"]), max_size=2, unique=True).map(tuple),
    source_record=st.lists(
        st.sampled_from(['{"a":1}', '{"é":"\\n"}', '{"h":[{"q":"日本"}]}']), max_size=2, unique=True
    ).map("\n".join),
    highlights=st.lists(
        st.builds(
            Highlight,
            st.sampled_from(["0" * 16, "f" * 16]),
            words,
            words,
            words,
            st.integers(-1, 99),
            st.sampled_from(Colour),
            words,
            st.just(NOON),
            st.sampled_from(["", "20260301120000"]),
        ),
        max_size=2,
        unique_by=lambda each: each.id,
    ).map(tuple),
)
seconds = st.integers(0, 40)
brought = st.builds(
    Captured,
    st.sampled_from(URLS),
    seconds,
    st.sampled_from([b"", b"<p>badger</p>", b"<p>other</p>" * 9]),
    st.sampled_from([200, 200, 301, 404]),
    st.sampled_from(["", "/next", "/\xc5\xe4"]),
    articles,
    outcomes,
    st.builds(Charset, words, words),
    st.builds(
        QualitySignals,
        st.none() | st.integers(0, 600),
        st.integers(0, 20_000),
        st.booleans(),
        st.booleans(),
        st.none() | st.integers(0, 100),
        st.none() | st.integers(0, 100),
        st.lists(st.sampled_from(Limit), max_size=2, unique=True).map(tuple),
    ),
    st.lists(
        st.builds(
            NewRendition,
            st.sampled_from(RenditionKind),
            st.just("image/webp"),
            st.sampled_from([b"badger", b"vole"]),
        ),
        max_size=2,
        unique_by=lambda each: each.kind,
    ).map(tuple),
    st.lists(st.sampled_from([b"", b"sent"]), max_size=2).map(tuple),
)
urls = st.sampled_from(URLS)


def call(name: str, *arguments: st.SearchStrategy) -> st.SearchStrategy:
    """Return calls of a method of ``Archive``."""
    return st.tuples(st.just(name), *arguments)


places = st.none() | st.integers(0, 3)
steps = st.lists(
    call("annotate", urls, said)
    | call("capture_if_fresh", brought)
    | call("capture_if_fresh", brought)
    | call("delete", urls, st.none() | st.integers(0, 2))
    | call("delete_all")
    | call("delete_during_visit", brought)
    | call("undo")
    | call("fail", urls, failures)
    | call("extract_again", urls, st.booleans())
    | call("change_list", urls, st.sampled_from(["A", "A/B", "Z/Ü"]), places, st.booleans())
    | call("write_annotations")
    | call("start_segment"),
    min_size=1,
    max_size=14,
)


def _with_text(article: Article) -> Article:
    """Return an article with its text; a deferred article has none."""
    text = _text_of(whole(article))
    read = article if article.extractor else replace(article, html="", head="")
    return replace(read, text=text, words=index_words(text))


def _text_of(html: str) -> str:
    return to_text(html)


@pytest.fixture(autouse=True)
def one_step_per_batch(monkeypatch):
    """Write each step as its own batch."""
    monkeypatch.setattr(crawl_recorder, "GATHER_SECONDS", 0)


@pytest.fixture(scope="module")
def empty_index(tmp_path_factory):
    """An empty index, to be copied."""
    path = tmp_path_factory.mktemp("empty") / "archive.sqlite3"

    async def make() -> None:
        await (await Database.open(path)).close()

    asyncio.run(make())
    return path


@dataclass
class Archive:
    """A folder with an index and segments, and the services that write to both."""

    db: Database
    store: SegmentStore
    recorder: Recorder
    taken: set[tuple[str, int]] = field(default_factory=set)
    failed: int = 0
    reread: int = 0

    async def annotate(self, url: str, annotation: Annotation) -> None:
        """Save a link, or edit its metadata."""
        async with self.db.write() as conn:
            await new_entries.ensure(conn, [seed_of(url, annotation)])

    async def start_segment(self) -> None:
        """Write the next record to another segment."""
        self.store.close()

    async def write_annotations(self) -> None:
        """Write pending annotations without a visit."""
        async with self.db.read() as conn:
            pending = await edit_history.unrecorded(conn, 99)
        await self.recorder.note(pending)

    async def fail(self, url: str, failure: Failure) -> None:
        """Record a failed visit. Failures have increasing times; captures may be out of order."""
        self.failed += 1
        at = NOON + timedelta(minutes=1, seconds=self.failed)
        await (await self.recorder.end(VisitResult(await self.entry(url), at, failure=failure)))

    async def capture_if_fresh(self, step: Captured) -> None:
        if self.is_fresh(step):
            await self.capture(step)

    async def delete_during_visit(self, step: Captured) -> None:
        """Start a visit, delete its entry, and end the visit."""
        if self.is_fresh(step):
            entry_ref = await self.entry(step.url)
            await self.deleting.entries([step.url])
            await self.capture(step, entry_ref)

    async def delete_all(self) -> None:
        """Delete everything in one deletion; its undo may restore only some entries."""
        await self.deleting.matching(ListingQuery())

    async def undo(self) -> None:
        """Undo the last deletion."""
        async with self.db.read() as conn:
            last = (await conn.execute(select(func.max(entry_table.c.deleted_at)))).scalar()
        with suppress(InputError, NotFound):
            await self.deleting.undo(last or 0)

    async def change_list(self, url: str, path: str, place: int | None, is_arranged: bool) -> None:
        """Change one membership as an edit does; then sort the list if requested."""

        def become(_: int, annotation: Annotation) -> Annotation:
            positions = {each: at for each, at in annotation.lists.items() if each != path}
            return annotation.in_lists(positions if place is None else {**positions, path: place})

        async with self.db.write() as conn:
            entry = await entries.by_hash(conn, hash_url(url))
            number = await edit_history.begin(conn, NOON)
            await edit_history.change(conn, [entry[0]] if entry else [], become, edit_id=number)
            if is_arranged:
                lists = await tags_and_lists.all_lists(conn)
                shown_lists = [each for each in lists[::-1] if each.count or each.query]
                await tags_and_lists.arrange(
                    conn, [EntryList("Found", "q"), *with_parents(shown_lists)]
                )
                await tags_and_lists.add_pending_record(conn)

    async def delete(self, url: str, nth: int | None) -> None:
        """Delete an entry or one of its snapshots."""
        with suppress(NotFound, InputError):
            if nth is None:
                await self.deleting.entries([url])
                return
            async with self.db.read() as conn:
                entry = await entries.by_hash(conn, hash_url(url))
                rows = await snapshots.of_entry(conn, entry[0], limit=99) if entry else []
            if len(rows) > 1:
                await self.deleting.snapshot(url, rows[nth % len(rows)].snapshot.timestamp)

    @property
    def deleting(self) -> EntryDeletion:
        return EntryDeletion(self.db, self.store)

    async def extract_again(self, url: str, is_all: bool) -> None:
        """Extract the oldest article of an older version again, or all of them.

        Articles of version "0" are extracted with "1", and the next time with the current version.
        """
        entry_ref = await self.entry(url)
        async with self.db.read() as conn:
            rows = await snapshots.outdated_articles_of(
                conn, [entry_ref.id], than=EXTRACTOR_VERSION
            )
        for each in rows if is_all else rows[:1]:
            snapshot = each.snapshot
            self.reread += 1
            newer = "1" if snapshot.extractor == "0" else EXTRACTOR_VERSION
            metadata = PageMetadata(title=f"again {newer}")
            html = "" if snapshot.title == "again 1" else f"<p>vole {newer}</p>"
            words = index_words(_text_of(html))
            article = Article(metadata, html, _text_of(html), extractor=newer, words=words)
            moment = to_datetime(snapshot.timestamp)
            record = read_snapshot_record(self.store, each.record)
            visit = Visit(
                snapshot.timestamp,
                moment,
                CaptureRef.of(snapshot.capture),
                article,
                record.requisites,
                appearance=record.appearance,
                excluded_responses=record.excluded_responses,
            )
            at = NOON + timedelta(hours=2, seconds=self.reread)
            await (await self.recorder.end(VisitResult(entry_ref, at, visit=visit)))

    def is_fresh(self, step: Captured) -> bool:
        """Return whether the entry has no snapshot of this second yet, and reserve the second."""
        key = (step.url, step.second)
        is_fresh = key not in self.taken
        self.taken.add(key)
        return is_fresh

    async def entry(self, url: str) -> EntryRef:
        async with self.db.write() as conn:
            seed = seed_of(url, Annotation(url, NOON, source="web"))
            (number,) = (await new_entries.ensure(conn, [seed])).values()
        return EntryRef(number, hash_url(url), url, host(url))

    async def capture(self, step: Captured, entry_ref: EntryRef | None = None) -> None:
        at = NOON + timedelta(seconds=step.second)
        entry_ref = entry_ref or await self.entry(step.url)
        ref = await self.recorder.keep(exchange_of(step, at))
        sent = [
            await self.recorder.keep(answer_of(step, body, at)) for body in step.excluded_responses
        ]
        visit = Visit(
            to_timestamp(at),
            at,
            ref,
            step.article,
            step.requisites,
            step.charset,
            appearance=step.appearance,
            renditions=step.renditions,
            excluded_responses=tuple(each.record_id for each in sent),
        )
        await (await self.recorder.end(VisitResult(entry_ref, at, visit=visit)))
        if step.article.extractor == UNREAD:
            read = replace(step.article, extractor=EXTRACTOR_VERSION, html="<p>deferred</p>")
            later = replace(visit, article=replace(read, text="deferred", words="deferred"))
            await (
                await self.recorder.end(
                    VisitResult(entry_ref, at + timedelta(hours=1), visit=later)
                )
            )


def seed_of(url: str, annotation: Annotation) -> Seed:
    return Seed(hash_url(url), url, host(url), annotation)


def exchange_of(step: Captured, at: datetime) -> Exchange:
    location = f"Location: {step.location}\r\n" if step.location else ""
    head = f"HTTP/1.1 {step.status} X\r\nContent-Type: text/html\r\n{location}\r\n"
    headers = [("content-type", "text/html")]
    if step.location:
        headers.append(("location", step.location))
    return Exchange(
        url=step.url,
        at=at,
        ip="192.0.2.1",
        request=b"GET / HTTP/1.1\r\n\r\n",
        head=head.encode("latin-1"),
        body=BytesIO(step.body),
        chunked=False,
        status=step.status,
        headers=tuple(headers),
        payload_digest=PayloadDigest(f"sha256:{sha256(step.body).hexdigest()}"),
        payload_length=len(step.body),
    )


def answer_of(step: Captured, body: bytes, at: datetime) -> Exchange:
    """Return the response to the page's script."""
    whole = exchange_of(replace(step, body=body, location=""), at)
    return replace(whole, is_shown=False, fields=((NOT_REPLAYED, "POST"),))


@asynccontextmanager
async def opened(data: Path, empty_index: Path) -> AsyncIterator[Archive]:
    with segment_store(data) as store:
        with suppress(FileNotFoundError):  # an index on a server has no file
            shutil.copy(empty_index, data / "archive.sqlite3")
        db = await Database.open(data / "archive.sqlite3")
        recorder = Recorder(db, store)
        running = asyncio.create_task(recorder.run())
        try:
            yield Archive(db, store, recorder)
        finally:
            await recorder.drain()
            running.cancel()
            await asyncio.wait([running])
            await db.close()


async def everything(archive: Archive) -> dict[str, object]:
    """Return the contents of an index, without row numbers and record positions."""
    while await compare_pending(archive.db, archive.store) or await rebuild_stale(
        archive.db, archive.store
    ):
        pass
    async with archive.db.read() as conn:
        rows = (await conn.execute(select(entry))).all()
        numbers = {row.id: row.hash_url for row in rows}
        shown = await entries.by_ids(conn, [*numbers])
        snapshots_by_key = {
            numbers[number]: [
                _bare(each.snapshot) for each in await snapshots.of_entry(conn, number, limit=99)
            ]
            for number in numbers
        }
        shown_by = {
            (numbers[number], each.snapshot.timestamp): {
                (one.kind, one.media_type, one.digest)
                for one in (await screenshots.of_snapshots(conn, [each.row_id])).get(
                    each.row_id, ()
                )
            }
            for number in numbers
            for each in await snapshots.of_entry(conn, number, limit=99)
        }
        attempts = await conn.execute(select(attempt).join(entry, entry.c.id == attempt.c.entry_id))
        results = {
            word: sorted(await _found(conn, word))
            for word in ("badger", "otter", "vole", "日本", "deferred", "é")
        }
        return {
            "entries": {numbers[number]: each for number, each in shown.items()},
            "order": {row.hash_url: row.sort_at for row in rows if row.state != "queued"},
            "changed": {row.hash_url: row.changed for row in rows},
            "revisions": {row.hash_url: row.revision for row in rows},
            "generations": {row.hash_url: row.generation for row in rows},
            "snapshots": snapshots_by_key,
            "likenesses": shown_by,
            "answers": await _answers(archive, numbers),
            "answers that are gone": await _gone_answers(conn),
            "captures": {_bare_capture(each) for each in await _captures(conn)},
            "attempts": {(numbers[row.entry_id], row.at, row.failure) for row in attempts},
            "tags": sorted(await tags_and_lists.most_used(conn, 99)),
            "lists": await tags_and_lists.all_lists(conn),
            "found": results,
        }


async def _answers(archive: Archive, numbers):
    """Return the extra responses of snapshots, and whether each is where the index says."""
    results = {}
    async with archive.db.read() as conn:
        for number in numbers:
            for each in await snapshots.of_entry(conn, number, limit=99):
                named = read_snapshot_record(archive.store, each.record).excluded_responses
                locations = await captures.excluded_response_locations(conn, named)
                record_ids = {archive.store.read(place).id for place in locations.values()}
                results[numbers[number], each.snapshot.timestamp] = set(named), record_ids
    return results


async def _gone_answers(conn):
    ids = (await conn.execute(select(excluded_response.c.record_id))).scalars().all()
    return await tombstones.captures(conn, ids)


def _bare(snapshot):
    return replace(
        snapshot,
        capture=_bare_capture(snapshot.capture),
        article=snapshot.article and snapshot.article.length,
    )


def _bare_capture(capture):
    return replace(capture, location=None)


async def _captures(conn):
    rows = []
    for url in URLS:
        rows += await captures.of_url(conn, url, limit=999)
    return rows


async def _found(conn, word):
    has_word = word_index_of(conn).matches
    rows = await conn.execute(
        with_expressions(
            "SELECT entry.hash_url FROM full_text JOIN live_entry AS entry"
            f" ON entry.document_id = full_text.rowid WHERE {has_word}"
        ),
        {"match": Phrase((word,))},
    )
    return list(rows.scalars())


async def write(data, empty_index, played):
    async with opened(data, empty_index) as archive:
        for name, *arguments in played:
            await getattr(archive, name)(*arguments)
        async with archive.db.read() as conn:
            numbers = (await conn.execute(select(entry.c.id))).scalars().all()
        await archive.recorder.note(numbers)
        async with archive.db.read() as conn:
            pending = await tombstones.pending(conn, limit=99)
        await archive.recorder.write_pending(pending)
        return await everything(archive)


async def rebuild(data, empty_index):
    async with opened(data, empty_index) as archive:
        names = sorted(path.name for path in (data / "warc").glob("*.warc.gz"))
        await fill_index(archive.db, archive.store, names)
        return await everything(archive)


def shuffle(folder: Path, order: list[int], copies: int, torn: int) -> None:
    """Rename segments to change their order; copy some; truncate one in the middle of a record."""
    paths = sorted(folder.glob("*.warc.gz"))
    moved = [path.rename(path.with_name(f"held-{n}")) for n, path in enumerate(paths)]
    ranked = sorted(zip(order, range(len(moved)), strict=False))
    for rank, (_, n) in enumerate(ranked):
        name = f"archiver-20260301120000-0123456789ab-{rank:05d}.warc.gz"
        path = moved[n].rename(folder / name)
        if rank < copies:
            shutil.copy(path, folder / f"archiver-20260301120000-ba9876543210-{rank:05d}.warc.gz")
        if rank == 0:
            with path.open("ab") as file:
                file.write(path.read_bytes()[:torn])


UNREAD_AND_SHARED = [
    (
        "capture_if_fresh",
        Captured(URLS[1], second, b"<p>other</p>", 200, "", Article(extractor=by), (), Charset()),
    )
    for second, by in ((0, UNREAD), (1, EXTRACTOR_VERSION))
]
"""Its article is extracted again after a second snapshot with the same article was captured."""


@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(UNREAD_AND_SHARED, [0] * 20, 0, 0)
@given(
    played=steps,
    order=st.lists(st.integers(0, 99), min_size=20, max_size=20),
    copies=st.integers(0, 2),
    torn=st.integers(0, 150),
)
def test_a_rebuilt_index_equals_the_original(empty_index, played, order, copies, torn):
    with TemporaryDirectory() as folder:
        first, second = Path(folder) / "first", Path(folder) / "second"
        before = asyncio.run(write(first, empty_index, played))
        if not (first / "warc").exists():
            return
        shutil.copytree(first / "warc", second / "warc")
        shuffle(second / "warc", order, copies, torn)

        assert asyncio.run(rebuild(second, empty_index)) == before


def brought(second: int, html: str, extractor: str = EXTRACTOR_VERSION) -> Captured:
    article = Article(html=html, text=_text_of(html), words=_text_of(html), extractor=extractor)
    return Captured(URLS[1], second, b"<p>other</p>", 200, "", article, (), Charset())


def test_a_shared_article_stays_with_snapshots_that_are_not_extracted_again(
    empty_index, tmp_path, monkeypatch
):
    async def play(data: Path) -> dict[str, object]:
        async with opened(data, empty_index) as archive:
            with monkeypatch.context() as then:
                then.setattr(record_building, "EXTRACTOR_VERSION", "0")
                for second in (0, 1, 2):
                    await archive.capture(brought(second, "<p>badger</p>", "0"))
                    archive.store.close()
            await archive.extract_again(URLS[1], is_all=False)
            archive.store.close()
            await archive.extract_again(URLS[1], is_all=False)
            async with archive.db.read() as conn:
                result = await snapshots.of_entry(conn, 1, limit=9)
            assert [each.snapshot.extractor for each in result] == ["0", "0", EXTRACTOR_VERSION]
            assert len({each.snapshot.article for each in result[:2]}) == 1
            return await everything(archive)

    before = asyncio.run(play(tmp_path / "first"))
    shutil.copytree(tmp_path / "first" / "warc", tmp_path / "second" / "warc")
    shuffle(tmp_path / "second" / "warc", [4, 3, 2, 1, 0], 1, 0)

    assert asyncio.run(rebuild(tmp_path / "second", empty_index)) == before
