"""Numbers, `true` and `false` that are written as texts: `maxLength: "10"`."""

from __future__ import annotations

import json
import re
from typing import Any

from engine.spec.document.repairs import Schema, SchemaRepair, Turn

_NUMBERS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
    | {"minContains", "maxContains"}
)
_FLAGS = frozenset(
    {"uniqueItems", "nullable", "readOnly", "writeOnly", "exclusiveMinimum", "exclusiveMaximum"}
    | {"additionalProperties", "unevaluatedProperties", "required"}
)
_KEYS = _NUMBERS | _FLAGS
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?")
_FLAG_TEXTS = {"true": True, "false": False}


def _repair(schema: Schema) -> None:
    """Read the text as what it says."""
    value = schema.value
    for key in sorted(_KEYS & value.keys()):
        text = value[key]
        if not isinstance(text, str):
            continue
        read = _read(key, text.strip())
        if read is not None:
            value[key] = read
            message = f"'{key}' is the text {text[:40]!r}; it is read as {json.dumps(read)}"
            schema.warn(key, "MW255", message, f"write it without quotes: {json.dumps(read)}")


def _read(key: str, text: str) -> Any:
    if key in _FLAGS and text.lower() in _FLAG_TEXTS:
        return _FLAG_TEXTS[text.lower()]
    return json.loads(text) if key in _NUMBERS and _NUMBER.fullmatch(text) else None


REPAIR = SchemaRepair(_KEYS, _repair, turn=Turn.TYPES)
