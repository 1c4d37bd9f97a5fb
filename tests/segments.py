"""Direct access of tests to segments, in a folder or a store."""

from collections.abc import Callable
from pathlib import Path

from archiver.config import Settings
from archiver.crawl import archive
from archiver.model.capture import Location
from archiver.warc.segment_scanning import Scanned
from archiver.warc.segment_storage import SegmentStorage


def storage_of(data: Path) -> SegmentStorage:
    """Return the segment storage of an archive."""
    return archive.open_storage(Settings(data=data))


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
