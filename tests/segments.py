"""Direct access of tests to segments, in a folder or a store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from archiver.config import Settings
from archiver.crawl import archive
from archiver.model.capture import Location
from archiver.warc.locks import RunLock
from archiver.warc.segment_scanning import Scanned
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.segments import SegmentStore


def storage_of(data: Path) -> SegmentStorage:
    """Return the segment storage of an archive."""
    return archive.open_storage(Settings(data=data))


@contextmanager
def segment_store(data: Path, *, segment_bytes: int = 1 << 30) -> Iterator[SegmentStore]:
    """Open the segments of an archive for writing, with a separate process lock."""
    lock = RunLock(data / "run")
    store = SegmentStore(
        storage_of(data), lock=lock, segment_bytes=segment_bytes, software="archiver/test"
    )
    try:
        yield store
    finally:
        store.close()
        lock.release()


def segments(data: Path) -> dict[str, bytes]:
    """Return the content of each segment of an archive, in order of names."""
    storage = storage_of(data)
    locations = storage.survey().segments
    return {each.name: b"".join(storage.copy(each.name, 0, each.size)) for each in locations}


def write_segment_files(data: Path, directory: Path) -> list[Path]:
    """Write the segments of an archive as files into a new folder."""
    directory.mkdir(parents=True, exist_ok=True)
    locations = {directory / name: content for name, content in segments(data).items()}
    for path, content in locations.items():
        path.write_bytes(content)
    return [*locations]


def damage_record(data: Path, kind: str, url_part: str) -> None:
    """Change bytes in the middle of all records of a type whose target URI contains a text."""
    storage = storage_of(data)
    for segment in storage.survey().segments:
        locations = [
            each.place()
            for each in storage.scan(segment.name)
            if isinstance(each, Scanned)
            and each.record.type == kind
            and url_part in (each.record.target_uri or "")
        ]
        if locations:
            change_segment(
                data,
                segment.name,
                lambda content, locations=locations: _flip_bits(content, locations),
            )


def _flip_bits(content: bytearray, places: list[Location]) -> None:
    for each in places:
        middle = each.offset + each.length // 2
        for n in range(middle, middle + 8):
            content[n] ^= 0xFF


def change_segment(data: Path, name: str, change: Callable[[bytearray], None]) -> None:
    """Change the bytes of a segment in place."""
    content = bytearray(segments(data)[name])
    change(content)
    (data / "warc" / name).write_bytes(content)
