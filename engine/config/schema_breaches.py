"""The breaches of a JSON Schema in gateway.yaml, each with its place and a message.

jsonschema finds each breach; this module and `hints.py` word them. A message never repeats the
value, which may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from math import isfinite
from typing import Any

from jsonschema import Draft202012Validator, TypeChecker, ValidationError, validators
from jsonschema.exceptions import relevance

from engine.config import hints, likely_number, unknown_keys
from engine.config.joined_document import earlier_name
from engine.config.unknown_keys import Meaning
from engine.source.problem import Findings, Path, Source
from engine.source.reader import SourceDocument
from engine.values.trees import Json, value_at

Error = Any
"""A ValidationError; its stubs type most attributes as possibly unset."""

_NAMES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}

_OF_A_CONFIG = "it begins with `version: 1`; `modelway init DIR` writes a complete one"


def note_breaches(
    value: object, schema: Json, source: Source, at: Path, findings: Findings
) -> list[Path]:
    """Note every breach of the schema by `value`, which is at `at` in `source`. Numbers must be
    finite; `$` in a pattern matches only at the end of the text.

    Returns the paths of the breaches.
    """
    errors = [e for error in _Validator(schema).iter_errors(value) for e in _specific(error)]
    paths = [(*at, *error.absolute_path) for error in errors]
    unknown = dict(_unknown_keys(errors, paths))
    likely = {(*path[:-1], meaning.key) for path, meaning in unknown.items()}
    for path, meaning in unknown.items():
        findings.error(source, path, "MW101", f"unknown key '{path[-1]}'", meaning.hint, key=True)
    for error, path in zip(errors, paths, strict=True):
        _note(error, schema, source, path, findings, likely)
    return paths


def _unknown_keys(errors: list[Error], paths: list[Path]) -> Iterator[tuple[Path, Meaning]]:
    """The path of each unknown key, and what it means."""
    for error, path in zip(errors, paths, strict=True):
        if error.validator == "additionalProperties":
            properties = error.schema.get("properties", {})
            for key, value in error.instance.items():
                if key not in properties:
                    yield (*path, key), unknown_keys.meaning_of(key, value, properties, path)


def _is_number(checker: TypeChecker, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _check_pattern(
    validator: object, pattern: str, value: object, schema: object
) -> Iterator[ValidationError]:
    if isinstance(value, str) and _regex(pattern).search(value) is None:
        yield ValidationError(f"does not match {pattern}")


_DOLLAR = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    """An ECMA-262 pattern for Python, whose `$` would also match before a final line end."""
    return re.compile(_DOLLAR.sub(lambda part: r"\Z" if part[0] == "$" else part[0], pattern))


_extend: Any = validators.extend  # its stub has no types
_Validator: Any = _extend(
    Draft202012Validator,
    {"pattern": _check_pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number),
)


def _specific(error: Error) -> Iterator[Error]:
    """The errors to report. For `anyOf`, those of its most relevant branch, or its own error if no
    branch has the type of the value."""
    branch = _relevant_branch(error) if error.validator == "anyOf" else []
    if not branch:
        yield error
    for branch_error in branch:
        yield from _specific(branch_error)


def _relevant_branch(union: Error) -> list[Error]:
    """The errors of the branch whose best error ranks first by jsonschema's `relevance` (deepest,
    matching type). Empty if two branches rank equally, or none has the type of the value."""
    branches: dict[object, list[Error]] = {}
    for error in union.context:
        branches.setdefault(error.relative_schema_path[0], []).append(error)
    ranked = sorted(branches.values(), key=_rank)
    if len(ranked) > 1 and _rank(ranked[0]) == _rank(ranked[1]):
        return []
    best = min(ranked[0], key=relevance)
    return [] if best.validator == "type" and not best.relative_path else ranked[0]


def _rank(errors: list[Error]) -> Any:
    return min(relevance(error) for error in errors)


def _note(
    error: Error, root: object, source: Source, path: Path, findings: Findings, intended: set[Path]
) -> None:
    """Note an error, unless it is about unknown keys, or a missing key which one of them means:
    `intended` are the paths of these."""
    if error.validator == "additionalProperties":
        return
    if "propertyNames" in list(error.relative_schema_path)[-2:-1]:
        name = str(error.instance)
        hint = hints.name(error.schema)
        findings.error(
            source, (*path, name), "MW104", f"'{name}' is not a valid name", hint, key=True
        )
    elif error.validator in ("required", "dependentRequired"):
        for missing in _missing(error):
            if (*path, missing) in intended:
                continue
            is_entry = len(path) == 2 and isinstance(path[1], str)
            earlier = earlier_name(source, str(path[0]), str(path[1])) if is_entry else ""
            hint = earlier or _description(root, error.schema, missing)
            message = f"'{missing}' is missing{_within(path)}"
            findings.error(source, path, "MW102", message, hint, key=bool(earlier))
    elif error.validator == "maxProperties" and len(error.instance) > 1:
        first, second = [*error.instance][:2]
        message = f"{_sentence(error, path)}; this is the second"
        hint = f"keep one of {', '.join(map(str, [*error.instance][:5]))}"
        if path[-2:-1] == ("policies",):
            hint += f"; an option must be indented deeper than '{first}'"
        if unknown_keys.is_policy(second):
            hint = f"write '- {second}: ...': each policy is an entry of its own"
        findings.error(source, (*path, second), "MW104", message, hint, key=True)
    elif error.validator != "type" or "enum" not in error.schema:  # the enum has an error as well
        code = "MW103" if error.validator in ("type", "anyOf") else "MW104"
        message = _sentence(error, path)
        is_config = not path and "version" in error.schema.get("properties", {})
        hint = _OF_A_CONFIG if is_config else _hint(error, path, source)
        findings.error(source, path, code, message, hint)


def _missing(error: Error) -> list[str]:
    """The missing keys. jsonschema reports each in an error of its own, and only its message names
    it."""
    if error.validator == "required":
        return [name for name in error.validator_value if error.message.startswith(repr(name))]
    return [
        name
        for key, names in error.validator_value.items()
        if key in error.instance
        for name in names
        if name not in error.instance
    ]


def _hint(error: Error, path: Path, source: Source) -> str:
    key, name = _key(path), error.validator
    types = _union(error) if name == "anyOf" else _types(error) if name == "type" else ["string"]
    if isinstance(source, SourceDocument) and source.reference(path):
        return hints.example(error.schema, types) if name in _FORMS else ""
    if name == "const":
        return hints.constant(key, error.instance, error.validator_value)
    if name == "maximum":
        return likely_number.share(error.instance, error.validator_value)
    if name == "enum":
        return hints.choice(key, error.instance, error.validator_value)
    return hints.hint(key, error.instance, error.schema, types) if name in _FORMS else ""


_FORMS = frozenset({"type", "pattern", "anyOf"})


def _key(path: Path) -> str:
    """The last name in a path: the key of a value, or of the list that it is in."""
    return next((str(step) for step in reversed(path) if isinstance(step, str)), "")


def _sentence(error: Error, path: Path) -> str:
    """The message for an error, without the value."""
    name, limit, value = str(error.validator), error.validator_value, error.instance
    subject = f"'{path[-1]}'" if path and isinstance(path[-1], str) else "this"
    form = hints.string_format(error.schema)
    if name == "type":
        expected = form if form and _types(error) == ["string"] else _one_of(_types(error))
        return f"{subject} must be {expected}, not {_kind(value)}"
    if name == "anyOf":
        return f"{subject} must be {_one_of(_union(error))}, not {_kind(value)}"
    if name == "enum":
        return f"{subject} must be one of {', '.join(map(str, limit))}"
    template = _SENTENCES.get(name, "does not match '{name}' of the schema")
    return f"{subject} {template.format(limit=limit, name=name, form=form or 'of the right form')}"


_SENTENCES = {
    "const": "must be {limit!r}",
    "pattern": "is not {form}",
    "minItems": "needs at least {limit} entry",
    "minLength": "is empty",
    "minProperties": "needs at least {limit} key",
    "maxProperties": "takes only one key",
    "minimum": "must be {limit} or more",
    "maximum": "must be {limit} or less",
    "exclusiveMinimum": "must be more than {limit}",
    "uniqueItems": "names an entry twice",
}
"""The predicate of a message, by the keyword of the schema."""


def _types(error: Error) -> list[str]:
    types = error.validator_value
    return [types] if isinstance(types, str) else list(types)


def _union(error: Error) -> list[str]:
    """The types of the branches of a union."""
    depth = len(error.absolute_path)
    errors = [e for e in error.context if e.validator == "type" and len(e.absolute_path) == depth]
    return [kind for error_of_branch in errors for kind in _types(error_of_branch)]


def _one_of(types: list[str]) -> str:
    return " or ".join(_NAMES.get(kind, kind) for kind in dict.fromkeys(types))


def _kind(value: object) -> str:
    if isinstance(value, float) and not isfinite(value):
        return ".nan" if value != value else ".inf"
    for kind, name in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number")):
        if isinstance(value, kind):
            return _NAMES[name] if name != "boolean" else str(value).lower()
    return "nothing" if value is None else _NAMES["array" if isinstance(value, list) else "object"]


def _within(path: Path) -> str:
    names = [str(step) for step in path]
    return f" in '{'.'.join(names)}'" if names else ""


def _description(root: Any, holder: Any, key: str) -> str:
    schema = holder.get("properties", {}).get(key, {})
    if "$ref" in schema and "description" not in schema:
        schema = value_at(root, schema["$ref"].split("/")[1:])
    return str(schema.get("description", ""))
