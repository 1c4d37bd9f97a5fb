"""A source record: what an importing file said of a link and no field of ours holds, verbatim.

It is text of JSON lines: a line for each file, or row of one, that told something. So two of them
are merged by putting each line once, and a later version of this program can read more of it.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

MOST = 256 << 10
"""Characters of one entry's source record, however many files told of it."""
MOST_OF_ONE = 64 << 10
"""Characters of one line of it."""
_MOST_TEXT = 2000
"""Characters that a long text is cut to where a line would be too long; more stays if it may."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)
_CUT = " […]"
_FEW, _SHORT = 2, 50


def write_source_record(fields: Mapping[str, Any]) -> str:
    """One line of JSON; empty if nothing is said, its longest texts cut where it is too long."""
    kept = {name: value for name, value in fields.items() if value not in ("", None, [], {})}
    if not kept:
        return ""
    line = _dump(kept)
    if len(line) <= MOST_OF_ONE:
        return line
    line = _dump({name: _shortened(value) for name, value in kept.items()})
    return line if len(line) <= MOST_OF_ONE else _dump({"left out": [*kept][:100]})


def merged_source_records(first: str, second: str) -> str:
    """The lines of both, each once, as many as there is room for."""
    if not second or second == first:
        return first
    lines = first.split("\n") if first else []
    known, room = {*lines}, MOST - len(first)
    for line in second.split("\n"):
        if line not in known and len(line) < room:
            known.add(line)
            lines.append(line)
            room -= len(line) + 1
    return "\n".join(lines)


def bounded_source_record(record: str) -> str:
    """A stranger's source record: as many of its lines as there is room for."""
    return record if len(record) <= MOST else merged_source_records("", record)


def read_source_record(record: str) -> list[dict[str, Any]]:
    """What it says, a value for each line; a line that is no JSON object is passed over."""
    found = []
    for line in record.split("\n"):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict):
            found.append(fields)
    return found


def _dump(fields: Mapping[str, Any]) -> str:
    if len(fields) <= _FEW and all(
        type(each) is str and len(each) < _SHORT for each in fields.values()
    ):
        return _written(tuple(fields.items()))
    return _dumped(fields)


@lru_cache(1024)
def _written(fields: tuple[tuple[str, str], ...]) -> str:
    """The same of a few texts: many rows say the same of their links, such as ``shared: no``."""
    return _dumped(dict(fields))


def _dumped(fields: Mapping[str, Any]) -> str:
    try:
        return _ENCODER.encode(fields)
    except (RecursionError, ValueError):
        return json.dumps({"left out": [*map(str, fields)][:100]}, ensure_ascii=False)


def _shortened(value: Any) -> Any:
    text = value if isinstance(value, str) else _dump({"": value})[4:-1]
    if len(text) <= _MOST_TEXT:
        return value
    return text[:_MOST_TEXT] + _CUT
