"""JSON and JSON lines of a kind nobody knows: objects with an address in them, however wrapped."""

from collections.abc import Collection, Iterator
from typing import Any

from archiver.formats.column_words import CONTAINERS, TITLES, URL_COLUMNS
from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import guessed_in
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.rows import plain
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_LINES = ("jsonl", "ndjson")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    text = JsonText(file.chunks())
    names = {plain(each) for each in file.json_paths if "[]" not in each and "." not in each}
    arrays = {each.partition("[]")[0] for each in file.json_paths if "[]" in each}
    is_row = bool((names - {*map(plain, arrays)}) & URL_COLUMNS)
    if is_row:
        arrays = {each for each in arrays if _holds_rows(file, each)}
    if "{}" in file.json_paths and file.suffix not in _LINES and (arrays or not is_row):
        yield from _read_object(text, arrays, is_row=is_row)
    for value in text.values():
        yield from guessed_in(value)


def _read_object(text: JsonText, arrays: Collection[str], *, is_row: bool) -> Iterator[Bookmark]:
    """Read an object that wraps rows, each item of its arrays by itself.

    Args:
        text: begins with it.
        arrays: the names of those.
        is_row: it has an address of its own, so what is not in these arrays is one row.
    """
    own: dict[str, Any] = {}
    for name, value in text.members(*arrays):
        if isinstance(value, Bookmark):
            yield value
        elif is_row and name not in arrays:
            own[name] = value
        else:
            yield from guessed_in(value, (name,) if isinstance(value, list) else ())
    if own:
        yield from guessed_in(own)


def _holds_rows(file: GivenFile, array: str) -> bool:
    """Whether an array of an object that has an address itself is a list of links."""
    fields = {
        plain(each.removeprefix(f"{array}[]."))
        for each in file.json_paths
        if each.startswith(f"{array}[].")
    }
    has_titles = fields & URL_COLUMNS and not fields.isdisjoint(TITLES)
    return "rel" not in fields and (has_titles or plain(array) in CONTAINERS)


ANY_JSON = Importer(
    "JSON",
    lambda file: bool(file.json_paths) or (file.is_text and file.suffix in ("json", *_LINES)),
    _read,
    ("json", "jsonl", "ndjson"),
    marked("any JSON or JSON lines with addresses in it, its fields told by their names"),
)
