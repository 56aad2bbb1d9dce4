"""Logs to standard error: one line per event, readable on a console or as JSON for machines.

Tracebacks are written without local variables, because one of them may be a token.
"""

import logging
import sys
from typing import Final, TextIO

import structlog

CONSOLE: Final = "console"
JSON: Final = "json"
FORMATS: Final = (CONSOLE, JSON)


def configure(log_format: str, stream: TextIO | None = None) -> None:
    """Send the log events of the server and of its libraries to the stream, in one format."""
    target = stream or sys.stderr
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(log_format, colours=target.isatty()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)


def _renderers(log_format: str, *, colours: bool) -> list[structlog.typing.Processor]:
    if log_format == JSON:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)]
