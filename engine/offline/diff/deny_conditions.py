"""Whether the new conditions of a policy `deny` refuse more or less than the old ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from engine.offline.diff.compared_keywords import BOUNDS
from engine.offline.diff.schema_comparison import Walk
from engine.policies.deny import Deny
from engine.source.reader import SourceDocument
from engine.spec.document.node import Library, Node
from engine.spec.request_conditions import Condition
from engine.values.trees import Json

_COMPARED = frozenset(
    {"type", "enum", "const", "pattern", "multipleOf", "required"}
    | {"title", "description", "$comment", *BOUNDS}
)
"""Keywords that are compared. With any other keyword the direction is unknown."""

Conditions = Mapping[tuple[str, str], Condition]


class Direction(Enum):
    """The change of the refused requests. `OTHER`: some may pass now, or it is unknown."""

    MORE = "more"
    LESS = "less"
    OTHER = "other"


def direction(old: Deny, new: Deny) -> Direction:
    """The change of the refused requests from the policy `old` to `new`."""
    more, less = _refuses_all_of(new, old), _refuses_all_of(old, new)
    if more == less:
        return Direction.OTHER
    return Direction.MORE if more else Direction.LESS


def _refuses_all_of(wide: Deny, narrow: Deny) -> bool:
    """Whether `wide` certainly refuses every request that `narrow` refuses."""
    if narrow.reads_body and not wide.reads_body:
        return False  # `narrow` also refuses bodies that cannot be parsed
    if not hold_with(_by_place(wide.conditions), _by_place(narrow.conditions)):
        return False
    if not wide.exceptions:
        return True
    if not narrow.exceptions:
        return False
    return hold_with(_by_place(narrow.exceptions), _by_place(wide.exceptions))


def _by_place(conditions: Sequence[Condition]) -> Conditions:
    return {(condition.location, condition.name): condition for condition in conditions}


def hold_with(wide: Conditions, narrow: Conditions) -> bool:
    """Whether `narrow` implies `wide`: its conditions are met only if those of `wide` are."""
    return all(at in narrow and _accepts_all_of(test, narrow[at]) for at, test in wide.items())


def _accepts_all_of(wide: Condition, narrow: Condition) -> bool:
    if wide.schema == narrow.schema:
        return True
    schemas = [json.loads(condition.schema) for condition in (narrow, wide)]
    if wide.as_scalar != narrow.as_scalar or not all(map(_is_compared, schemas)):
        return False
    before, after = (_node(schema, name) for schema, name in zip(schemas, "ab", strict=True))
    changes = Walk(of_responses=False).compare((before,), (after,), "")
    return all(change.is_weaker for change in changes)


def _is_compared(schema: Json) -> bool:
    return _COMPARED.issuperset(schema) and not {"const", "enum"} <= schema.keys()


def _node(schema: Json, name: str) -> Node:
    file = Path(f"/{name}")
    return Node(Library(file, {file: SourceDocument(name, "", schema)}), file, (), schema)
