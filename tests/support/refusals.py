"""What a schema says of a value that it refuses."""

from __future__ import annotations

from typing import Any

from engine.spec.schemas.refusal_messages import Refusal, explain
from tests.support.documents import validator

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def refusal_of(schema: Any, value: Any, root: str = "", version: str = "3.1.0") -> Refusal:
    compiled = validator(schema, version=version)
    assert not compiled.is_valid(value)
    return explain(compiled, value, root)


def field(schema: Any, value: Any, version: str = "3.1.0") -> Refusal:
    """The refusal of a field `x`."""
    return refusal_of({"properties": {"x": schema}}, {"x": value}, version=version)
