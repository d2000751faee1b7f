"""Removes from a document what the engine cannot read.

The outline, one JSON Schema, states only what the engine relies on, plus the meta-schema for every
schema; `standard.py` reports whatever else breaks the standard. Each part of a document may be a
reference instead, except a schema's own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema_rs
import jsonschema_specifications

from engine.source.problem import Findings, Level, Path, path_in
from engine.spec.document.node import METHODS, Breach, Library, path_order

_META_30 = "http://json-schema.org/draft-04/schema"
_META_31 = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]
_NAMING = frozenset({"properties", "schemas", "parameters", "requestBodies", "securitySchemes"})
_ROUNDS = 20


def _part(name: str) -> Schema:
    """A part of that kind, or a reference to one."""
    return {
        "if": {"type": "object", "required": ["$ref"]},
        "then": {"properties": {"$ref": _TEXT}},
        "else": {"$ref": f"#/$defs/{name}"},
    }


def _map_of(name: str) -> Schema:
    return {
        "type": "object",
        "patternProperties": {"^x-": True},
        "additionalProperties": _part(name),
    }


def _list_of(name: str) -> Schema:
    return {"type": "array", "items": _part(name)}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_FLAG: Schema = {"type": "boolean"}
_MAPPING: Schema = {"type": "object"}
_SCHEMA: Schema = {"$ref": "#/$defs/schema"}

_SECURITY: Schema = {"type": "array", "items": _MAPPING}
_SERVERS = _list_of("server")
_PARTS: Schema = {
    "server": _object(url=_TEXT, variables=_map_of("variable")),
    "variable": _MAPPING,
    "example": _MAPPING,
    "encoding": _object(contentType=_TEXT, style=_TEXT, explode=_FLAG),
    "media": _object(schema=_SCHEMA, encoding=_map_of("encoding"), examples=_map_of("example")),
    "parameter": {
        "required": ["name", "in"],
        **_object(
            **{"in": {"enum": ["path", "query", "header", "cookie"]}},
            name=_NAME,
            style=_TEXT,
            explode=_FLAG,
            schema=_SCHEMA,
            content=_map_of("media"),
        ),
    },
    "body": _object(content=_map_of("media")),
    "response": _object(content=_map_of("media")),
    "securityScheme": _object(type=_TEXT, name=_TEXT),
    "operation": _object(
        operationId=_NAME,
        parameters=_list_of("parameter"),
        requestBody=_part("body"),
        responses=_map_of("response"),
        security=_SECURITY,
        servers=_SERVERS,
    ),
    "path": _object(
        parameters=_list_of("parameter"),
        servers=_SERVERS,
        **{method: {"$ref": "#/$defs/operation"} for method in METHODS},
    ),
}
_DOCUMENT: Schema = _object(
    paths=_map_of("path"),
    components=_object(
        schemas={"type": "object", "additionalProperties": _SCHEMA},
        parameters=_map_of("parameter"),
        requestBodies=_map_of("body"),
        responses=_map_of("response"),
        securitySchemes=_map_of("securityScheme"),
    ),
    security=_SECURITY,
    servers=_SERVERS,
)


def check(library: Library, findings: Findings) -> None:
    """Remove what does not match the outline: each is a warning and a breach of the library.

    A mismatch of the document itself is an error.
    """
    validator = _validator(library.is_30)
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
            is_document = len(path) < (2 if path[:1] == ("paths",) else 3)
            level = Level.ERROR if is_document else Level.WARNING
            findings.note(source, path, level, "MW204", _words(error))
            library.breaches.append(Breach(library.root, path, findings.unsorted[-1]))
        if any(problem.level is Level.ERROR for problem in findings.unsorted):
            return
        for path in sorted(set(paths), key=path_order, reverse=True):
            _remove(document.value, path, again=path in removed)
        removed.update(paths)
    findings.error(document.source, (), "MW204", "too little of this document can be read")


def _remove(value: Any, path: Path, again: bool) -> None:
    """Remove a value; a named one becomes empty first, and is removed the second time."""
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


def _words(error: Any) -> str:
    path = error.instance_path
    subject = f"'{path[-1]}'" if path and isinstance(path[-1], str) else "this entry"
    name, details = error.kind.name, error.kind.as_dict()
    if name == "required":
        return f"'{details['property']}' is missing"
    if name == "type":
        return f"{subject} must be {' or '.join(details['types'])}"
    if name == "format":
        return f"{subject} is not a regular expression that can be used"
    if name == "enum":
        return f"{subject} must be one of {', '.join(map(str, details['options']))}"
    return f"{subject} breaks the meta-schema ({name})"


@cache
def _validator(is_30: bool) -> jsonschema_rs.Validator:
    """The outline of a document of OpenAPI 3.0 or 3.1."""
    schema = {"$ref": f"{_META_30}#" if is_30 else _META_31}
    meta = jsonschema_specifications.REGISTRY.contents(_META_30)
    validator: jsonschema_rs.Validator = jsonschema_rs.Draft202012Validator(
        {**_DOCUMENT, "$defs": {**_PARTS, "schema": schema}},
        registry=jsonschema_rs.Registry([(_META_30, meta)]),
        validate_formats=True,
        offline=True,
    )
    return validator
