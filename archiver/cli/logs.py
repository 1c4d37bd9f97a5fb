"""Logs go to standard error, as lines for people or as JSON for machines."""

import logging
import sys

import structlog

from archiver.config import Settings

_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure(settings: Settings) -> None:
    """Set the logs of this process up; other libraries are heard from warnings on."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    finish = _finish(as_json=settings.log_json)
    structlog.configure(
        processors=[*_SHARED, *finish],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Looked up at each line: a progress bar takes the stream's place while it is shown.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *finish],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)


def _finish(*, as_json: bool) -> list[structlog.typing.Processor]:
    if as_json:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
