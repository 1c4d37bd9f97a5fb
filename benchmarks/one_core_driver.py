"""A crawl whose pages are there already: what ``benchmarks.one_core`` starts, several times.

Usage: python -m benchmarks.one_core_driver REQUISITES WORDS

All of ``archiver crawl`` is at work that speaks to the index, and records go to real segments;
nothing is asked of a network, and no page is parsed.
"""

import hashlib
import os
import random
import sys
from datetime import UTC, datetime
from io import BytesIO

from archiver.app import open_app
from archiver.cli.crawl_loop import run_crawl
from archiver.config import read_settings
from archiver.crawl.context import CrawlContext
from archiver.crawl.pipeline import Pipeline
from archiver.ledger.visit_result import Visit
from archiver.memento.timestamps import to_timestamp
from archiver.model.capture import CaptureRef, PayloadDigest
from archiver.model.exchange import Exchange
from archiver.model.job import Lease
from archiver.model.page import Article, Charset, PageMetadata
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.query.findable import indexed

TEXTS = 200
VOCABULARY = 30_000


class MadeUp(Pipeline):
    """A crawl that is brought pages and what they need without asking anybody.

    Args:
        context: of the crawl.
        requisites: of each page.
        words: of each page's article.
    """

    def __init__(self, context: CrawlContext, requisites: int, words: int) -> None:
        super().__init__(context)
        self._recorder = context.recorder
        self._needed = requisites
        self._texts = texts(words)

    async def _bring(self, lease: Lease) -> Visit:
        url, at = lease.entry.url, datetime.now(UTC).replace(microsecond=0)
        article = self._texts[lease.job_id % TEXTS]
        page = await self._keep(url, at, article.text.encode(), "text/html")
        needs = [f"{url}/needed/{n}" for n in range(self._needed)]
        for each in needs:
            await self._keep(each, at, b"", "image/png")
        return Visit(
            timestamp=to_timestamp(at),
            at=at,
            page=page,
            article=article,
            requisites=tuple(RequisiteOutcome(each, RequisiteKind.IMAGE, 200) for each in needs),
            charset=Charset("UTF-8", "utf-8"),
        )

    async def _keep(self, url: str, at: datetime, text: bytes, kind: str) -> CaptureRef:
        body = f"{url}\n".encode() + text
        lines = ("HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(body)}", "", "")
        exchange = Exchange(
            url=url,
            at=at,
            ip="127.0.0.1",
            request=f"GET {url} HTTP/1.1\r\n\r\n".encode(),
            head="\r\n".join(lines).encode(),
            body=BytesIO(body),
            chunked=False,
            status=200,
            headers=(("content-type", kind), ("content-length", f"{len(body)}")),
            payload_digest=PayloadDigest(f"sha256:{hashlib.sha256(body).hexdigest()}"),
            payload_length=len(body),
        )
        return await self._recorder.keep(exchange)


def texts(length: int) -> list[Article]:
    """Some articles, whose words are as often as those of a language: the n-th an n-th so often."""
    chance = random.Random(13)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(VOCABULARY)]
    shares = [1 / n for n in range(1, VOCABULARY + 1)]
    made = []
    for number in range(TEXTS):
        text = " ".join(chance.choices(words, shares, k=length))
        said = PageMetadata(title=f"Page {number} of many", excerpt=text[:200], language="en")
        made.append(Article(said, f"<p>{text}</p>", text, words=indexed(text)))
    return made


async def crawl(requisites: int, words: int) -> int:
    """Work the queue until told to stop."""
    async with open_app(read_settings({}, os.environ)) as crawler:
        await MadeUp(crawler.context, requisites, words).run(until_empty=False)
    return 0


if __name__ == "__main__":
    sys.exit(run_crawl(crawl(*map(int, sys.argv[1:]))))
