"""Segments as tests look at them past the program, wherever an archive has them."""

from pathlib import Path

from archiver import archive
from archiver.config import Settings


def segments(data: Path) -> dict[str, bytes]:
    """What each segment of an archive holds, in the order of their names."""
    shelf = archive.open_shelf(Settings(data=data))
    found = shelf.survey().segments
    return {each.name: b"".join(shelf.copy(each.name, 0, each.size)) for each in found}
