"""A template where none is filled in: in the plain headers of an upstream, or in doubled braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.offline.check.audit import AuditCase
from engine.source.problem import Path
from engine.transforms.template import is_name

_PLAIN = re.compile(r"\{([^{}]*)\}")
_DOUBLED = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_KEY = "transform"


def check(case: AuditCase) -> None:
    config = case.config.source.value
    for name, upstream in (config.get("upstreams") or {}).items():
        at: Path = ("upstreams", name, "headers")
        for path, text in _texts((upstream or {}).get("headers"), at):
            _check_plain(case, path, text)
    for path, text in _texts(config, ()):
        if _KEY in path:
            _check_doubled(case, path, text)


def _check_plain(case: AuditCase, path: Path, text: str) -> None:
    for match in _PLAIN.finditer(text):
        if is_name(match[1]):
            message = f"'{match[0]}' is sent as it is written: these headers have no templates"
            hint = (
                f"write it under transform: {{request: {{header: {{set: {{{path[-1]}: ...}}}}}}}}"
            )
            case.warn(path, "MW473", message, hint)
            return


def _check_doubled(case: AuditCase, path: Path, text: str) -> None:
    for match in _DOUBLED.finditer(text):
        if is_name(match[1]):
            message = f"'{match[0]}' becomes the text '{{{match[1]}}}': doubled braces are literal"
            case.warn(path, "MW473", message, f"write {{{match[1]}}} for the value")
            return


def _texts(value: Any, at: Path) -> Iterator[tuple[Path, str]]:
    """The strings in a value, with their paths."""
    if isinstance(value, str):
        yield at, value
    entries: Any = value.items() if isinstance(value, dict) else ()
    for step, entry in enumerate(value) if isinstance(value, list) else entries:
        yield from _texts(entry, (*at, step))
