"""The gateway's own log: one line for each record, on standard error, without secrets."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

from engine.telemetry.access_log_row import timestamp

LOGGERS = ("modelway", "gunicorn.error")
_MAX_TRACEBACK = 8_000

Redact = Callable[[str], str]


class LineFormatter(logging.Formatter):
    """Formats a record as one line of printable ASCII. `redact` removes secrets from text."""

    def __init__(self, text: bool = False, redact: Redact = str) -> None:
        super().__init__()
        self._text = text
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {
            "time": timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "worker": os.getpid(),
            "message": self._redact(record.getMessage()),
        }
        if record.exc_info and record.exc_info[0] is not None:
            traceback = self._redact(self.formatException(record.exc_info))
            row["exception"] = traceback[-_MAX_TRACEBACK:]
        if not self._text:
            return _escape(json.dumps(row))
        line = f"{row['time']} {row['level']:<7} [{row['worker']}] {_escape(row['message'])}"
        return f"{line} {_escape(json.dumps(row['exception']))}" if "exception" in row else line


def _escape(text: str) -> str:
    """Text without line ends and terminal control sequences."""
    return "".join(
        c if " " <= c <= "~" else json.dumps(c)[1:-1].replace("\x7f", "\\u007f") for c in text
    )


class LineHandler(logging.Handler):
    """Passes the line of each record to `write`, which must not block."""

    def __init__(self, write: Callable[[bytes], None], formatter: logging.Formatter) -> None:
        super().__init__()
        self._write = write
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        self._write(self.format(record).encode() + b"\n")


def install(handler: logging.Handler, level: str, loggers: Sequence[str] = LOGGERS) -> None:
    """Make `handler` the only handler of these loggers, and set their level."""
    for name in loggers:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
