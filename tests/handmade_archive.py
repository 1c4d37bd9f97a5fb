"""An archive of hand-made responses, with real records, index and service."""

import hashlib
import io
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime

from archiver.config import Settings
from archiver.db import captures, segment_rows
from archiver.db.engine import Database
from archiver.http.media_types import declared_media_type, essence_of
from archiver.http.timestamps import to_datetime
from archiver.http.urls import redirect_target
from archiver.model.capture import Capture, Exchange, PayloadDigest
from archiver.replay.addresses import Modifier
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from archiver.services.replay import Replay
from archiver.warc import writer
from archiver.warc.locks import RunLock
from archiver.warc.records import new_record_id
from archiver.warc.segments import SegmentStore
from tests.segments import storage_of

PAGE = "https://example.com/dir/page.html"
T1, T2, T3 = "20230101000000", "20240229120001", "20240301000000"
HTML = (("Content-Type", "text/html; charset=utf-8"),)
VIEWER = Viewer("http://127.0.0.1:8080")


class Archive:
    """An archive of hand-made responses."""

    def __init__(self, db: Database, store: SegmentStore, settings: Settings) -> None:
        self.db = db
        self.store = store
        self.replay = Replay(db, store, settings)

    async def add(
        self,
        url=PAGE,
        body=b"",
        at=T2,
        *,
        status=200,
        headers=(),
        head=None,
        wire_body=None,
        revisit_of=None,
    ) -> Capture:
        """Store a response; ``body`` is its payload, ``wire_body`` as it was sent."""
        lines = [f"HTTP/1.1 {status:03} OK", *(f"{name}: {value}" for name, value in headers)]
        fields = tuple((name.lower(), value) for name, value in headers)
        exchange = Exchange(
            url=url,
            at=to_datetime(at),
            ip="192.0.2.1",
            request=b"GET / HTTP/1.1\r\n\r\n",
            head="\r\n".join([*lines, "", ""]).encode("latin-1") if head is None else head,
            body=io.BytesIO(body if wire_body is None else wire_body),
            chunked=wire_body is not None,
            status=status,
            headers=fields,
            payload_digest=PayloadDigest(f"sha256:{hashlib.sha256(body).hexdigest()}"),
            payload_length=len(body),
        )
        ids = {"id": new_record_id(), "request_id": new_record_id()}
        if revisit_of:
            now = datetime.now(UTC)
            first = writer.Original(revisit_of.record_id, revisit_of.url, now)
            record = writer.revisit(exchange, refers_to=first, **ids)
        else:
            record = writer.response(exchange, **ids)
        (location,) = self.store.append([record])
        capture = Capture(
            url=url,
            timestamp=at,
            status=status,
            media_type=essence_of(declared_media_type(exchange.headers)),
            payload_digest=exchange.payload_digest,
            payload_length=len(body),
            record_id=ids["id"],
            location=location,
            is_revisit=revisit_of is not None,
            redirect_to=redirect_target(url, status, exchange.headers),
        )
        async with self.db.write() as conn:
            await segment_rows.set_indexed_with_ids(
                conn, {location.segment: location.offset + location.length}
            )
            await captures.insert_all(conn, [capture])
        return capture

    async def get(self, capture, modifier=Modifier.NONE, **options):
        """Replay a capture; return its status, headers and body."""
        replayed = await self.replay.open(capture, ReplayRequest(VIEWER, modifier, **options))
        async with aclosing(replayed.body) as body:
            data = b"".join([piece async for piece in body])
        return replayed.status, replayed.headers, data


@asynccontextmanager
async def archive_in(directory):
    """Open an empty archive in a directory."""
    settings = Settings(data=directory, max_decoded_bytes=4 << 20)
    db = await Database.open(directory / "archive.sqlite3")
    lock = RunLock(directory / "run")
    store = SegmentStore(storage_of(directory), lock=lock, segment_bytes=1 << 30, software="test")
    yield Archive(db, store, settings)
    store.close()
    lock.release()
    await db.close()
