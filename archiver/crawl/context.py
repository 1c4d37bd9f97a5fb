"""What every stage of the crawl works with."""

from dataclasses import dataclass, field

from archiver.config import Settings
from archiver.crawl.dead_hosts import DeadHosts
from archiver.crawl.drawn import Drawn
from archiver.crawl.rendering import Renderer
from archiver.derive.pool import DerivePool
from archiver.index.database import Database
from archiver.ledger.recorder import Recorder
from archiver.net.fetcher import Fetcher
from archiver.net.throttle import Throttle
from archiver.store.segments import SegmentStore


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """The adapters of one crawling process.

    Without a renderer no page is shown by a browser.
    """

    settings: Settings
    db: Database
    store: SegmentStore
    fetcher: Fetcher
    throttle: Throttle
    derive: DerivePool
    recorder: Recorder
    renderer: Renderer | None = None
    dead: DeadHosts = field(default_factory=DeadHosts)
    drawn: Drawn = field(default_factory=Drawn)
