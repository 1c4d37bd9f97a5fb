"""The service's side: a few children, the next request to whichever is free, discovery first.

A child that takes too long, or dies, is replaced; its page then has no article, which is said in
the log, and the page itself is kept all the same.
"""

import asyncio
from collections import deque
from dataclasses import replace
from typing import Any

from archiver.child_process import child_command, child_environment, end_child
from archiver.derive.least_pictures import is_too_small
from archiver.derive.messages import (
    PREFIX,
    Document,
    Task,
    pack_request,
    read_article,
    read_discovery,
    read_drawn,
    unpack,
)
from archiver.encoding.choose import is_xml
from archiver.html.plain import file_name, text_article
from archiver.logs import get_log
from archiver.model.likeness import LikenessKind, NewLikeness
from archiver.model.page import UNREAD, Article, Discovery, PageMetadata
from archiver.query.findable import indexed
from archiver.wire.sniff import is_css, is_html

__all__ = ["DerivePool", "Document", "unread_article"]

PAGES_A_CHILD = 2000
"""After so many a child is replaced: libraries in C that see hostile input may leak."""
DRAW_SECONDS = 10.0
"""A picture that takes longer is none worth showing: a page may name eight, and others wait."""
MOST_ANSWER_BYTES = 256 << 20
SHORT_BYTES = 8 << 10
SHORT_ANSWER_BYTES = 256 << 10
"""A longer answer is parsed in a thread."""
NOTHING_NEEDED = Discovery()

log = get_log(__name__)


class DerivePool:
    """The children of one process. They are started when first needed."""

    def __init__(
        self, *, processes: int, timeout: float, memory_bytes: int, max_requisites: int
    ) -> None:
        self._timeout = timeout
        self._memory = memory_bytes
        self._limit = max_requisites
        self._idle: deque[_Child | None] = deque([None] * processes)
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()
        self._children: set[_Child] = set()

    async def stop(self) -> None:
        """End every child."""
        for child in [*self._children]:
            await self._end(child)

    async def discover(self, document: Document) -> Discovery:
        """What a document needs; empty where it could not be read."""
        kind = document.media_type
        can_need = is_html(kind) or is_css(kind) or is_xml(kind) or document.link_header
        if not can_need:
            return NOTHING_NEEDED
        answer = await self._ask(Task.DISCOVER, document)
        return read_discovery(answer[0]) if answer else NOTHING_NEEDED

    async def extract(self, document: Document) -> Article:
        """The article of a document; empty where it could not be read."""
        if _is_short_text(document):
            return _short_article(document)
        answer = await self._ask(Task.EXTRACT, document)
        return read_article(*answer) if answer else Article()

    async def draw(self, kind: LikenessKind, content: bytes, url: str) -> NewLikeness | None:
        """An icon or a cover made small of a picture; None where it is none worth showing."""
        if is_too_small(kind, content):
            return None
        answer = await self._ask(Task(kind), Document(content, "", "", url))
        return read_drawn(*answer) if answer else None

    async def _ask(self, task: Task, document: Document) -> tuple[dict[str, Any], bytes] | None:
        child = await self._take(urgent=task is Task.DISCOVER)
        try:
            child = child or await self._begin()
            async with asyncio.timeout(self._seconds(task)):
                answer = await child.ask(pack_request(task, document, self._limit))
            if child.asked >= PAGES_A_CHILD:
                child, spent = None, child
                await self._end(spent)
        except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
            log.warning("page not read", task=task, url=document.url, reason=repr(error))
            child, spent = None, child
            await self._end(spent)
            return None
        except BaseException:
            child, spent = None, child
            await self._end(spent)
            raise
        finally:
            self._give(child)
        if len(answer) > SHORT_ANSWER_BYTES:
            head, payload = await asyncio.to_thread(unpack, answer)
        else:
            head, payload = unpack(answer)
        if "error" in head:
            log.warning("page not read", task=task, url=document.url, reason=head["error"])
            return None
        return head, payload

    def _seconds(self, task: Task) -> float:
        """How long a task may take."""
        is_drawn = task in (Task.ICON, Task.COVER)
        return min(self._timeout, DRAW_SECONDS) if is_drawn else self._timeout

    async def _take(self, *, urgent: bool) -> "_Child | None":
        """Wait for a place; a child if one is idle there, None where one has to be started."""
        line = self._urgent if urgent else self._patient
        while not self._idle or (not urgent and self._urgent):
            turn = asyncio.get_running_loop().create_future()
            line.append(turn)
            try:
                await turn
            except BaseException:
                if turn in line:
                    line.remove(turn)
                elif turn.done() and not turn.cancelled():
                    self._next()
                raise
        return self._idle.popleft()

    def _give(self, child: "_Child | None") -> None:
        if child:
            self._idle.appendleft(child)  # before others are started
        else:
            self._idle.append(child)
        self._next()

    def _next(self) -> None:
        for line in (self._urgent, self._patient):
            while line:
                turn = line.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return

    async def _begin(self) -> "_Child":
        child = await _Child.start(self._memory)
        self._children.add(child)
        return child

    async def _end(self, child: "_Child | None") -> None:
        if child:
            self._children.discard(child)
            await end_child(child.process)


def unread_article(document: Document, found: Discovery) -> Article:
    """What stands for an article that is left for later; a short text is read all the same."""
    if _is_short_text(document):
        return _short_article(document)
    metadata = found.metadata
    if not is_html(document.media_type):
        metadata = PageMetadata(title=file_name(document.url))
    return Article(metadata, extractor=UNREAD)


def _short_article(document: Document) -> Article:
    """A short text as a child would read it."""
    article = text_article(document.payload.decode(), file_name(document.url))
    return replace(article, words=indexed(article.text))


def _is_short_text(document: Document) -> bool:
    """Whether a document is read in less time than it takes to send it to a child."""
    return (
        document.media_type == "text/plain"
        and len(document.payload) <= SHORT_BYTES
        and document.payload.isascii()
    )


class _Child:
    """One child process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.asked = 0

    @classmethod
    async def start(cls, memory: int) -> "_Child":
        process = await asyncio.create_subprocess_exec(
            *child_command("archiver.derive.worker", str(memory)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=child_environment(MALLOC_ARENA_MAX="1", PYTHONUNBUFFERED="1"),
        )
        return cls(process)

    async def ask(self, request: bytes) -> bytes:
        """Send a request and read the answer."""
        source, sink = self.process.stdout, self.process.stdin
        if source is None or sink is None:
            raise OSError("the child has no pipes")
        self.asked += 1
        sink.write(request)
        await sink.drain()
        (size,) = PREFIX.unpack(await source.readexactly(PREFIX.size))
        if size > MOST_ANSWER_BYTES:
            raise OSError("the child's answer is too long")
        return await source.readexactly(size)
