"""Whether the conditions of a policy `deny` refuse more or less than others did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from engine.offline.diff.flat_schema import BOUNDS
from engine.offline.diff.schemas import Walk
from engine.policies.deny import Deny
from engine.source.reader import SourceDocument
from engine.spec.conditions import Condition
from engine.spec.document.node import Library, Node

_COMPARED = frozenset(
    {"type", "enum", "const", "pattern", "multipleOf", "required"}
    | {"title", "description", "$comment", *BOUNDS}
)
"""Keywords that are compared. With any other it is not known which schema accepts more."""

Conditions = Mapping[tuple[str, str], Condition]


class Direction(Enum):
    """How what is refused changes. `OTHER`: some may be let through now, or it is not known."""

    MORE = "more"
    LESS = "less"
    OTHER = "other"


def direction(old: Deny, new: Deny) -> Direction:
    """How what is refused changes from one policy to another with other conditions."""
    more, less = _refuses_all_of(new, old), _refuses_all_of(old, new)
    if more == less:
        return Direction.OTHER
    return Direction.MORE if more else Direction.LESS


def _refuses_all_of(wide: Deny, narrow: Deny) -> bool:
    """Whether `wide` refuses all that `narrow` does, as far as that can be told."""
    if narrow.reads_body and not wide.reads_body:
        return False  # which refuses bodies that cannot be read
    if not _hold_with(_by_place(wide.conditions), _by_place(narrow.conditions)):
        return False
    if not wide.exceptions:
        return True
    if not narrow.exceptions:
        return False
    return _hold_with(_by_place(narrow.exceptions), _by_place(wide.exceptions))


def _by_place(conditions: Sequence[Condition]) -> Conditions:
    return {(each.place, each.name): each for each in conditions}


def _hold_with(wide: Conditions, narrow: Conditions) -> bool:
    """Whether all of `wide` hold wherever all of `narrow` do."""
    return all(at in narrow and _accepts_all_of(each, narrow[at]) for at, each in wide.items())


def _accepts_all_of(wide: Condition, narrow: Condition) -> bool:
    if wide.schema == narrow.schema:
        return True
    schemas = [json.loads(each.schema) for each in (narrow, wide)]
    if wide.as_scalar != narrow.as_scalar or not all(map(_is_compared, schemas)):
        return False
    before, after = (_node(schema, name) for schema, name in zip(schemas, "ab", strict=True))
    return not any(Walk(of_responses=False).compare(before, after, ""))


def _is_compared(schema: dict[str, Any]) -> bool:
    return _COMPARED.issuperset(schema) and not {"const", "enum"} <= schema.keys()


def _node(schema: dict[str, Any], name: str) -> Node:
    file = Path(f"/{name}")
    return Node(Library(file, {file: SourceDocument(name, "", schema)}), file, (), schema)
