"""The JSON Schema of gateway.yaml in two forms: for the file as written, and for its values.

Editors and other validators see the file as it is written, where any value may be `${VAR}`; the
gateway sees it filled in. `schemas/gateway.schema.json` has the first form. Its sections are edited
there, in either form: `exact` takes out whatever `written` puts in.
"""

from __future__ import annotations

from typing import Any

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
_KEPT_OUTSIDE = ("description", "default")
_POLICY = ("description", "type", "minProperties", "maxProperties")


def written(schema: Schema, policy: Schema) -> Schema:
    """The form for editors, from either form. `policy` is the schema of one entry of `policies`."""
    plain = exact(schema)
    made = _with_references(plain)
    made["$defs"] = {name: _with_references(below) for name, below in plain["$defs"].items()}
    made["$defs"]["policies"]["items"] = _with_references(policy)
    made["$defs"][_NAME] = dict(_REFERENCE)
    return made


def exact(schema: Schema) -> Schema:
    """The form for values that are filled in, from either form. Options of policies are left open:
    the plan holds them against their own schemas."""
    made = _without_references(schema)
    below = {name: _without_references(one) for name, one in schema["$defs"].items()}
    below.pop(_NAME, None)
    policy = below["policies"]["items"]
    below["policies"]["items"] = {key: policy[key] for key in _POLICY}
    made["$defs"] = below
    return made


def _map(schema: Schema, change: Any) -> Schema:
    """The schema with `change` done to the schemas of all values below it."""
    made = dict(schema)
    if "properties" in made:
        made["properties"] = {name: change(one) for name, one in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = change(made[key])
    return made


def _with_references(schema: Schema) -> Schema:
    made = _map(schema, _with_references)
    if "anyOf" in made:
        branches = [_in_union(branch) for branch in made["anyOf"]]
        if any(_is_closed(branch) for branch in branches):
            branches.append(dict(_REF))
        made["anyOf"] = branches
    elif any(key in made for key in _ONE_OF):
        outside = {key: made.pop(key) for key in _KEPT_OUTSIDE if key in made}
        return {**outside, "anyOf": [made, dict(_REF)]}
    return _or_a_reference(made)


def _in_union(branch: Schema) -> Schema:
    """A branch, to which the union itself adds a reference where this takes no string."""
    return branch if _is_closed(branch) else _with_references(branch)


def _is_closed(branch: Schema) -> bool:
    """Whether a schema takes a scalar, and no string with a reference."""
    types = _types(branch)
    if any(key in branch for key in _ONE_OF):
        return True
    return bool(types & _SCALARS) and "string" not in types


def _types(schema: Schema) -> set[str]:
    said = schema.get("type", [])
    return {said} if isinstance(said, str) else set(said)


def _or_a_reference(schema: Schema) -> Schema:
    """A schema by types that takes a string with a reference as well."""
    types = _types(schema)
    if "string" in types and "pattern" in schema:
        schema["pattern"] += _OR
    elif types & _SCALARS and "string" not in types:
        said = schema["type"]
        schema["type"] = [*([said] if isinstance(said, str) else said), "string"]
        schema["pattern"] = PATTERN
    return schema


def _without_references(schema: Schema) -> Schema:
    made = _map(schema, _without_references)
    if "anyOf" in made:
        branches = [_without_references(one) for one in made["anyOf"] if one != _REF]
        if len(branches) == 1 < len(made["anyOf"]):
            outside = {key: below for key, below in made.items() if key != "anyOf"}
            return {**outside, **branches[0]}
        made["anyOf"] = branches
    if made.get("pattern") == PATTERN:
        del made["pattern"]
        kept = [kind for kind in made["type"] if kind != "string"]
        made["type"] = kept[0] if len(kept) == 1 else kept
    elif "pattern" in made:
        made["pattern"] = made["pattern"].removesuffix(_OR)
    return made
