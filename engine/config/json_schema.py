"""The JSON Schema of gateway.yaml in two forms: for the file as written, and for its values.

Editors and other validators see the file as written, where any value may be `${VAR}`; the gateway
sees the expanded values. `schemas/gateway.schema.json` has the form for the file. Edit sections
there in either form: `exact_schema` removes whatever `editor_schema` adds. The keys of `credential`
come from `credentials.schema()`, the options of policies and strategies, and the names of the
gateway's own answers, from their rooms.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from engine import credentials
from engine.source import files
from engine.values.trees import Json, Section

Schema = Json

PATTERN = r"\$\{"
"""Matches a string with a reference."""

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
_ANNOTATIONS = ("description", "default", "x-modelway")
_POLICY = ("description", "type", "minProperties", "maxProperties")
_CHOICE = [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]
_ANSWER = {"type": "string", "minLength": 1}


@cache
def builtin_schema() -> Schema:
    """The schema of gateway.yaml for expanded values, without the kinds of credentials that
    distributions bring: modules read it while they are imported, and a plug-in may import them."""
    document = exact_schema(json.loads(files.SCHEMA.read_text(encoding="utf-8")))
    document["$defs"]["credential"] = credentials.schema(installed=False)
    return document


@cache
def schema() -> Schema:
    """The schema of gateway.yaml for expanded values, with the keys of all kinds of credentials."""
    document = builtin_schema()
    if not credentials.KINDS.installed and not credentials.KINDS.problems:
        return document
    definitions = {**document["$defs"], "credential": credentials.schema()}
    return {**document, "$defs": definitions}


def full_schema(schema: Schema, policy: Schema, choice: list[Schema], answer: Schema) -> Schema:
    """The exact form with all options: `policy` is the schema of one entry of `policies`, `choice`
    are the forms of `choose`, `answer` is the schema of that key of a route."""
    plain = exact_schema(schema)
    _set_answer(plain["$defs"], answer)
    plain["$defs"]["policies"] = {**plain["$defs"]["policies"], "items": policy}
    plain["$defs"]["choose"] = {**plain["$defs"]["choose"], "anyOf": choice}
    return plain


def editor_schema(schema: Schema, policy: Schema, choice: list[Schema], answer: Schema) -> Schema:
    """The form for editors, from either form; the options as for `full_schema`."""
    plain = full_schema(schema, policy, choice, answer)
    result = _with_references(plain)
    result["$defs"] = {name: _with_references(child) for name, child in plain["$defs"].items()}
    result["$defs"][_NAME] = dict(_REFERENCE)
    return result


def exact_schema(schema: Schema) -> Schema:
    """The form for expanded values, from either form. Options of policies and strategies, and the
    names of own answers, are left open: the plan checks them by their own schemas."""
    result = _without_references(schema)
    definitions = {name: _without_references(child) for name, child in schema["$defs"].items()}
    definitions.pop(_NAME, None)
    policy = definitions["policies"]["items"]
    definitions["policies"]["items"] = {key: policy[key] for key in _POLICY}
    definitions["choose"] = {**definitions["choose"], "anyOf": _CHOICE}
    _set_answer(definitions, _ANSWER)
    result["$defs"] = definitions
    return result


def _set_answer(definitions: Schema, answer: Schema) -> None:
    """Replace the schema of a route's `answer`, without its annotations."""
    route = definitions["route"]
    known = route["properties"]["answer"]
    annotations = {key: known[key] for key in _ANNOTATIONS if key in known}
    properties = {**route["properties"], "answer": {**annotations, **answer}}
    definitions["route"] = {**route, "properties": properties}


def _map(schema: Schema, change: Any) -> Schema:
    """The schema with `change` applied to the schemas of its children."""
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
        annotations = {key: result.pop(key) for key in _ANNOTATIONS if key in result}
        return {**annotations, "anyOf": [result, dict(_REF)]}
    return _or_a_reference(result)


def _in_union(branch: Schema) -> Schema:
    """A branch of `anyOf`. One that takes a scalar and no reference stays unchanged: the union has
    a branch for references."""
    return branch if _is_closed(branch) else _with_references(branch)


def _is_closed(branch: Schema) -> bool:
    """Whether a schema takes a scalar but no string with a reference."""
    types = set(types_of(branch))
    if any(key in branch for key in _ONE_OF):
        return True
    return bool(types & _SCALARS) and "string" not in types


def types_of(schema: Section) -> list[str]:
    """The types of a schema; empty if it takes any type."""
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _or_a_reference(schema: Schema) -> Schema:
    """A schema with `type`, changed to take a string with a reference as well."""
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
            annotations = {key: value for key, value in result.items() if key != "anyOf"}
            return {**annotations, **branches[0]}
        result["anyOf"] = branches
    if result.get("pattern") == PATTERN:
        del result["pattern"]
        types = [kind for kind in result["type"] if kind != "string"]
        result["type"] = types[0] if len(types) == 1 else types
    elif "pattern" in result:
        result["pattern"] = result["pattern"].removesuffix(_OR)
    return result
