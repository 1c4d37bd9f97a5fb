"""JSON and JSON lines of a kind nobody knows: objects with an address in them, however wrapped."""

from collections.abc import Iterator

from archiver.formats.column_words import URL_COLUMNS
from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import guessed_in
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.rows import plain
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_LINES = ("jsonl", "ndjson")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    text = JsonText(file)
    if _is_one_object(file):
        arrays = {each.partition("[]")[0] for each in file.json_paths if "[]" in each}
        for name, value in text.members(*arrays):
            yield from guessed_in(value, (name,) if isinstance(value, list) else ())
    else:
        for value in text.values():
            yield from guessed_in(value)


def _is_one_object(file: GivenFile) -> bool:
    """Whether the rows are members of one object, and not objects one after another."""
    top = {plain(each) for each in file.json_paths if "[]" not in each and "." not in each}
    return "{}" in file.json_paths and file.suffix not in _LINES and not top & URL_COLUMNS


ANY_JSON = Importer(
    "JSON",
    lambda file: bool(file.json_paths) or (file.is_text and file.suffix in ("json", *_LINES)),
    _read,
    ("json", "jsonl", "ndjson"),
    marked("any JSON or JSON lines with addresses in it, its fields told by their names"),
)
