"""JSON values read one at a time.

The standard library's parser runs on one value at a time. So memory is bounded by one value, and a
file that is truncated or invalid in one place yields all other values. The input is text, so that
UTF-16 and byte order marks are handled by the decoder, as for every format.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from archiver.formats.source_file import SourceFile
from archiver.model.imports import NO_JSON, format_problem
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken

MAX_VALUE = 32 << 20
"""Maximum characters of one value; a tree of bookmarks is one value."""
MAX_PARTS = 1_000_000
"""Maximum number of commas in a long value: each means at least one Python object."""
_LONG = 4 << 20
_MAX_DIGITS = 40
_MARGIN = 32
_MAX_EXCERPT = 200
_MAX_LINE = 1 << 14
"""Characters in which the end of an invalid line is looked for, so that time stays linear."""
_BETWEEN = re.compile(r"[\s,\x1e]*+")
_SKIPPED = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]|[^\[\]{}"]++', re.DOTALL)
_UNTERMINATED = ("Unterminated string", "Invalid \\")
_ENDED = marked("The file ends unexpectedly here; it may be truncated.")


class JsonText:
    """JSON text that is read incrementally from start to end.

    An invalid value is yielded as a bookmark with a problem.
    """

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._buffer = ""
        self._pos = 0
        self._ended = False
        self._is_lines = False

    def values(self) -> Iterator[Any | Bookmark]:
        """Yield the items of an array, or value after value (JSON lines)."""
        is_array = self._peek() == "["
        self._is_lines = not is_array
        if is_array:
            self._pos += 1
        while (following := self._peek()) and not (is_array and following == "]"):
            yield from self._value()

    def one(self) -> Iterator[Any | Bookmark]:
        """Yield the value at the start of the text."""
        if self._peek():
            yield from self._value()

    def members(self, *arrays: str) -> Iterator[tuple[str, Any | Bookmark]]:
        """Yield (name, value) of each member of an object.

        A member whose name is in ``arrays`` is yielded item by item.
        """
        if self._peek() != "{":
            return
        self._pos += 1
        while (following := self._peek()) and following != "}":
            name = next(self._value(), None)
            if not isinstance(name, str) or not self._colon():
                yield "", broken(str(name), format_problem(NO_JSON, "a name is missing"))
                return
            if self._peek() == "[" and name in arrays:
                self._pos += 1
                while (item := self._peek()) and item != "]":
                    for value in self._value():
                        yield name, value
                self._pos += 1
            else:
                for value in self._value():
                    yield name, value
        self._pos += following == "}"

    def _colon(self) -> bool:
        is_there = self._peek() == ":"
        self._pos += is_there
        return is_there

    def _peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            between = _BETWEEN.match(self._buffer, self._pos)
            self._pos = between.end() if between else self._pos
            if self._pos < len(self._buffer):
                return self._buffer[self._pos]
            if not self._fill_buffer():
                return ""

    def _value(self) -> Iterator[Any | Bookmark]:
        """Yield the next value; skip an invalid one and yield its problem."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._pos)
            except RecursionError:
                yield self._skip_value(format_problem(NO_JSON, "it is nested too deeply"))
                return
            except json.JSONDecodeError as error:
                if self._may_be_truncated(error) and len(self._buffer) - self._pos < MAX_VALUE:
                    problem = self._read_on()
                    if not problem:
                        continue
                    yield self._skip_value(problem)
                    return
                yield self._skip_value(format_problem(NO_JSON, error.msg))
                return
            if end == len(self._buffer) and self._fill_buffer():
                continue  # a number may continue
            if self._is_lines and isinstance(value, str) and "\n" in self._buffer[self._pos : end]:
                yield self._skip_value(format_problem(NO_JSON, "a string is not closed"))
                return
            self._pos = end
            yield value
            return

    def _read_on(self) -> str:
        """Read more of an incomplete value; return the reason if it is invalid or too large."""
        if not self._fill_buffer():
            return _ENDED
        is_long = len(self._buffer) - self._pos > _LONG
        if is_long and self._buffer.count(",", self._pos) > MAX_PARTS:
            return format_problem(NO_JSON, "it has too many parts")
        return ""

    def _may_be_truncated(self, error: json.JSONDecodeError) -> bool:
        """Return whether the value may be complete with more input."""
        near = error.pos + _MARGIN >= len(self._buffer)
        return near or error.msg.startswith(_UNTERMINATED)

    def _skip_value(self, problem: str) -> Bookmark:
        """Skip an invalid value up to its closing bracket.

        A value without brackets is skipped up to the end of its line. In JSON lines, any other
        value is skipped up to the next line that starts with an object.
        """
        next_line = "\n" if self._buffer.startswith('"', self._pos) else "\n{"
        following = self._buffer.find(next_line, self._pos, self._pos + _MAX_LINE)
        if self._is_lines and following > 0:
            chunk = self._buffer[self._pos : min(following, self._pos + _MAX_EXCERPT)]
            self._pos = following
            return broken(chunk.strip(), problem)
        chunk = ""
        depth = 0
        has_begun = False
        while True:
            token = _SKIPPED.match(self._buffer, self._pos)
            if token is None:
                if not self._fill_buffer():
                    return broken(chunk.strip(), problem)
                continue
            if token[0] in "]}" and depth == 0:
                self._pos += not has_begun
                return broken(chunk.strip(), problem)
            depth += (token[0] in "[{") - (token[0] in "]}")
            chunk += token[0][: _MAX_EXCERPT - len(chunk)]
            self._pos = token.end()
            has_begun = True
            is_line = token[0][0] not in '[{"' and "\n" in token[0]
            if depth == 0 and (token[0] in "]}" or is_line):
                return broken(chunk.strip(), problem)

    def _fill_buffer(self) -> bool:
        """Read at least as much as is buffered, so that rescanning stays linear."""
        parts = [self._buffer[self._pos :]]
        size, read = max(1, len(parts[0])), 0
        self._pos = 0
        while read < size and not self._ended:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._ended = True
            else:
                parts.append(chunk)
                read += len(chunk)
        self._buffer = "".join(parts)
        return read > 0


def whole_json(file: SourceFile) -> Any | Bookmark:
    """Return the value of a file; None if the file is empty.

    If the value is invalid, return a bookmark with the problem.
    """
    return next(JsonText(file.chunks()).one(), None)


def of_object(
    file: SourceFile, read: Callable[[dict[str, Any]], Iterator[Bookmark]]
) -> Iterator[Bookmark]:
    """Yield what ``read`` finds in the file's object, or the reason why it cannot be read."""
    document = whole_json(file)
    if isinstance(document, Bookmark):
        yield document
    elif isinstance(document, dict):
        yield from read(document)


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


_DECODER = json.JSONDecoder(strict=False, parse_int=_number)
