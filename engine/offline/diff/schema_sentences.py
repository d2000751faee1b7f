"""The kinds and sentences of the differences of two schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.offline.diff.restrictions import listed
from engine.offline.diff.schema_constraints import Constraint, Fact


def member(where: str, name: str) -> str:
    """The name of a property of the schema `where`."""
    return f"{where}.{name}" if where else name


def quoted(where: str) -> str:
    """The name of a schema in a sentence; a request body may have none."""
    return f"'{where}'" if where else "the body"


def _text(value: object) -> str:
    """The values of a constraint: those of an enumeration, types in alphabetical order, or one."""
    if isinstance(value, frozenset):
        return listed(sorted(value))
    return listed([str(each) for each in value]) if isinstance(value, list) else str(value)


class Wording(NamedTuple):
    """The kind of a difference, and its sentence: a template, or a function of the constraint that
    returns one. A template has the names `schema`, `member`, `name`, `loose`, `strict`, and `more`
    for the types that only the looser schema allows."""

    kind: str
    template: str | Callable[[Constraint], str]

    def sentence(self, where: str, constraint: Constraint) -> str:
        """The sentence about a constraint of the schema `where`."""
        template = self.template if isinstance(self.template, str) else self.template(constraint)
        is_type = constraint.fact is Fact.TYPE and constraint.loose is not None
        return template.format(
            schema=quoted(where),
            member=member(where, constraint.name),
            name=constraint.name,
            loose=_text(constraint.loose),
            strict=_text(constraint.strict),
            more=_text(constraint.loose - constraint.strict) if is_type else "",
        )


def _if_open(without: str, otherwise: str) -> Callable[[Constraint], str]:
    """One of two templates: the first if the looser schema has no such constraint."""
    return lambda each: without if each.loose is None or each.loose is False else otherwise


STRICTER: Mapping[Fact, Wording] = {
    Fact.REQUIRED: Wording("field-required", "'{member}' is required now"),
    Fact.CLOSED: Wording(
        "object-closed",
        "{schema} accepts only the properties that it names (additionalProperties: false)",
    ),
    Fact.MEMBER: Wording("field-removed", "'{member}' may no longer be sent"),
    Fact.TYPE: Wording(
        "type-narrowed",
        _if_open(
            "{schema} must be {strict}, was any type", "{schema} must be {strict}, no longer {more}"
        ),
    ),
    Fact.ENUM: Wording("enum-closed", "{schema} must be one of {strict} now"),
    Fact.VALUE: Wording("enum-value-removed", "{schema} may no longer be {loose}"),
    Fact.BOUND: Wording(
        "bound-narrowed",
        _if_open(
            "{schema}: {name} is {strict}, was unbounded",
            "{schema}: {name} is {strict}, was {loose}",
        ),
    ),
    Fact.PATTERN: Wording("pattern-changed", "{schema} must match {strict} now"),
    Fact.KEYWORD: Wording(
        "constraint-changed", _if_open("{schema}: {name} is new", "{schema}: {name} has changed")
    ),
}
"""Of a constraint that only the new schema has: requests are newly refused."""

WEAKER: Mapping[Fact, Wording] = {
    Fact.REQUIRED: Wording("field-optional", "'{member}' may be left out now"),
    Fact.CLOSED: Wording("object-opened", "{schema} accepts properties that it does not name now"),
    Fact.MEMBER: Wording("field-added", "'{member}' may be sent now"),
    Fact.TYPE: Wording(
        "type-widened",
        _if_open("{schema} may be any type, was {strict}", "{schema} may also be {more}"),
    ),
    Fact.ENUM: Wording("enum-opened", "{schema} may have values other than {strict} now"),
    Fact.VALUE: Wording("enum-value-added", "{schema} may also be {loose}"),
    Fact.BOUND: Wording(
        "bound-widened",
        _if_open(
            "{schema}: has no {name}, was {strict}", "{schema}: {name} is {loose}, was {strict}"
        ),
    ),
    Fact.PATTERN: Wording("pattern-removed", "{schema} no longer has to match {strict}"),
    Fact.KEYWORD: Wording(
        "constraint-loosened", _if_open("{schema}: {name} is gone", "{schema}: {name} has changed")
    ),
}
"""Of a constraint that only the old schema has: requests are newly accepted."""

RESPONSES: Mapping[Fact, Wording] = {
    Fact.TYPE: Wording(
        "response-type-widened",
        _if_open("{schema} may be any type now", "{schema} may be {more} now"),
    ),
    Fact.ENUM: Wording("response-enum-opened", WEAKER[Fact.ENUM].template),
    Fact.VALUE: Wording("response-enum-value-added", WEAKER[Fact.VALUE].template),
    Fact.BOUND: Wording("response-bound-widened", WEAKER[Fact.BOUND].template),
    Fact.KEYWORD: Wording("response-constraint-loosened", WEAKER[Fact.KEYWORD].template),
}
"""Of a constraint that only the old schema of a response has: responses may have other values."""
