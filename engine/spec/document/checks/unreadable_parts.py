"""Leaves out the parts of a document, and of the files it refers to, that the engine cannot read.

The outline, a JSON Schema, describes only what the engine relies on, and applies the meta-schema to
every schema; `standard_breaches.py` reports other breaches of the standard. In the outline, every
object but a schema may be a reference. What is left out restricts nothing: an operation whose
description has a mistake is served with what is left of it.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

import jsonschema_rs

from engine.source.problem import Findings, Level, Path, Source, path_in, path_order
from engine.source.suggestion import did_you_mean
from engine.spec.document.checks.unusable_values import (
    HALF_CHARACTER,
    TOO_DEEP,
    deep_places,
    half_characters,
)
from engine.spec.document.negations import remove_negation
from engine.spec.document.node import Library, Node
from engine.spec.document.object_walk import WalkedObject, objects
from engine.spec.document.objects import OBJECTS
from engine.spec.document.path_items import METHODS
from engine.spec.document.styles import STYLES
from engine.values.trees import Json, value_at

_META_30 = "http://json-schema.org/draft-04/schema"
_META_31 = "https://json-schema.org/draft/2020-12/schema"

Schema = Json
_NAMING = frozenset(
    {"properties", "schemas", "parameters", "requestBodies", "securitySchemes", "content"}
    | {"definitions"}
)
_ROUNDS = 20
_TOO_LITTLE = "too little of this can be read"
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_TYPES_OF_OTHERS = {
    **dict.fromkeys(("date", "datetime", "date-time", "time", "uuid", "uri", "url"), "string"),
    **dict.fromkeys(("text", "str", "char", "email", "password", "binary", "file"), "string"),
    **dict.fromkeys(("int", "int32", "int64", "long", "short"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("bool", "flag"), "boolean"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("map", "dict", "json", "hash"), "object"),
    **dict.fromkeys(("none", "nil"), "null"),
}


_TEXT: Schema = {"type": "string"}
_MAPPING: Schema = {"type": "object"}
_VALUES: dict[str, Schema] = {
    "text": _TEXT,
    "name": {"type": "string", "minLength": 1},
    "flag": {"type": "boolean"},
    "location": {"enum": ["path", "query", "querystring", "header", "cookie"]},
    "mapping": _MAPPING,
    **{kind: {"$ref": f"#/$defs/{kind}"} for kind in ("schema", "components", "operation")},
}
_REQUIRED = {"parameter": ["name", "in"]}
_STYLES_BY_PLACE: list[Schema] = [
    {
        "if": {"properties": {"in": {"const": place}}, "required": ["in"]},
        "then": {"properties": {"style": {"enum": [*styles]}}},
    }
    for place, styles in STYLES.items()
]


def _schema_of(form: str) -> Schema:
    """The schema of a value of this form (see `ObjectKind`)."""
    kind = form.rstrip("*[]")
    if form.endswith("*"):
        extensions: Schema = {} if kind == "schema" else {"patternProperties": {"^x-": True}}
        return {"type": "object", **extensions, "additionalProperties": _schema_of(kind)}
    if form.endswith("[]"):
        return {"type": "array", "items": _schema_of(kind)}
    if form in _VALUES:
        return _VALUES[form]
    return {
        "if": {"type": "object", "required": ["$ref"]},
        "then": {"properties": {"$ref": _TEXT}},
        "else": {"$ref": f"#/$defs/{form}"},
    }


def _object_schema(name: str) -> Schema:
    properties = {key: _schema_of(form) for key, form in OBJECTS[name].forms.items()}
    if name == "encoding":
        properties["style"] = {"enum": [*STYLES["form"]]}
    schema = {"type": "object", "required": _REQUIRED.get(name, []), "properties": properties}
    return {**schema, "allOf": _STYLES_BY_PLACE} if name == "parameter" else schema


_OUTLINE = {name: _object_schema(name) for name in OBJECTS if name != "schema"}


def remove(library: Library, findings: Findings) -> list[WalkedObject]:
    """Leave out parts that do not match the outline, each with a warning. Returns the objects of
    the library.

    What is not a document at all is an error, and so is one of whose paths nothing can be read.
    """
    _Part(library, library.root, (), "document", findings).clean()
    if findings.errors:
        return []
    with library.unchanged():
        walked = list(objects(library))
    for node, kind, is_target, target in walked:
        if is_target and not (node.uri == library.root and _is_outlined(node.path)):
            _Part(library, node.uri, node.path, kind, findings).clean()
        if target is not None:
            _check_target(node, kind, target.value, findings)
    return walked


def _check_target(node: Node, kind: str, target: object, findings: Findings) -> None:
    """Remove a reference to what is not an object, with a warning."""
    if isinstance(target, dict) or (isinstance(target, bool) and kind == "schema"):
        return
    message = f"'{node.ref}' leads to no {kind}; it is left out"
    at = (*node.path, "$ref")
    findings.note(node.source, at, Level.WARNING, "MW202", message)
    node.value.pop("$ref", None)
    node.library.unresolved.append((node.uri, node.path))


def _is_outlined(path: Path) -> bool:
    """Whether the outline of a document describes its value at this path."""
    return path[:1] == ("paths",) or (
        path[:1] == ("components",) and len(path) > 1 and path[1] in OBJECTS["components"].forms
    )


_LEFT_OUT = "; it is left out"


class _Part:
    """A part of a file, at `path`, that must match the outline of an object of this kind."""

    def __init__(
        self, library: Library, uri: FilePath, path: Path, kind: str, findings: Findings
    ) -> None:
        self._library = library
        self._uri = uri
        self._path = path
        self._validator = _validator(library.is_30, kind)
        self._findings = findings
        depth = len(path)
        unresolved = [at for file, at in library.unresolved if file == uri]
        self._quiet = {at[depth:] for at in unresolved if at[:depth] == path}
        self._emptied: set[Path] = set()

    def clean(self) -> None:
        """Leave out what does not match, until the rest does."""
        for _ in range(_ROUNDS):
            errors = self._errors()
            for path, message in errors.items():
                if path not in self._quiet:
                    self._note(path, message)
            if not errors or self._findings.errors or () in self._emptied:
                return
            for path in sorted(errors, key=path_order, reverse=True):
                self._remove(path)
            self._emptied.update(errors)
        self._findings.error(self._source(()), self._path, "MW204", _TOO_LITTLE)

    def _errors(self) -> dict[Path, tuple[str, str]]:
        """The path of each mismatch, with its message and hint. Without one of the outline, what no
        JSON can have, and what jsonschema_rs cannot report."""
        value = self._value()
        try:
            if self._validator.is_valid(value):
                return {}
            errors = list(self._validator.iter_errors(value))
        except UnicodeEncodeError:
            return dict.fromkeys(half_characters(value), HALF_CHARACTER)
        except ValueError:  # jsonschema_rs copies the value of an error, if it is not deeper
            return dict.fromkeys(deep_places(value), TOO_DEEP)
        return {path_in(value, e.instance_path): _message(e) for e in errors}

    def _note(self, path: Path, message: tuple[str, str]) -> None:
        at = (*self._path, *path)
        is_fatal = self._uri == self._library.root and at in ((), ("paths",))
        level = Level.ERROR if is_fatal else Level.WARNING
        text, hint = message
        if is_fatal:
            text = (
                text.removesuffix(_LEFT_OUT) + "; without it nothing of the document can be served"
            )
        self._findings.note(self._source(path), at, level, "MW204", text, hint)
        self._quiet |= {path, path[:-1]}

    def _source(self, path: Path) -> Source:
        return self._library.source(self._uri, (*self._path, *path))

    def _value(self) -> Any:
        return self._holder(self._path)

    def _holder(self, path: Path) -> Any:
        return value_at(self._library.files[self._uri].value, path)

    def _remove(self, path: Path) -> None:
        """Remove a value, or make it one that says nothing: a body accepts anything, a named part
        is empty; if it does not match even so, it is removed."""
        full = (*self._path, *path)
        if not full:
            self._library.files[self._uri].value = {}
            return
        try:
            holder = self._holder(full[:-1])
        except (KeyError, IndexError):
            return
        remove_negation(self._library, self._uri, full)
        last = full[-1]
        if isinstance(holder, list) and isinstance(last, int):
            del holder[last : last + 1]
        elif not path:
            holder[last] = {}
        elif path not in self._emptied:
            _empty(holder, full)
        else:
            holder.pop(last, None)


def _empty(holder: dict[str | int, object], path: Path) -> None:
    """Make a member of a mapping one that says nothing: what is known by its name stays."""
    last, above = path[-1], path[-2] if len(path) > 1 else ""
    if path[-3:-2] == ("paths",) and last in METHODS:
        holder[last] = {"requestBody": {}}
    elif last == "requestBody" or above in _NAMING:
        holder[last] = {}
    else:
        holder.pop(last, None)
        if last in ("properties", "patternProperties"):  # any other name may be one of theirs
            holder.pop("additionalProperties", None)
            holder.pop("unevaluatedProperties", None)


def _message(error: Any) -> tuple[str, str]:
    """The message and hint of a mismatch."""
    path = error.instance_path
    key = path[-1] if path and isinstance(path[-1], str) else ""
    subject = f"'{key}'" if key else "this entry"
    name, details = error.kind.name, error.kind.as_dict()
    if name == "required":
        return f"'{details['property']}' is missing", ""
    if name == "type":
        return f"{subject} must be {' or '.join(details['types'])}{_LEFT_OUT}", ""
    if name == "enum":
        options = ", ".join(map(str, details["options"]))
        return f"{subject} must be one of {options}{_LEFT_OUT}", ""
    if key == "type" and isinstance(error.instance, str | list):
        return _type_message(error.instance)
    return f"{subject} does not match '{name}' of the meta-schema{_LEFT_OUT}", ""


def _type_message(value: Any) -> tuple[str, str]:
    names = [value] if isinstance(value, str) else value
    wrong = next((n for n in names if n not in _TYPES), value)
    message = f"'type' is left out: {str(wrong)[:80]!r} is not a type of JSON Schema"
    if isinstance(wrong, str) and (correct := _TYPES_OF_OTHERS.get(wrong.lower())):
        return message, f"write {correct}"
    return message, did_you_mean(str(wrong)[:80], _TYPES, f"write {', '.join(_TYPES)}")


@cache
def _validator(is_30: bool, kind: str) -> jsonschema_rs.Validator:
    """The outline of an object of OpenAPI 3.0 or 3.1."""
    schema = {"$ref": f"{_META_30}#" if is_30 else _META_31}
    validator: jsonschema_rs.Validator = jsonschema_rs.Draft202012Validator(
        {**_schema_of(kind), "$defs": {**_OUTLINE, "schema": schema}},
        registry=jsonschema_rs.Registry([(_META_30, _draft4())]),
        validate_formats=False,  # patterns are repaired before
        offline=True,
    )
    return validator


def _draft4() -> Any:
    """The meta-schema of OpenAPI 3.0's schemas."""
    # Read only the file: importing the package would take 30 ms and 2 MB of a gateway.
    package = find_spec("jsonschema_specifications")
    assert package is not None
    assert package.origin is not None
    file = FilePath(package.origin).parent / "schemas" / "draft4" / "metaschema.json"
    return json.loads(file.read_text(encoding="utf-8"))
