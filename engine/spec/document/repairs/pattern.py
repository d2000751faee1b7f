"""Patterns in the syntax of another language than ECMA-262, and such that are too large."""

from __future__ import annotations

from engine.spec.document import patterns
from engine.spec.document.repairs import Schema, SchemaRepair
from engine.spec.document.schema_keywords import SOURCE_PATTERN
from engine.values.trees import Json
from engine.values.units import format_excerpt

_MAX_LENGTH = 200


def _repair(schema: Schema) -> None:
    """Write each pattern as the engine reads it; leave out one that it cannot read."""
    value = schema.value
    if isinstance(value.get("pattern"), str):
        _repair_pattern(schema)
    properties = value.get("patternProperties")
    if isinstance(properties, dict):
        _repair_names(schema, properties)


def _repair_pattern(schema: Schema) -> None:
    value = schema.value
    reading = patterns.read(value["pattern"])
    _warn(schema, ("pattern",), value["pattern"], reading)
    if reading.pattern is None or not reading.is_exact:
        schema.remove_negation()
    if reading.pattern is None:
        del value["pattern"]
        return
    value.pop(SOURCE_PATTERN, None)  # a document may have one of its own
    if reading.pattern != value["pattern"]:
        value[SOURCE_PATTERN] = value["pattern"]
    value["pattern"] = reading.pattern
    branches = value.get("allOf")
    if reading.bounds and not value.keys() & reading.bounds.keys():
        value.update(reading.bounds)
    elif reading.bounds:
        value["allOf"] = [*(branches if isinstance(branches, list) else ()), reading.bounds]


def _repair_names(schema: Schema, properties: Json) -> None:
    """Write the patterns of names as the engine reads them, with their schemas. A length cannot be
    bounded beside a name. Where a pattern cannot be read, any other name may be one of its."""
    repaired: Json = {}
    for name, member in properties.items():
        reading = patterns.read(name)
        if reading.bounds:
            reading = reading._replace(is_exact=False)
        _warn(schema, ("patternProperties", name), name, reading)
        if reading.pattern is None:
            schema.remove_negation()
            for keyword in ("additionalProperties", "unevaluatedProperties"):
                schema.value.pop(keyword, None)
        elif reading.pattern in repaired:
            repaired[reading.pattern] = {"allOf": [repaired[reading.pattern], member]}
        else:
            repaired[reading.pattern] = member
    schema.value["patternProperties"] = repaired


def _warn(schema: Schema, at: tuple[str, ...], pattern: str, reading: patterns.Reading) -> None:
    short = format_excerpt(pattern, _MAX_LENGTH)
    if patterns.is_date_format(pattern):
        message = f"{short!r} is a format of dates, not a regular expression; it is left out"
        schema.warn_at(at, "MW253", message, "write `format: date`, or an expression")
    elif reading.pattern is None:
        message = f"{short!r} is not a regular expression that can be read; it is left out"
        schema.warn_at(at, "MW253", message, "write it in the syntax of ECMA-262")
    elif not reading.is_exact:
        message = f"{short!r} is too large; its long repetitions are read without their most"
        hint = "write minLength and maxLength for the length"
        if "(?>" in pattern:
            message = f"{short!r} has an atomic group, which is read as a plain group"
            hint = "write it without '(?>'"
        schema.warn_at(at, "MW253", message, hint)
    elif not reading.is_standard:
        as_written = "it is written" if reading.pattern == pattern else repr(reading.pattern)
        kind = "in the slashes of a literal" if pattern[0] == "/" else "not of ECMA-262"
        message = f"{short!r} is {kind}; it is read as {as_written[:_MAX_LENGTH]}"
        schema.warn_at(at, "MW252", message, "write it in the syntax of ECMA-262")


REPAIR = SchemaRepair(frozenset({"pattern", "patternProperties"}), _repair)
