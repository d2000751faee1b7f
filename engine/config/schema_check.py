"""Holding gateway.yaml, or a part of it, against its JSON Schema: every breach with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any

import jsonschema_rs

from engine.config import hints
from engine.config.json_schema import exact
from engine.source import files
from engine.source.problem import Findings, Path, Source, path_in
from engine.source.reader import SourceDocument
from engine.source.suggestion import did_you_mean, near

_NAMES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}


def schema() -> dict[str, Any]:
    """The schema of gateway.yaml, for values in which every `${VAR}` is filled in."""
    return exact(json.loads(files.SCHEMA.read_text(encoding="utf-8")))


def check(value: Any, against: Any, source: Source, at: Path, findings: Findings) -> list[Path]:
    """Note every breach of the schema `against` by `value`, which stands at `at` in `source`.

    Returns where they all stand.
    """
    validator = _validator(against)
    if validator.is_valid(value):
        return []
    breaches = []
    for error in validator.iter_errors(value):
        for one in _telling(error):
            path = (*at, *path_in(value, one.instance_path))
            _note(one, value, against, source, path, findings)
            breaches.append(path)
    return breaches


_compiled: dict[int, tuple[Any, Any]] = {}
_MOST_COMPILED = 100


def _validator(against: Any) -> Any:
    """The compiled schema: policies ask for the same one on each of ten thousand routes."""
    known = _compiled.get(id(against))
    if known is None or known[0] is not against:
        if len(_compiled) >= _MOST_COMPILED:
            _compiled.clear()
        known = _compiled[id(against)] = (against, jsonschema_rs.Draft202012Validator(against))
    return known[1]


def _telling(error: Any) -> Iterator[Any]:
    """A union's error as those of the branch that fits the value's kind, or the union's own."""
    if error.kind.name != "anyOf":
        yield error
        return
    depth = len(error.instance_path)
    for branch in error.kind.as_dict()["context"]:
        if not any(e.kind.name == "type" and len(e.instance_path) == depth for e in branch):
            for below in branch:
                yield from _telling(below)
            return
    yield error


def _note(
    error: Any, whole: Any, against: Any, source: Source, path: Path, findings: Findings
) -> None:
    details = error.kind.as_dict()
    name = error.kind.name
    if name == "additionalProperties":
        known = _known_keys(against, error.schema_path)
        for key in details["unexpected"]:
            hint = _known_as(key, known)
            findings.error(source, (*path, key), "MW101", f"unknown key '{key}'", hint, key=True)
    elif name == "propertyNames":
        key = details["error"].instance
        findings.error(source, (*path, key), "MW104", f"'{key}' is no valid name", key=True)
    elif name == "required":
        missing = details["property"]
        hint = _description(against, error.schema_path, missing)
        findings.error(source, path, "MW102", f"'{missing}' is missing{_within(path)}", hint)
    else:
        code = "MW103" if name in ("type", "anyOf") else "MW104"
        holder = _holder(against, error.schema_path)
        if name == "type" and "enum" in holder:
            return  # the list of what may stand there is said anyway
        value = _value(whole, path_in(whole, error.instance_path))
        message = _sentence(error, details, path, value, holder)
        hint = _hint(error, details, path, value, holder, source)
        findings.error(source, path, code, message, hint)


def _known_as(key: str, known: list[str]) -> str:
    """A hint for a key that there is not: a near one, or our name for it."""
    if key.strip() != key:
        return "it begins or ends with a blank that is no space, as U+00A0; write spaces"
    if known == ["set", "add", "remove"] and near(key, known) is None:
        return f"write {{set: {{{key}: ...}}}}"
    if key in hints.ELSEWHERE and hints.ELSEWHERE[key] in known:
        return f"did you mean '{hints.ELSEWHERE[key]}'?"
    return did_you_mean(key, known)


def _value(whole: Any, path: Path) -> Any:
    """The value of an error as it was read: the validator has no infinite numbers."""
    for step in path:
        whole = whole[step]
    return whole


def _hint(
    error: Any, details: dict[str, Any], path: Path, value: Any, holder: Any, source: Source
) -> str:
    key = _key(path)
    name = error.kind.name
    types = _union(details) if name == "anyOf" else details.get("types", ["string"])
    if isinstance(source, SourceDocument) and source.reference(path):
        return hints.example(key, holder, types) if name in ("type", "pattern", "anyOf") else ""
    if name == "maxProperties":
        return "what belongs to a policy is indented deeper than its name"
    if name == "const":
        return hints.constant(key, value, details.get("expected_value"))
    if name == "enum":
        return hints.choice(key, value, details.get("options", []))
    if name in ("type", "pattern", "anyOf"):
        return hints.hint(key, value, holder, types)
    return ""


def _key(path: Path) -> str:
    """The key that a value, or the list it is in, stands under."""
    return next((str(step) for step in reversed(path) if isinstance(step, str)), "")


def _sentence(error: Any, details: dict[str, Any], path: Path, value: Any, holder: Any) -> str:
    """The words, without the value: it may have come out of a secret, and the line is shown."""
    name = error.kind.name
    subject = f"'{path[-1]}'" if path and isinstance(path[-1], str) else "this"
    form = hints.form(_key(path), holder) or "of the right form"
    if name == "type" and details["types"] == ["string"] and form != "of the right form":
        return f"{subject} must be {form}, not {_kind(value)}"
    said = {
        "type": f"{subject} must be {_one_of(details.get('types', []))}, not {_kind(value)}",
        "anyOf": f"{subject} must be {_one_of(_union(details))}, not {_kind(value)}",
        "const": f"{subject} must be {details.get('expected_value')!r}",
        "enum": f"{subject} must be one of {', '.join(map(str, details.get('options', [])))}",
        "pattern": f"{subject} is not {form}",
        "minItems": f"{subject} needs at least {details.get('limit')} entry",
        "minLength": f"{subject} is empty",
        "minProperties": f"{subject} needs at least {details.get('limit')} key",
        "maxProperties": f"{subject} takes one key only",
        "minimum": f"{subject} must be {details.get('limit')} or more",
        "maximum": f"{subject} must be {details.get('limit')} or less",
        "exclusiveMinimum": f"{subject} must be more than {details.get('limit')}",
    }
    return said.get(name, f"{subject} breaks '{name}'")


def _union(details: dict[str, Any]) -> list[str]:
    branches = details.get("context", [])
    named = [e.kind.as_dict()["types"] for b in branches for e in b if e.kind.name == "type"]
    return [kind for types in named for kind in types]


def _one_of(types: list[str]) -> str:
    return " or ".join(_NAMES.get(kind, kind) for kind in dict.fromkeys(types))


def _kind(value: Any) -> str:
    if isinstance(value, float) and not isfinite(value):
        return ".nan" if value != value else ".inf"
    for kind, name in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number")):
        if isinstance(value, kind):
            return _NAMES[name] if name != "boolean" else str(value).lower()
    return "nothing" if value is None else _NAMES["array" if isinstance(value, list) else "object"]


def _within(path: Path) -> str:
    names = [str(step) for step in path]
    return f" in '{'.'.join(names)}'" if names else ""


def _holder(against: Any, schema_path: list[Any]) -> Any:
    """The schema object whose keyword an error's schema path ends in."""
    holder = against
    for step in schema_path[:-1]:
        if isinstance(holder, dict) and "$ref" in holder and step not in holder:
            holder = _resolve(against, holder["$ref"])
        holder = holder[step]
    return holder


def _resolve(against: Any, ref: str) -> Any:
    for step in ref.split("/")[1:]:
        against = against[step]
    return against


def _known_keys(against: Any, schema_path: list[Any]) -> list[str]:
    return list(_holder(against, schema_path).get("properties", {}))


def _description(against: Any, schema_path: list[Any], key: str) -> str:
    properties = _holder(against, schema_path).get("properties", {})
    described = properties.get(key, {})
    if "$ref" in described and "description" not in described:
        described = _resolve(against, described["$ref"])
    return str(described.get("description", ""))
