"""Files of the data directory that are copies, where machines share an index: it has the original.

An index that has none begins with the file of whoever looks first. What another machine had of its
own before is laid aside, for its person to give again. Elsewhere the file is all there is, and
nothing here does anything.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from archiver.config import Settings
from archiver.index import shared_files
from archiver.index.database import Database
from archiver.kept_file import PRIVATE, KeptFile
from archiver.logs import get_log
from archiver.net.given_cookies import MOST_BYTES
from archiver.net.given_cookies import NAME as COOKIES

FEEDS = "feeds.opml"
LOOK_SECONDS = 5.0
PATIENCE_SECONDS = 2.0
"""So long of it whoever looks may wait for others who do."""
ASIDE, SHARED = ".aside", ".shared"
"""What is laid aside is called after the file, and so is what names the copy that was had last."""
_DIGEST_BYTES = 64
_MODES = {FEEDS: 0o644, COOKIES: PRIVATE}

log = get_log(__name__)


class SharedCopy:
    """One file, under its name.

    Args:
        file: of this machine.
        db: the index.
        most: bytes of it.
    """

    def __init__(self, file: KeptFile, db: Database, most: int) -> None:
        self._file = file
        self._name = file.path.name
        self._aside = KeptFile(file.path.with_name(self._name + ASIDE))
        self._shared = KeptFile(file.path.with_name(self._name + SHARED))
        self._db = db
        self._most = most
        self._revision: int | None = None

    async def read(self) -> bytes | None:
        """What the machines have together, of which nothing is changed; None if there is none.

        Where they have none yet it is this machine's.
        """
        if self._db.machine:
            async with self._db.read() as conn:
                found = await shared_files.find(conn, self._name)
            if found:
                return found.content
        return await self._held()

    async def fetch(self, *, within: float = 0.0) -> None:
        """Have the file as the machines have it together, in so many seconds."""
        if not self._db.machine:
            return
        revision = await self._db.look(
            lambda conn: shared_files.revision_of(conn, self._name), within=within
        )
        if revision == self._revision and (revision is not None or not await self._held()):
            return
        async with self.changing():
            pass

    async def keep_fetching(self) -> None:
        """Hear of what others change, for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS - PATIENCE_SECONDS)
            await self.fetch(within=PATIENCE_SECONDS)

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Let the block change the file while no machine does; all of them have that then.

        Raises:
            IndexUnavailable: it can't be shared; this machine's goes back to what the others have.
        """
        if not self._db.machine:
            yield
            return
        self._revision = None  # unless all of this ends well, it is to be compared again
        async with self._db.write() as conn:
            found = await shared_files.find(conn, self._name)
            if found and found.content != await self._held():
                await asyncio.to_thread(self._take, found.content)
            yield
            own = await self._held()
            if own is not None and (found is None or own != found.content):
                revision: int | None = await shared_files.put(conn, self._name, own)
            else:
                revision = found.revision if found else None
        if own is not None:
            await asyncio.to_thread(self._shared.write, _digest(own))
        self._revision = revision

    def _take(self, content: bytes) -> None:
        """Have what the machines have in the place of our own; what they never had stays beside."""
        own = self._file.read(self._most)
        if own is not None and self._shared.read(_DIGEST_BYTES) != _digest(own):
            self._aside.write(own)
            log.warning("file laid aside: the machines have another", file=str(self._aside.path))
        self._file.write(content)

    async def _held(self) -> bytes | None:
        return await asyncio.to_thread(self._file.read, self._most)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def shared_cookies(settings: Settings, db: Database, _store: object = None) -> SharedCopy:
    """The cookies that were given to the crawl."""
    return SharedCopy(KeptFile(settings.data / COOKIES), db, MOST_BYTES)


def write_copies(data: Path, found: Mapping[str, bytes]) -> None:
    """Let a folder have what was shared, before it is alone with its archive. Blocking."""
    for name, mode in _MODES.items():
        if name in found:
            KeptFile(data / name, mode=mode).write(found[name])
