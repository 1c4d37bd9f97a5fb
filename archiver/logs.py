"""Logs: events with fields, as text or JSON.

Expected errors (``ArchiverError``, disk errors) are logged as a ``reason`` field; unexpected ones
with a traceback.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from enum import Enum
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EROFS
from types import TracebackType
from typing import Any

from archiver.errors import ArchiverError

_DISK_ERRORS = {EDQUOT, EFBIG, EIO, ENOSPC, EROFS}
_COLOURS = {"debug": 36, "info": 32, "warning": 33, "error": 31, "critical": 31}
_FIELDS = "fields"

ExcInfo = (
    bool
    | BaseException
    | tuple[type[BaseException], BaseException, TracebackType | None]
    | tuple[None, None, None]
)


class Log:
    """Logger of one module: ``log.warning("page not read", url=url)``."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def info(self, event: str, **fields: object) -> None:
        """Log normal operation."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Log a problem that was handled."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, *, exc_info: ExcInfo = False, **fields: object) -> None:
        """Log a failure, with its exception if ``exc_info`` is given."""
        self._write(logging.ERROR, event, fields, exc_info)

    def exception(self, event: str, **fields: object) -> None:
        """Log a failure with the exception that is being handled."""
        self._write(logging.ERROR, event, fields, exc_info=True)

    def _write(
        self, level: int, event: str, fields: dict[str, object], exc_info: ExcInfo = False
    ) -> None:
        error = sys.exception() if exc_info is True else exc_info
        if isinstance(error, ArchiverError) or _is_disk_error(error):
            fields, exc_info = {**fields, "reason": str(error)}, False
        # Passed as an argument, since an event may contain a percent sign.
        self._logger.log(level, "%s", event, extra={_FIELDS: fields}, exc_info=exc_info)


def get_log(name: str) -> Log:
    """Return the log of a module."""
    return Log(name)


def configure(level: str, *, as_json: bool) -> None:
    """Configure logging for this process; other libraries log warnings and errors only."""
    handler = _StandardError()
    handler.setFormatter(_JsonLines() if as_json else _Lines())
    least = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=max(least, logging.WARNING), force=True)
    logging.getLogger("archiver").setLevel(least)


def _is_disk_error(error: object) -> bool:
    """Return whether the disk is full, read-only or broken; the message already says which."""
    return isinstance(error, OSError) and error.errno in _DISK_ERRORS


class _StandardError(logging.StreamHandler[Any]):
    """Handler that looks up ``sys.stderr`` for each line, because a progress bar replaces it."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        """The current standard error."""
        return sys.stderr


class _Lines(logging.Formatter):
    """``2026-11-21T22:00:00Z [warning] page not read url=http://… reason="no route"``."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one line, followed by the traceback if there is one."""
        level = record.levelname.lower()
        shown = f"\x1b[{_COLOURS.get(level, 0)}m{level}\x1b[0m" if sys.stderr.isatty() else level
        fields = "".join(f" {name}={_shown(value)}" for name, value in _fields(record).items())
        line = f"{_timestamp(record)} [{shown}] {record.getMessage()}{fields}"
        return f"{line}\n{_traceback(self, record)}" if record.exc_info else line


class _JsonLines(logging.Formatter):
    """``{"timestamp": …, "level": …, "event": …}`` with the fields and the ``exception``."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one JSON line."""
        line = {
            "timestamp": _timestamp(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = _traceback(self, record)
        return json.dumps(line, default=str)


def _shown(value: object) -> str:
    """Return a value in one line, in quotes only if it contains spaces, quotes or controls."""
    text = str(value.value if isinstance(value, Enum) else value)
    is_plain = text.isprintable() and text and not set(text) & set(' "')
    return text if is_plain else json.dumps(text, ensure_ascii=not text.isprintable())


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = getattr(record, _FIELDS, {})
    return fields


def _timestamp(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return formatter.formatException(record.exc_info) if record.exc_info else ""
