"""Pool of page worker processes.

If a worker exceeds its time limit, dies or sends an invalid message, it is replaced, and the page
has no article. The page itself is archived, and the failure is logged.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from msgspec.msgpack import Decoder

from archiver.helpers import end_child, start_child
from archiver.http.media_types import is_css, is_html, is_xml
from archiver.logs import get_log
from archiver.model.page import UNREAD, Article, Discovery, PageMetadata
from archiver.model.rendering import NewRendition, RenditionKind
from archiver.pages.article_text import file_name, text_article
from archiver.pages.icon_candidates import is_too_small
from archiver.pages.worker_messages import (
    PREFIX,
    READY,
    Document,
    PageResult,
    Request,
    Task,
    pack,
)
from archiver.search.search_document import index_words

PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
TASKS_PER_WORKER = 2000
"""Number of tasks after which a worker is replaced, because C libraries may leak on hostile input.
"""
TASKS_PER_CHECK = 16
"""Number of tasks after which the memory of a worker is checked."""
MAX_IDLE_BYTES = 400 << 20
"""Resident memory above which an idle worker is replaced; C libraries keep freed memory."""
DRAW_SECONDS = 10.0
"""Time limit for creating one icon or preview image; short, because a page may name several."""
MAX_ANSWER_BYTES = 256 << 20
SHORT_BYTES = 8 << 10
"""Size up to which plain text is processed without a worker."""
LONG_BYTES = 2 << 20
"""Size of a page above which its requisites are returned before its article is extracted."""
SHORT_RESULT_BYTES = 256 << 10
"""Size above which a worker's answer is parsed in a thread."""
BACKLOG_SECONDS = 0.5
"""Seconds for which the queue must be non-empty before another worker starts.

Starting a worker costs as much CPU time as extracting eight articles.
"""
NOTHING_NEEDED = Discovery()
_DISCOVERY = Decoder(tuple[Discovery | None, str])
_ARTICLE = Decoder(tuple[Article | None, str])
_PAGE = Decoder(tuple[PageResult | None, str])
_IMAGE = Decoder(tuple[NewRendition | None, str])
_Result = TypeVar("_Result")

log = get_log(__name__)


class WorkerPool:
    """Pool of worker processes; the first starts with the first task, others if tasks queue up.

    Args:
        processes: the maximum number of workers.
        timeout: the time limit of a page in seconds.
        memory_bytes: the memory limit of a worker.
        max_requisites: the maximum number of requisites of a page.
        backlog: the seconds of queueing before another worker starts.
        nice: the niceness of workers (``man 2 nice``).
    """

    def __init__(
        self,
        *,
        processes: int,
        timeout: float,
        memory_bytes: int,
        max_requisites: int,
        backlog: float = BACKLOG_SECONDS,
        nice: int = 0,
    ) -> None:
        self._timeout = timeout
        self._memory = memory_bytes
        self._limit = max_requisites
        self._backlog = backlog
        self._nice = nice
        self._processes = self._vacant = processes
        self._idle: list[_Child] = []
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()
        self._children: set[_Child] = set()
        self._is_one_starting = self._is_late = False
        self._watch: asyncio.TimerHandle | None = None

    async def stop(self) -> None:
        """Stop all workers."""
        self._note_empty_queue()
        for child in [*self._children]:
            await self._end(child)

    async def discover(self, document: Document) -> Discovery:
        """Return the requisites and metadata of a document; empty if a worker failed to read it."""
        kind = document.media_type
        can_need = is_html(kind) or is_css(kind) or is_xml(kind) or document.link_header
        if not can_need:
            return NOTHING_NEEDED
        return await self._ask(Task.DISCOVER, document, _DISCOVERY) or NOTHING_NEEDED

    async def extract(self, document: Document) -> Article:
        """Return the article of a document; ``is_failed`` is set if a worker failed to read it."""
        if _is_short_text(document):
            return _short_article(document)
        return await self._ask(Task.EXTRACT, document, _ARTICLE) or Article(is_failed=True)

    async def inspect_and_extract(self, document: Document) -> tuple[Discovery, Article | None]:
        """Return the requisites of a document, and its article.

        The article is None if the caller must call ``extract`` for it.
        """
        if not is_html(document.media_type) or len(document.payload) > LONG_BYTES:
            return await self.discover(document), None
        result = await self._ask(Task.INSPECT_AND_EXTRACT, document, _PAGE)
        if result is None:
            return await self.discover(document), Article(is_failed=True)
        return result.discovery, result.article

    async def draw(self, kind: RenditionKind, content: bytes, url: str) -> NewRendition | None:
        """Create an icon or preview image.

        Returns:
            None if the image is too small, not worth displaying, or a worker failed to read it.
        """
        if is_too_small(kind, content):
            return None
        return await self._ask(Task(kind), Document(content, "", "", url), _IMAGE)

    async def _ask(
        self, task: Task, document: Document, decoder: Decoder[tuple[_Result | None, str]]
    ) -> _Result | None:
        """Return the result of a task; None if there is none or the worker failed."""
        child = await self._acquire(urgent=task is Task.DISCOVER)
        is_kept = False
        try:
            child = child or await self._begin()
            async with asyncio.timeout(self._seconds(task)):
                message = await child.ask(pack(Request(task, document, self._limit)))
            if len(message) > SHORT_RESULT_BYTES:
                result, problem = await asyncio.to_thread(decoder.decode, message)
            else:
                result, problem = decoder.decode(message)
            is_kept = child.tasks < TASKS_PER_WORKER and not (
                child.tasks % TASKS_PER_CHECK == 0 and child.is_large()
            )
        except (TimeoutError, OSError, EOFError, ValueError, RecursionError) as error:
            result, problem = None, str(error) or type(error).__name__
        finally:
            if child and not is_kept:
                await self._end(child)
            self._release(child if is_kept else None)
        if problem:
            log.warning("processing a page failed", task=task, url=document.url, reason=problem)
        return result

    def _seconds(self, task: Task) -> float:
        """Return the time limit of a task."""
        is_drawn = task in (Task.ICON, Task.COVER)
        return min(self._timeout, DRAW_SECONDS) if is_drawn else self._timeout

    async def _acquire(self, *, urgent: bool) -> "_Child | None":
        """Wait for a worker or for permission to start one; urgent tasks come first.

        Returns:
            An idle worker, or None if the caller must start one.
        """
        line = self._urgent if urgent else self._patient
        while not (self._idle or self._may_start) or (not urgent and self._urgent):
            turn = asyncio.get_running_loop().create_future()
            line.append(turn)
            self._watch_queue()
            try:
                await turn
            except BaseException:
                if turn in line:
                    line.remove(turn)
                elif turn.done() and not turn.cancelled():
                    self._next()
                raise
        self._is_late = False
        if self._idle:
            return self._idle.pop()
        self._vacant -= 1
        self._is_one_starting = True
        return None

    @property
    def _may_start(self) -> bool:
        """Return whether a new worker may be started and is worth its start-up cost."""
        return self._vacant > 0 and (self._is_late or self._vacant == self._processes)

    def _release(self, child: "_Child | None") -> None:
        """Make a worker idle after a task, and wake the next task.

        ``child`` is None if the worker has ended or did not start. Then another may be started.
        """
        if child:
            self._idle.append(child)
        else:
            self._vacant += 1
            self._is_one_starting = False
        self._next()

    def _next(self) -> None:
        """Wake the next waiting task; discovery comes before other tasks."""
        for line in (self._urgent, self._patient):
            while line:
                turn = line.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._note_empty_queue()

    def _watch_queue(self) -> None:
        """Schedule the start of another worker, in case the queue stays non-empty."""
        if self._watch is None and self._vacant and not self._is_one_starting:
            loop = asyncio.get_running_loop()
            self._watch = loop.call_later(self._backlog, self._start_another)

    def _note_empty_queue(self) -> None:
        """Cancel the start of another worker, because the queue is empty."""
        if self._watch:
            self._watch.cancel()
            self._watch = None

    def _start_another(self) -> None:
        self._watch = None
        self._is_late = True
        self._next()

    def _has_started(self) -> None:
        self._is_one_starting = False
        if self._urgent or self._patient:
            self._watch_queue()

    async def _begin(self) -> "_Child":
        child = await _Child.start(self._memory, self._nice, self._has_started)
        self._children.add(child)
        return child

    async def _end(self, child: "_Child") -> None:
        self._children.discard(child)
        await end_child(child.process)


def unread_article(document: Document, discovery: Discovery) -> Article:
    """Return a placeholder for an article that is extracted later.

    For a short text, return the article itself.
    """
    if _is_short_text(document):
        return _short_article(document)
    metadata = discovery.metadata
    if not is_html(document.media_type):
        metadata = PageMetadata(title=file_name(document.url))
    return Article(metadata, extractor=UNREAD)


def _short_article(document: Document) -> Article:
    """Return the article of a short text, as a worker would."""
    article = text_article(document.payload.decode(), file_name(document.url))
    return replace(article, words=index_words(article.text))


def _is_short_text(document: Document) -> bool:
    """Return whether processing a document takes less time than sending it to a worker."""
    return (
        document.media_type == "text/plain"
        and len(document.payload) <= SHORT_BYTES
        and document.payload.isascii()
    )


class _Child:
    """One worker process; ``on_ready`` is called once it has started."""

    def __init__(self, process: asyncio.subprocess.Process, on_ready: Callable[[], None]) -> None:
        self.process = process
        self.tasks = 0
        self._on_ready = on_ready

    @classmethod
    async def start(cls, memory: int, nice: int, on_ready: Callable[[], None]) -> "_Child":
        process = await start_child(
            "archiver.pages.worker",
            *(str(memory), str(nice)),
            MALLOC_ARENA_MAX="1",
        )
        return cls(process, on_ready)

    async def ask(self, request: bytes) -> bytes:
        """Send a request and read the answer."""
        source, sink = self.process.stdout, self.process.stdin
        if source is None or sink is None:
            raise OSError("the worker has no pipes")
        is_new = not self.tasks
        self.tasks += 1
        sink.write(request)
        await sink.drain()
        if is_new:
            await source.readexactly(len(READY))
            self._on_ready()
        (size,) = PREFIX.unpack(await source.readexactly(PREFIX.size))
        if size > MAX_ANSWER_BYTES:
            raise OSError("the worker's response is too long")
        return await source.readexactly(size)

    def is_large(self) -> bool:
        """Return whether the process holds more memory than an idle worker should."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return False
        return pages * PAGE_SIZE > MAX_IDLE_BYTES
