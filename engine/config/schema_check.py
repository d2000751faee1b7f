"""Validation of gateway.yaml, or a part of it, by JSON Schema.

jsonschema_rs decides in a hundredth of jsonschema's time whether there is a breach; only then
`schema_breaches.py` finds each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import jsonschema_rs

from engine.config import keys
from engine.config.json_schema import builtin_schema, schema
from engine.source.problem import Findings, Path, Source
from engine.values.discovery import Plugins
from engine.values.trees import Json

T = TypeVar("T")


class Validator:
    """A compiled schema."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema
        self._quick = jsonschema_rs.Draft202012Validator(schema)

    def accepts(self, value: object) -> bool:
        """True if a value certainly has no breach."""
        try:
            return bool(self._quick.is_valid(value))
        except (ValueError, TypeError):  # a value that JSON cannot express
            return False


@cache
def gateway_validator() -> Validator:
    """The validator of gateway.yaml."""
    return Validator(schema())


def reject_invalid(kinds: Plugins[T], schema_of: Callable[[T], Any]) -> None:
    """Make the plug-ins of distributions unusable whose options have a schema that is none."""
    for name, kind in [*kinds.installed.items()]:
        try:
            Validator(schema_of(kind))
        except (ValueError, TypeError) as error:
            reason = str(error).strip().partition("\n")[0]
            kinds.reject(name, f"the schema of its options is not valid: {reason}")


def free_schema() -> None:
    """Free the schema of gateway.yaml and what was made of it, 2.5 MB. The next config that is read
    makes it again, in 5 ms."""
    gateway_validator.cache_clear()
    keys.free()
    schema.cache_clear()
    builtin_schema.cache_clear()


def check(
    value: object, validator: Validator, source: Source, at: Path, findings: Findings
) -> list[Path]:
    """Note every breach of the schema by `value`, which is at `at` in `source`.

    Returns the paths of the breaches.
    """
    if validator.accepts(value):
        return []
    # jsonschema takes 45 ms and 2.3 MB to import, and a gateway that starts has no breach.
    from engine.config.schema_breaches import note_breaches

    return note_breaches(value, validator.schema, source, at, findings)
