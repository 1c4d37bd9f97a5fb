"""Segments as tests look at them and change them past the program, wherever an archive has them."""

from collections.abc import Callable
from pathlib import Path

from archiver.config import Settings
from archiver.crawl import archive
from archiver.warc.segment_storage import SegmentStorage


def storage_of(data: Path) -> SegmentStorage:
    """Where the segments of an archive lie."""
    return archive.open_storage(Settings(data=data))


def segments(data: Path) -> dict[str, bytes]:
    """What each segment of an archive holds, in the order of their names."""
    storage = storage_of(data)
    found = storage.survey().segments
    return {each.name: b"".join(storage.copy(each.name, 0, each.size)) for each in found}


def as_files(data: Path, folder: Path) -> list[Path]:
    """The segments of an archive as files of a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {folder / name: content for name, content in segments(data).items()}
    for path, content in found.items():
        path.write_bytes(content)
    return [*found]


def change_segment(data: Path, name: str, change: Callable[[bytearray], None]) -> None:
    """Change bytes of a segment where they lie."""
    content = bytearray(segments(data)[name])
    change(content)
    (data / "warc" / name).write_bytes(content)
