"""Bounds of durations, which a pattern cannot express: the annotation `bounds` of a key.

A message names the bound, never the value, which may be a secret from `${...}`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from engine.config import keys
from engine.config.keys import Key
from engine.source.problem import Findings, Path, Source
from engine.values import units


def check(value: Any, source: Source, findings: Findings) -> list[Path]:
    """Note the durations of a gateway.yaml that are out of bounds. Returns their paths."""
    breaches: list[Path] = []
    for at, text, key in keys.values(value, keys.root(), "bounds"):
        if key is not None and isinstance(text, str) and (bound := _bound(text, key)):
            message, hint = f"'{at[-1]}' must be {bound}", f"write {_example(key)}"
            findings.error(source, at, "MW104", message, hint)
            breaches.append(at)
    return breaches


def _bound(text: str, key: Key) -> str:
    """The bound that a duration breaks, "" for none. The schema reports texts that are no
    duration."""
    least, most = key.notes["bounds"]
    with suppress(ValueError):
        seconds = units.seconds(text)
        if seconds < units.seconds(least):
            return f"{least} or more"
        if most is not None and seconds > units.seconds(most):
            return f"{most} or less"
    return ""


def _example(key: Key) -> str:
    return str(key.schema.get("examples", [key.schema["default"]])[0])
