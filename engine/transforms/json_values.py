"""Values that edits insert into bodies: any value of YAML; its strings are templates."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import orjson

from engine.transforms.template import Template, TemplateValues

MISSING: Any = object()
"""The result for a value with a template that has no value."""


class JsonValue:
    """A compiled value. `constant` is its JSON text if its templates have no names, else None;
    `sample` is the value with its templates unfilled."""

    __slots__ = ("_value", "constant", "sample")

    def __init__(self, value: Any, compile_text: Callable[[str], Template]) -> None:
        """Raises ValueError for a value that JSON cannot represent."""
        self.sample = _sample(value)
        self._value = _compiled(value, compile_text)
        constant = _filled(self._value, None)
        self.constant = None if constant is MISSING else _text(constant)

    def fill(self, values: TemplateValues) -> bytes | None:
        """The JSON text; None if a template has no value."""
        if self.constant is not None:
            return self.constant
        filled = _filled(self._value, values)
        return None if filled is MISSING else _text(filled)


def _text(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise ValueError(f"JSON cannot hold it: {error}") from error


def _sample(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("JSON has no infinity and no NaN")
    if isinstance(value, dict):
        return {name: _sample(below) for name, below in value.items()}
    return [_sample(item) for item in value] if isinstance(value, list) else value


def _compiled(value: Any, compile_text: Callable[[str], Template]) -> Any:
    if isinstance(value, str):
        template = compile_text(value)
        return template if template.constant is None else template.constant
    if isinstance(value, dict):
        return {name: _compiled(below, compile_text) for name, below in value.items()}
    return [_compiled(item, compile_text) for item in value] if isinstance(value, list) else value


def _filled(value: Any, values: TemplateValues | None) -> Any:
    """The value with its templates filled in; MISSING if one has no value, or without `values`."""
    if isinstance(value, Template):
        text = None if values is None else value.fill(values)
        return MISSING if text is None else text
    if isinstance(value, dict):
        members = {name: _filled(below, values) for name, below in value.items()}
        return MISSING if MISSING in members.values() else members
    if isinstance(value, list):
        items = [_filled(item, values) for item in value]
        return MISSING if any(item is MISSING for item in items) else items
    return value
