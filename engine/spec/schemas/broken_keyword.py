"""Finds the keyword because of which jsonschema_rs cannot compile a schema.

The meta-schema admits what the compiler refuses, such as a `$dynamicRef` to no name. The keyword is
found by compiling parts of the schema, one after the other; that takes time only where a
document has such a keyword.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from engine.source.problem import Path
from engine.spec.document.checks.unusable_values import deep_places
from engine.spec.document.schema_keywords import SUBSCHEMA_LISTS, SUBSCHEMA_MAPPINGS, SUBSCHEMAS
from engine.spec.schemas.schema_validator import SchemaPart, SchemaValidator
from engine.values.json_pointer import pointer

_NOTHING = "{}"
_TOO_DEEP = "Recursion limit"
_MAX_DEPTH = 100
"""Of values that are compiled; jsonschema_rs takes a little more."""

_Failure = Callable[[Any], str | None]
"""Why a schema cannot be compiled; None if it can."""


class BrokenKeyword(NamedTuple):
    """The place of a keyword: the URI of its file and its path there, and the compiler's reason."""

    uri: str
    path: Path
    reason: str


def find(
    is_30: bool, root: SchemaPart, parts: tuple[SchemaPart, ...], reason: str
) -> BrokenKeyword | None:
    """The first broken keyword of a schema, `root`, and the parts it refers to. None if the schema
    is broken by several of its parts together."""
    for broken in (root, *parts):
        others = tuple(part._replace(text=_NOTHING) for part in parts if part[:2] != broken[:2])

        def failure(
            value: object, broken: SchemaPart = broken, others: tuple[SchemaPart, ...] = others
        ) -> str | None:
            """Why a value in place of the part cannot be compiled; None if it can."""
            text = json.dumps(value)
            keyword = () if broken is root else (broken._replace(text=text),)
            schema = text if broken is root else json.dumps({"$ref": _reference(broken)})
            try:
                SchemaValidator(is_30, root.uri, schema, (*others, *keyword)).build()
            except ValueError as error:
                return str(error)
            return None

        value = json.loads(broken.text)
        if failure(value) is not None:
            deep = next(deep_places(value, _MAX_DEPTH), ()) if _TOO_DEEP in reason else ()
            path, why = (deep, reason) if deep else _narrow(value, failure)
            at = (*broken.path, *path)
            return BrokenKeyword(broken.uri, at, why or reason) if at else None
    return None


def _reference(part: SchemaPart) -> str:
    return f"{part.uri}#{pointer(map(str, part.path)).replace('%', '%25')}"


def _narrow(value: object, failure: _Failure) -> tuple[Path, str]:
    """The path of the innermost keyword of a schema that fails without what is beside it."""
    if not isinstance(value, dict):
        return (), ""
    for key, member in value.items():
        why = failure({key: member})
        if why is None:
            continue
        for path, below, alone in _below(key, member):
            deeper, reason = _narrow(below, _failure_within(failure, alone))
            if deeper:
                return (*path, *deeper), reason
        return (key,), why
    return (), ""


def _failure_within(failure: _Failure, alone: Callable[[object], object]) -> _Failure:
    return lambda value: failure(alone(value))


def _below(key: str, member: object) -> Iterator[tuple[Path, object, Callable[[Any], object]]]:
    """The schemas under a keyword: each with its path, and a function that returns a schema with
    another one in its place and nothing beside it."""
    if key in SUBSCHEMAS and isinstance(member, dict):
        yield (key,), member, lambda inner: {key: inner}
    elif key in SUBSCHEMA_MAPPINGS and isinstance(member, dict):
        for name, below in member.items():
            yield (key, name), below, partial(_named, key, name)
    elif key in SUBSCHEMA_LISTS and isinstance(member, list):
        for index, below in enumerate(member):
            yield (key, index), below, lambda inner: {key: [inner]}


def _named(key: str, name: str, inner: object) -> object:
    return {key: {name: inner}}
