"""Recipes of statements that earlier processes compiled, in one small file beside the archive.

It may be missing, of another version, damaged or not ours to read or write: then statements are
compiled, and nobody hears of it. What it can do is what whoever may write it can do anyway, who
may write the index too: it is read by a connection that changes nothing, and holds one statement
that reads for each text.
"""

import json
import os
import sqlite3
import sys
from binascii import crc32
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from archiver.index.core.recipe import Recipe, read
from archiver.kept_file import KeptFile

FILE = "statements.json"
MOST_BYTES = 1 << 20
MOST_RECIPES = 400
"""What is more begins from none: shapes of queries have no end."""
_LAYOUT = 1
_INDEX = Path(__file__).parents[1]


class KeptRecipes:
    """The recipes that are kept, and those that are to be.

    Args:
        directory: where the file lies.
        index: the modules that statements are written in.
    """

    def __init__(self, directory: Path, index: Path = _INDEX) -> None:
        self._file = KeptFile(directory / FILE)
        self._version = version(index)
        self._known = self._read()
        self._fresh: dict[str, Recipe] = {}

    def get(self, text: str) -> Recipe | None:
        """The recipe of a statement, if it is kept."""
        if text in self._fresh:
            return self._fresh[text]
        with suppress(KeyError, TypeError, ValueError):
            return read(self._known[text])
        return None

    def forget(self, text: str) -> None:
        """Take no more for a recipe what is kept of a statement."""
        self._known.pop(text, None)

    def put(self, text: str, recipe: Recipe) -> None:
        """Keep a recipe, once ``save`` is called."""
        self._fresh[text] = recipe

    def save(self) -> None:
        """Write down what was put, beside what others put meanwhile; where that can't be, not."""
        if not self._fresh or self._version is None:
            return
        fresh: dict[str, object] = {text: recipe.written() for text, recipe in self._fresh.items()}
        self._fresh = {}
        known = {**self._read(), **fresh}
        if len(known) > MOST_RECIPES:
            known = fresh
        content = self._written(known)
        if len(content) > MOST_BYTES:
            content = self._written(fresh)
        if len(content) <= MOST_BYTES:
            with suppress(OSError):
                self._file.write(content)

    def _written(self, known: dict[str, object]) -> bytes:
        """The file: a sum, so that what is damaged is not taken for anything, and the rest."""
        content = json.dumps([self._version, known], separators=(",", ":")).encode()
        return b"%08x\n" % crc32(content) + content

    def _read(self) -> dict[str, object]:
        if self._version is None:
            return {}
        with suppress(OSError, ValueError, RecursionError, TypeError):
            held = self._file.read(MOST_BYTES + 1)
            if held is None or len(held) > MOST_BYTES:
                return {}
            summed, _, content = held.partition(b"\n")
            if int(summed, 16) != crc32(content):
                return {}
            of, known = json.loads(content)
            if of == self._version and isinstance(known, dict):
                return known
        return {}


def version(index: Path = _INDEX) -> list[object] | None:
    """What may change what a statement is compiled to; None where that can't be seen.

    That are the modules of the index and SQLAlchemy's, as Python itself knows that they changed.
    """
    try:
        return _seen(index)
    except OSError:  # modules in a zip file, or in the program itself, are no files
        return None


def _seen(index: Path) -> list[object]:
    found: list[object] = [_LAYOUT, sys.version, sqlite3.sqlite_version, *_marks(index)]
    spec = find_spec("sqlalchemy")
    if spec and spec.origin:
        library = Path(spec.origin)
        found += [str(library), _mark(library), _mark(library.parent / "sql" / "compiler.py")]
        found += [_mark(library.parent / "dialects" / "sqlite" / "base.py")]
    return found


def _marks(directory: Path) -> list[object]:
    found: list[object] = [str(directory)]
    for folder in (directory, directory / "core", directory / "dialect"):
        with os.scandir(folder) as entries:
            modules = sorted(
                (each.name, each.path) for each in entries if each.name.endswith((".py", ".pyc"))
            )
        found += [[name, _mark(path)] for name, path in modules]
    return found


def _mark(path: Path | str) -> list[int]:
    status = os.stat(path)  # noqa: PTH116
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
