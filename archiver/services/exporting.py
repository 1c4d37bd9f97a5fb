"""Taking entries away, whichever the form: what is wanted goes in, the bytes of a file come out."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import IO

from archiver.errors import NotFound
from archiver.formats.list_writer import Heading, ListForm
from archiver.index import entries, lists
from archiver.index.database import Database
from archiver.model.entry_list import EntryList, with_outer
from archiver.rewrite.disposition import safe_name
from archiver.services.books import Books
from archiver.services.export_kinds import ExportKind
from archiver.services.export_plan import write_plan
from archiver.services.lists import Lists
from archiver.services.manifest import Selected
from archiver.services.markdown_tree import MarkdownTree
from archiver.services.packages import Packages
from archiver.store.segments import SegmentStore

TITLE = "From the archive"
ARTICLES = frozenset({"epub", "html", "markdown", "md"})
"""Forms of what there is to read."""
LONGEST_TITLE = 80
"""Characters of a title in the name of a file."""


class Exporting:
    """Writes exports."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._lists = Lists(db)
        self._tree = MarkdownTree(db, store)
        self._packages = Packages(db, store)
        self._books = Books(db, store)

    async def name_of(self, kind: ExportKind, wanted: Selected) -> str:
        """What a file of that is called: as the article of the one entry, if that is what it is."""
        if wanted.hash_url is None:
            return f"archive-{datetime.now(UTC):%Y%m%d}.{kind.suffix}"
        if kind.key not in ARTICLES:
            return f"{wanted.hash_url}.{kind.suffix}"
        async with self._db.read() as conn:
            found = await entries.by_hash(conn, wanted.hash_url)
        title = (found[1].title or found[1].url) if found else wanted.hash_url
        return f"{safe_name(title[:LONGEST_TITLE])}.{kind.suffix}"

    async def begin(
        self,
        kind: ExportKind,
        wanted: Selected,
        *,
        name: str,
        at: str | None = None,
        on_count: Callable[[int], None] = lambda _: None,
    ) -> AsyncGenerator[bytes, None]:
        """An export of what there is now; its bytes are made as they are asked for.

        Args:
            kind: its form.
            wanted: what it is of.
            name: of the file, which may stand in it.
            at: the moment whose snapshot is the article of the one entry; None for the newest.
            on_count: told of how many entries it is; not of a list, which is counted as it is
                written.

        Raises:
            NotFound: there is nothing of the kind.
            InputError: it is too much for one file, or what is wanted makes no sense.
        """
        if kind.form:
            return await self._begin_list(kind.form, wanted)
        if kind.key in ARTICLES:
            return await self._begin_articles(
                kind, wanted, at if wanted.hash_url else None, on_count
            )
        manifest = await self._packages.begin(wanted)
        on_count(len(manifest.entries))
        if kind.key == "wacz":
            return self._packages.wacz(manifest, title=name.removesuffix(".wacz"))
        return self._packages.warc(manifest, name=name)

    async def _begin_articles(
        self, kind: ExportKind, wanted: Selected, at: str | None, on_count: Callable[[int], None]
    ) -> AsyncGenerator[bytes, None]:
        if kind.key in ("markdown", "md"):
            rows = await self._tree.begin(wanted)
            on_count(len(rows))
            return self._tree.zip(rows, at) if kind.key == "markdown" else self._tree.text(rows, at)
        articles = await self._books.begin(wanted)
        on_count(len(articles.entries))
        write = self._books.epub if kind.key == "epub" else self._books.html
        return write(articles, title=title_of(wanted), at=at)

    async def _begin_list(self, form: ListForm, wanted: Selected) -> AsyncGenerator[bytes, None]:
        plan = await asyncio.to_thread(_temporary)
        try:
            await noted(self._db, wanted, form, plan)
            heading = await heading_of(self._db, wanted, datetime.now(UTC))
        except BaseException:
            plan.close()
            raise
        return self._list(plan, form, heading)

    async def _list(
        self, plan: IO[bytes], form: ListForm, heading: Heading
    ) -> AsyncGenerator[bytes, None]:
        with plan:
            async with aclosing(self._lists.write(plan, form, heading)) as written:
                async for each in written:
                    if each.data:
                        yield each.data


async def heading_of(db: Database, wanted: Selected, begun_at: datetime) -> Heading:
    """What stands above a list that was begun then (aware, UTC)."""
    kept: list[EntryList] = []
    if wanted.is_everything:
        async with db.read() as conn:
            kept = with_outer(await lists.all_of_them(conn))
    return Heading(title_of(wanted), begun_at, tuple(kept))


def title_of(wanted: Selected) -> str:
    """What an export is called where it says so."""
    return wanted.query.q or TITLE


async def noted(db: Database, wanted: Selected, form: ListForm, plan: IO[bytes]) -> int:
    """Note down what a list is written of; how many lines that is.

    Raises:
        NotFound: nothing is meant by that; everything may be nothing.
        InputError: what is wanted makes no sense.
    """
    count = await write_plan(db, wanted, form.order, plan)
    if not count and not wanted.is_everything:
        raise NotFound("There is nothing to export: no entry is meant by that.")
    return count


def _temporary() -> IO[bytes]:
    return TemporaryFile(prefix="archiver-")
