"""The kinds and sentences of the differences of two schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.offline.diff.compare import listed
from engine.offline.diff.constraints import Constraint, Fact

Wording = tuple[str, Callable[[str, Constraint], str]]
"""The kind of a difference, and its sentence: of the name of the schema and the constraint."""


def member(where: str, name: str) -> str:
    """The name of a property of the schema `where`."""
    return f"{where}.{name}" if where else name


def quoted(where: str) -> str:
    """The name of a schema in a sentence; a request body may have none."""
    return f"'{where}'" if where else "the body"


def _texts(values: Sequence[Any]) -> str:
    return listed([str(value) for value in values])


def _types(types: Any) -> str:
    return listed(sorted(types))


def _narrowed_types(where: str, it: Constraint) -> str:
    lost = "was any type" if it.loose is None else f"no longer {_types(it.loose - it.strict)}"
    return f"{quoted(where)} must be {_types(it.strict)}, {lost}"


def _widened_types(where: str, it: Constraint) -> str:
    if it.loose is None:
        return f"{quoted(where)} may be any type, was {_types(it.strict)}"
    return f"{quoted(where)} may also be {_types(it.loose - it.strict)}"


def _narrowed_bound(where: str, it: Constraint) -> str:
    was = "was unbounded" if it.loose is None else f"was {it.loose}"
    return f"{quoted(where)}: {it.name} is {it.strict}, {was}"


def _widened_bound(where: str, it: Constraint) -> str:
    now = f"has no {it.name}" if it.loose is None else f"{it.name} is {it.loose}"
    return f"{quoted(where)}: {now}, was {it.strict}"


STRICTER: Mapping[Fact, Wording] = {
    Fact.REQUIRED: (
        "field-required",
        lambda where, it: f"'{member(where, it.name)}' is required now",
    ),
    Fact.CLOSED: (
        "object-closed",
        lambda where, it: (
            f"{quoted(where)} accepts only the properties that it names"
            " (additionalProperties: false)"
        ),
    ),
    Fact.MEMBER: (
        "field-removed",
        lambda where, it: f"'{member(where, it.name)}' may no longer be sent",
    ),
    Fact.TYPE: ("type-narrowed", _narrowed_types),
    Fact.ENUM: (
        "enum-closed",
        lambda where, it: f"{quoted(where)} must be one of {_texts(it.strict)} now",
    ),
    Fact.VALUE: (
        "enum-value-removed",
        lambda where, it: f"{quoted(where)} may no longer be {_texts(it.loose)}",
    ),
    Fact.BOUND: ("bound-narrowed", _narrowed_bound),
    Fact.PATTERN: (
        "pattern-changed",
        lambda where, it: f"{quoted(where)} must match {it.strict} now",
    ),
    Fact.KEYWORD: (
        "constraint-changed",
        lambda where, it: f"{quoted(where)}: {it.name} {'has changed' if it.loose else 'is new'}",
    ),
}
"""Of a constraint that only the new schema has: requests are newly refused."""

WEAKER: Mapping[Fact, Wording] = {
    Fact.REQUIRED: (
        "field-optional",
        lambda where, it: f"'{member(where, it.name)}' may be left out now",
    ),
    Fact.CLOSED: (
        "object-opened",
        lambda where, it: f"{quoted(where)} accepts properties that it does not name now",
    ),
    Fact.MEMBER: ("field-added", lambda where, it: f"'{member(where, it.name)}' may be sent now"),
    Fact.TYPE: ("type-widened", _widened_types),
    Fact.ENUM: (
        "enum-opened",
        lambda where, it: f"{quoted(where)} may have values other than {_texts(it.strict)} now",
    ),
    Fact.VALUE: (
        "enum-value-added",
        lambda where, it: f"{quoted(where)} may also be {_texts(it.loose)}",
    ),
    Fact.BOUND: ("bound-widened", _widened_bound),
    Fact.PATTERN: (
        "pattern-removed",
        lambda where, it: f"{quoted(where)} no longer has to match {it.strict}",
    ),
    Fact.KEYWORD: (
        "constraint-loosened",
        lambda where, it: f"{quoted(where)}: {it.name} {'has changed' if it.loose else 'is gone'}",
    ),
}
"""Of a constraint that only the old schema has: requests are newly accepted."""

RESPONSES: Mapping[Fact, Wording] = {
    Fact.TYPE: (
        "response-type-widened",
        lambda where, it: (
            f"{quoted(where)} may be any type now"
            if it.loose is None
            else f"{quoted(where)} may be {_types(it.loose - it.strict)} now"
        ),
    ),
    Fact.ENUM: ("response-enum-opened", WEAKER[Fact.ENUM][1]),
    Fact.VALUE: ("response-enum-value-added", WEAKER[Fact.VALUE][1]),
    Fact.BOUND: ("response-bound-widened", WEAKER[Fact.BOUND][1]),
    Fact.KEYWORD: ("response-constraint-loosened", WEAKER[Fact.KEYWORD][1]),
}
"""Of a constraint that only the old schema of a response has: callers may get what they never
got."""
