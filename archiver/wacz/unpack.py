"""What is in a package that others made: its WARC files and its pages."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, BinaryIO

from archiver.errors import UnreadableFile
from archiver.wire.text import well_formed

MOST_LINE = 1 << 20
MOST_FILES = 10_000
_WARC = (".warc", ".warc.gz")


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A line of ``pages.jsonl``: a URL, when it was captured as ISO 8601, and its title."""

    url: str
    ts: str
    title: str


class Package:
    """A WACZ file.

    Raises:
        UnreadableFile: it is a zip file of another kind, or a damaged one.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise UnreadableFile(f"{name} is a damaged zip file: {error}.") from error
        names = self._zip.namelist()
        self.warcs = [each for each in names if each.lower().endswith(_WARC)][:MOST_FILES]
        if not self.warcs:
            raise UnreadableFile(f"{name} is a zip file without a WARC file in it, so no WACZ.")
        self._pages = [
            each for each in names if each.startswith("pages/") and each.endswith(".jsonl")
        ]

    def open(self, name: str) -> IO[bytes]:
        """A member, to be read forward."""
        return self._zip.open(name)

    def pages(self) -> Iterator[ListedPage]:
        """Every page that is listed; lines that are none are passed over."""
        for name in self._pages:
            with self._zip.open(name) as lines:
                while line := lines.readline(MOST_LINE):
                    page = _page(line)
                    if page:
                        yield page


def _page(line: bytes) -> ListedPage | None:
    try:
        said = json.loads(line)
        return ListedPage(
            str(said["url"]), str(said["ts"]), well_formed(str(said.get("title") or ""))
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
