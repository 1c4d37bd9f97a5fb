"""Single links as desktops keep them: Windows' ``.url`` and freedesktop's ``.desktop``."""

import re
from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.message import marked

_SECTION = re.compile(r"\s*\[(InternetShortcut|Desktop Entry)\]", re.IGNORECASE)
_URL_LINE = re.compile(r"^\s*URL(?:\[[^\]\n]*\])?\s*=", re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(r"([^=\s][^=]*?)\s*=\s*(.*?)\s*\Z")
_NOT_KEPT = ("iconfile", "iconindex", "icon", "encoding", "version", "type", "idlist")
_NO_ADDRESS = marked("This shortcut holds no address.")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    fields: dict[str, str] = {}
    for line in file.text.splitlines()[1:]:
        if line.lstrip().startswith("["):
            continue
        if found := _FIELD.match(line.strip()):
            fields.setdefault(found[1], found[2])
    row = Row(fields)
    row.drop(*_NOT_KEPT)
    url = row.text("url", "baseurl")
    name = row.text("name") or file.name.rpartition("/")[2].rpartition(".")[0]
    if not url:
        yield unreadable(file.name, _NO_ADDRESS)
        return
    yield row.bookmark(url, title=name, note=row.text("comment"))


def _fits(file: GivenFile) -> bool:
    if not file.is_text or not _SECTION.match(file.text):
        return False
    return _URL_LINE.search(file.text) is not None


SHORTCUT = Importer(
    marked("shortcut"),
    _fits,
    _read,
    ("url", "desktop"),
    marked("Windows' .url and Linux' .desktop files, one link each; a zip of them is a list"),
)
