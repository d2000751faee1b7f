"""The gateway's own log: one line for each fact, on standard error, without secrets."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

from engine.telemetry.access_log import moment

LOGGERS = ("modelway", "gunicorn.error")
_TRACEBACK = 8_000

Redact = Callable[[str], str]


def _same(words: str) -> str:
    return words


class Format(logging.Formatter):
    """A record as one line of printable ASCII. `redact` takes secrets out of words."""

    def __init__(self, text: bool = False, redact: Redact = _same) -> None:
        super().__init__()
        self._text = text
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {
            "time": moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "worker": os.getpid(),
            "message": self._redact(record.getMessage()),
        }
        if record.exc_info and record.exc_info[0] is not None:
            row["exception"] = self._redact(self.formatException(record.exc_info))[-_TRACEBACK:]
        if not self._text:
            return _escaped(json.dumps(row))
        said = f"{row['time']} {row['level']:<7} [{row['worker']}] {_escaped(row['message'])}"
        return f"{said} {_escaped(json.dumps(row['exception']))}" if "exception" in row else said


def _escaped(words: str) -> str:
    """Nothing that ends a line or steers a terminal."""
    return "".join(
        c if " " <= c <= "~" else json.dumps(c)[1:-1].replace("\x7f", "\\u007f") for c in words
    )


class Handler(logging.Handler):
    """Hands each record's line to `write`, which must not wait."""

    def __init__(self, write: Callable[[bytes], None], form: logging.Formatter) -> None:
        super().__init__()
        self._write = write
        self.setFormatter(form)

    def emit(self, record: logging.LogRecord) -> None:
        self._write(self.format(record).encode() + b"\n")


def install(handler: logging.Handler, level: str, loggers: Sequence[str] = LOGGERS) -> None:
    """Send what these loggers of this process say to a handler, and nowhere else."""
    for name in loggers:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
