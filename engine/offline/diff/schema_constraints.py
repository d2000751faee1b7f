"""The constraints of one schema that another one does not have, without subschemas;
`schema_sentences.py` has a sentence for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from engine.offline.diff.compared_keywords import TYPES, is_narrower
from engine.offline.diff.flat_schema import Shape


class Fact(Enum):
    """What a stricter schema refuses that a looser one accepts."""

    REQUIRED = "a property is required"
    CLOSED = "properties without a name are refused"
    MEMBER = "a property has no name in a closed schema"
    TYPE = "types are refused"
    ENUM = "only some values are accepted"
    VALUE = "values of an enumeration are refused"
    BOUND = "a bound is narrower"
    PATTERN = "a pattern must match"
    KEYWORD = "another keyword has a value"


class Constraint(NamedTuple):
    """A constraint that only the stricter of two schemas has: the property or keyword that it is
    about, and its values in the looser and in the stricter schema."""

    fact: Fact
    name: str = ""
    loose: Any = None
    strict: Any = None


def constraints(loose: Shape, strict: Shape) -> Iterator[Constraint]:
    """The constraints that `strict` has and `loose` has not."""
    for name in sorted(strict.required - loose.required):
        yield Constraint(Fact.REQUIRED, name)
    if strict.closed and not loose.closed:
        yield Constraint(Fact.CLOSED)
    if strict.closed and not strict.patterns:
        for name in [name for name in loose.properties if name not in strict.properties]:
            yield Constraint(Fact.MEMBER, name)
    yield from _types(loose, strict)
    yield from _values(loose, strict)
    for key, bound in strict.bounds.items():
        previous = loose.bounds.get(key)
        if previous is None or is_narrower(key, bound, previous):
            yield Constraint(Fact.BOUND, key, previous, bound)
    for multiple in sorted(strict.multiples):
        if not any((factor / multiple).denominator == 1 for factor in loose.multiples):
            yield Constraint(Fact.KEYWORD, "multipleOf", bool(loose.multiples), multiple)
    for key, texts in strict.others.items():
        previous_texts = loose.others.get(key, set())
        for text in sorted(texts - previous_texts):
            fact = Fact.PATTERN if key == "pattern" else Fact.KEYWORD
            yield Constraint(fact, key, bool(previous_texts), text)
            if fact is Fact.KEYWORD:
                break  # its texts are not shown


def _types(loose: Shape, strict: Shape) -> Iterator[Constraint]:
    if strict.types is None:
        return
    if (TYPES if loose.types is None else loose.types) - strict.types:
        yield Constraint(Fact.TYPE, "", loose.types, strict.types)


def _values(loose: Shape, strict: Shape) -> Iterator[Constraint]:
    if strict.enum is None:
        return
    if loose.enum is None:
        yield Constraint(Fact.ENUM, "", None, strict.enum)
        return
    values = {_exact(value) for value in strict.enum}
    missing = [value for value in loose.enum if _exact(value) not in values]
    if missing:
        yield Constraint(Fact.VALUE, "", missing, strict.enum)


def _exact(value: object) -> str:
    """A JSON value as text; a number with a point that is a whole one is that whole one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, default=str)
