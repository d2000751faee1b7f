"""The JSON Schema of gateway.yaml in two forms: for the file as written, and for its values.

Editors and other validators see the file as it is written, where any value may be `${VAR}`; the
gateway sees it filled in. `schemas/gateway.schema.json` has the first form. Its sections are edited
there, in either form: `exact` takes out whatever `editor_schema` puts in. The keys of `credential`
are those of `credentials.schema()`; options of policies and strategies come from their rooms.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from engine import credentials
from engine.source import files

Schema = dict[str, Any]

PATTERN = r"\$\{"
"""What a string with a reference holds."""

_OR = "|" + PATTERN
_NAME = "reference"
_REF = {"$ref": f"#/$defs/{_NAME}"}
_REFERENCE = {
    "description": "From the environment or a file: ${VAR}, ${VAR:-default}, ${file:/path}.",
    "type": "string",
    "pattern": PATTERN,
}
_SCALARS = frozenset({"integer", "number", "boolean", "null"})
_ONE_OF = ("const", "enum")
_KEPT_OUTSIDE = ("description", "default", "x-modelway")
_POLICY = ("description", "type", "minProperties", "maxProperties")
_CHOICE = [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]


@cache
def schema() -> Schema:
    """The schema of gateway.yaml, for values in which every `${VAR}` is filled in, with the keys of
    all kinds of credentials."""
    document = exact(json.loads(files.SCHEMA.read_text(encoding="utf-8")))
    document["$defs"]["credential"] = credentials.schema()
    return document


def expanded(schema: Schema, policy: Schema, choice: list[Schema]) -> Schema:
    """The exact form with all options: `policy` is the schema of one entry of `policies`, `choice`
    are the forms of `choose`."""
    plain = exact(schema)
    plain["$defs"]["policies"] = {**plain["$defs"]["policies"], "items": policy}
    plain["$defs"]["choose"] = {**plain["$defs"]["choose"], "anyOf": choice}
    return plain


def editor_schema(schema: Schema, policy: Schema, choice: list[Schema]) -> Schema:
    """The form for editors, from either form; the options as for `expanded`."""
    plain = expanded(schema, policy, choice)
    result = _with_references(plain)
    result["$defs"] = {name: _with_references(below) for name, below in plain["$defs"].items()}
    result["$defs"][_NAME] = dict(_REFERENCE)
    return result


def exact(schema: Schema) -> Schema:
    """The form for values that are filled in, from either form. Options of policies and strategies
    are left open: the plan holds them against their own schemas."""
    result = _without_references(schema)
    below = {name: _without_references(child) for name, child in schema["$defs"].items()}
    below.pop(_NAME, None)
    policy = below["policies"]["items"]
    below["policies"]["items"] = {key: policy[key] for key in _POLICY}
    below["choose"] = {**below["choose"], "anyOf": _CHOICE}
    result["$defs"] = below
    return result


def _map(schema: Schema, change: Any) -> Schema:
    """The schema with `change` done to the schemas of all values below it."""
    result = dict(schema)
    if "properties" in result:
        result["properties"] = {name: change(child) for name, child in result["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = change(result[key])
    return result


def _with_references(schema: Schema) -> Schema:
    result = _map(schema, _with_references)
    if "anyOf" in result:
        branches = [_in_union(branch) for branch in result["anyOf"]]
        if any(_is_closed(branch) for branch in branches):
            branches.append(dict(_REF))
        result["anyOf"] = branches
    elif any(key in result for key in _ONE_OF):
        outside = {key: result.pop(key) for key in _KEPT_OUTSIDE if key in result}
        return {**outside, "anyOf": [result, dict(_REF)]}
    return _or_a_reference(result)


def _in_union(branch: Schema) -> Schema:
    """A branch, to which the union itself adds a reference where this takes no string."""
    return branch if _is_closed(branch) else _with_references(branch)


def _is_closed(branch: Schema) -> bool:
    """Whether a schema takes a scalar, and no string with a reference."""
    types = set(types_of(branch))
    if any(key in branch for key in _ONE_OF):
        return True
    return bool(types & _SCALARS) and "string" not in types


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The types of a schema; none for any."""
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _or_a_reference(schema: Schema) -> Schema:
    """A schema by types that takes a string with a reference as well."""
    types = types_of(schema)
    if "string" in types and "pattern" in schema:
        schema["pattern"] += _OR
    elif _SCALARS.intersection(types) and "string" not in types:
        schema["type"] = [*types, "string"]
        schema["pattern"] = PATTERN
    return schema


def _without_references(schema: Schema) -> Schema:
    result = _map(schema, _without_references)
    if "anyOf" in result:
        branches = [_without_references(branch) for branch in result["anyOf"] if branch != _REF]
        if len(branches) == 1 < len(result["anyOf"]):
            outside = {key: below for key, below in result.items() if key != "anyOf"}
            return {**outside, **branches[0]}
        result["anyOf"] = branches
    if result.get("pattern") == PATTERN:
        del result["pattern"]
        types = [kind for kind in result["type"] if kind != "string"]
        result["type"] = types[0] if len(types) == 1 else types
    elif "pattern" in result:
        result["pattern"] = result["pattern"].removesuffix(_OR)
    return result
