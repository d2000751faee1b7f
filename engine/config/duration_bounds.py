"""Bounds of durations, which a pattern cannot express: the annotation `bounds` of a key.

A message names the bound, never the value, which may be a secret from `${...}`.
"""

from __future__ import annotations

from contextlib import suppress

from engine.config import keys
from engine.source.problem import Findings, Path, Source
from engine.values import units
from engine.values.trees import Section


def check(value: object, source: Source, findings: Findings) -> list[Path]:
    """Note the durations of a gateway.yaml that are out of bounds. Returns their paths."""
    breaches: list[Path] = []
    for at, text, key in keys.values(value, keys.root(), "bounds"):
        if key is not None and isinstance(text, str) and (bound := breach(text, key.schema)):
            message, hint = f"'{at[-1]}' must be {bound}", f"write {example(key.schema)}"
            findings.error(source, at, "MW104", message, hint)
            breaches.append(at)
    return breaches


def breach(text: str, schema: Section) -> str:
    """The bound of a key's schema that a duration breaks, as `1ms or more`; "" for none, and for a
    text that is not a duration."""
    least, most = schema.get(keys.ANNOTATION, {}).get("bounds", (None, None))
    with suppress(ValueError):
        seconds = units.seconds(text)
        if least is not None and seconds < units.seconds(least):
            return f"{least} or more"
        if most is not None and seconds > units.seconds(most):
            return f"{most} or less"
    return ""


def example(schema: Section) -> str:
    """A duration that a key may have."""
    return str(schema.get("examples", [schema["default"]])[0])
