"""Logs: events with fields, as text or JSON.

An error that is told in words, one of ours or of a disk, stands in the line as its ``reason``;
any other, which nobody foresaw, has its traceback under it.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EROFS
from types import TracebackType
from typing import Any

from archiver.errors import ArchiverError

_OF_A_DISK = {EDQUOT, EFBIG, EIO, ENOSPC, EROFS}
_COLOURS = {"debug": 36, "info": 32, "warning": 33, "error": 31, "critical": 31}
_FIELDS = "fields"

ExcInfo = (
    bool
    | BaseException
    | tuple[type[BaseException], BaseException, TracebackType | None]
    | tuple[None, None, None]
)


class Log:
    """Where one module says what happens: ``log.warning("page not read", url=url)``."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def info(self, event: str, **fields: object) -> None:
        """What a person may want to know."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """What is worse than it could be."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, *, exc_info: ExcInfo = False, **fields: object) -> None:
        """What went wrong, and by which error."""
        self._write(logging.ERROR, event, fields, exc_info)

    def exception(self, event: str, **fields: object) -> None:
        """What went wrong, by the error that is handled just now."""
        self._write(logging.ERROR, event, fields, exc_info=True)

    def _write(
        self, level: int, event: str, fields: dict[str, object], exc_info: ExcInfo = False
    ) -> None:
        error = sys.exception() if exc_info is True else exc_info
        if isinstance(error, ArchiverError) or _is_of_a_disk(error):
            fields, exc_info = {**fields, "reason": str(error)}, False
        # Given as an argument, since an event may hold a percent sign.
        self._logger.log(level, "%s", event, extra={_FIELDS: fields}, exc_info=exc_info)


def get_log(name: str) -> Log:
    """The log of a module."""
    return Log(name)


def configure(level: str, *, as_json: bool) -> None:
    """Set the logs of this process up; other libraries are heard from warnings on."""
    handler = _StandardError()
    handler.setFormatter(_JsonLines() if as_json else _Lines())
    least = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=max(least, logging.WARNING), force=True)
    logging.getLogger("archiver").setLevel(least)


def _is_of_a_disk(error: object) -> bool:
    """Whether a disk is full, may not be written, or is broken, which its words say."""
    return isinstance(error, OSError) and error.errno in _OF_A_DISK


class _StandardError(logging.StreamHandler[Any]):
    """Looks the stream up at each line: a progress bar takes its place while it is shown."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        """Where lines go just now."""
        return sys.stderr


class _Lines(logging.Formatter):
    """``2026-11-21T22:00:00Z [warning] page not read url='http://…'``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback under it."""
        level = record.levelname.lower()
        shown = f"\x1b[{_COLOURS.get(level, 0)}m{level}\x1b[0m" if sys.stderr.isatty() else level
        fields = "".join(f" {name}={value!r}" for name, value in _fields(record).items())
        line = f"{_moment(record)} [{shown}] {record.getMessage()}{fields}"
        return f"{line}\n{_traceback(self, record)}" if record.exc_info else line


class _JsonLines(logging.Formatter):
    """``{"timestamp": …, "level": …, "event": …}`` with the fields and the ``exception``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever is in it."""
        line = {
            "timestamp": _moment(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = _traceback(self, record)
        return json.dumps(line, default=str)


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = getattr(record, _FIELDS, {})
    return fields


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return formatter.formatException(record.exc_info) if record.exc_info else ""
