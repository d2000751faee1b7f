"""Removes the parts of a document that the engine cannot read.

The outline, a JSON Schema, describes only what the engine relies on, and applies the meta-schema to
every schema; `standard.py` reports other breaches of the standard. In the outline, every object but
a schema may be a reference.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

import jsonschema_rs

from engine.source.problem import Findings, Level, Path, path_in
from engine.spec.document.node import Breach, Library, path_order
from engine.spec.document.objects import OBJECTS

_META_30 = "http://json-schema.org/draft-04/schema"
_META_31 = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]
_NAMING = frozenset(
    {"properties", "schemas", "parameters", "requestBodies", "securitySchemes", "definitions"}
)
_OF_ENTRIES = frozenset({"paths", "definitions", "parameters", "responses"})
"""The members of a document that hold named parts directly; the last three are Swagger's."""
_ROUNDS = 20
_HALF = re.compile("[\ud800-\udfff]")
HALF_CHARACTER = "half of a surrogate pair, which is no character", "write the whole character"
"""The message and hint for a text that no JSON in UTF-8 can have."""
MAX_DEPTH = 250
TOO_DEEP = f"nested more than {MAX_DEPTH} deep", "give inner parts names under components"
"""The message and hint for a value that is nested deeper than jsonschema_rs can report."""


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
    return {"type": "object", "required": _REQUIRED.get(name, []), "properties": properties}


_SWAGGER = {
    "definitions": _schema_of("schema*"),
    "responses": _schema_of("response*"),
    "parameters": {
        "type": "object",
        "patternProperties": {"^x-": True},
        "additionalProperties": {"type": "object", "properties": {"schema": _schema_of("schema")}},
    },
}
"""The members that a document keeps when it is converted from Swagger 2.0."""

_OUTLINE = {name: _object_schema(name) for name in OBJECTS if name != "schema"}


def check(library: Library, findings: Findings) -> None:
    """Remove parts that do not match the outline, each with a warning and a breach of the library.

    A mismatch at the top of the document is an error, and so is half of a surrogate pair where the
    outline describes the text.
    """
    try:
        _check(library, findings)
    except UnicodeEncodeError:
        path = half_character(library.document.value)
        findings.error(library.source(library.root, path), path, "MW204", *HALF_CHARACTER)
    except ValueError:  # jsonschema_rs copies the value of an error, but no deeper one than this
        path = deep_place(library.document.value)
        findings.error(library.source(library.root, path), path, "MW204", *TOO_DEEP)


def deep_place(value: Any) -> Path:
    """The path, down to MAX_DEPTH, of the first value below a mapping or list at that depth."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, value = stack.pop()
        if len(path) >= MAX_DEPTH:
            return path
        if isinstance(value, dict | list):
            entries = [*(value.items() if isinstance(value, dict) else enumerate(value))]
            below = [(key, child) for key, child in entries if isinstance(child, dict | list)]
            stack += [((*path, key), child) for key, child in reversed(below)]
    return ()


def half_character(value: Any) -> Path:
    """The path of the first mapping or value with half of a surrogate pair as a name or text."""
    stack: list[tuple[Path, Any]] = [((), value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict | list):
            entries = [*(value.items() if isinstance(value, dict) else enumerate(value))]
            if any(_has_half(key) for key, _ in entries):
                return path
            stack += [((*path, key), child) for key, child in reversed(entries)]
        elif _has_half(value):
            return path
    return ()


def _has_half(text: Any) -> bool:
    return isinstance(text, str) and _HALF.search(text) is not None


def _check(library: Library, findings: Findings) -> None:
    validator = _validator(library.is_30, library.is_20)
    document = library.document
    removed: set[Path] = set()
    empty = {breach.path for breach in library.breaches if breach.uri == library.root}
    for _ in range(_ROUNDS):
        if validator.is_valid(document.value):
            return
        errors = list(validator.iter_errors(document.value))
        paths = [path_in(document.value, error.instance_path) for error in errors]
        for path, error in zip(paths, errors, strict=True):
            if path in removed or path in empty:
                continue
            empty.add(path[:-1])
            source = library.source(library.root, path)
            of_entries = path[0] in _OF_ENTRIES if path else False
            is_document = len(path) < (2 if of_entries else 3)
            level = Level.ERROR if is_document else Level.WARNING
            findings.note(source, path, level, "MW204", _message(error))
            library.breaches.append(Breach(library.root, path, findings.unsorted[-1]))
        if any(problem.level is Level.ERROR for problem in findings.unsorted):
            return
        for path in sorted(set(paths), key=path_order, reverse=True):
            _remove(document.value, path, again=path in removed)
        removed.update(paths)
    findings.error(document.source, (), "MW204", "too little of this document can be read")


def _remove(value: Any, path: Path, again: bool) -> None:
    """Remove a value. A named one is first made empty, and removed if that does not help."""
    for step in path[:-1]:
        try:
            value = value[step]
        except (KeyError, IndexError):
            return
    last = path[-1]
    if isinstance(value, list) and isinstance(last, int):
        del value[last : last + 1]
    elif not again and len(path) > 1 and path[-2] in _NAMING:
        value[path[-1]] = {}
    else:
        value.pop(path[-1], None)


def _message(error: Any) -> str:
    path = error.instance_path
    subject = f"'{path[-1]}'" if path and isinstance(path[-1], str) else "this entry"
    name, details = error.kind.name, error.kind.as_dict()
    if name == "required":
        return f"'{details['property']}' is missing"
    if name == "type":
        return f"{subject} must be {' or '.join(details['types'])}"
    if name == "format":
        return f"{subject} is not a supported regular expression"
    if name == "enum":
        return f"{subject} must be one of {', '.join(map(str, details['options']))}"
    return f"{subject} does not match '{name}' of the meta-schema"


@cache
def _validator(is_30: bool, is_20: bool) -> jsonschema_rs.Validator:
    """The outline of a document of OpenAPI 3.0, or 3.1 and later."""
    document = _OUTLINE["document"]
    if is_20:
        document = {**document, "properties": document["properties"] | _SWAGGER}
    schema = {"$ref": f"{_META_30}#" if is_30 else _META_31}
    validator: jsonschema_rs.Validator = jsonschema_rs.Draft202012Validator(
        {"$ref": "#/$defs/document", "$defs": {**_OUTLINE, "document": document, "schema": schema}},
        registry=jsonschema_rs.Registry([(_META_30, _draft4())]),
        validate_formats=True,
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
