"""The shape a document must have for the engine to read it, as one JSON Schema.

It says no more than the engine relies on, plus the meta-schema for every schema; whatever else
breaks the standard is `spec/standard.py`'s to report. Every breach has its place.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema_rs
import jsonschema_specifications

from engine.problem import Findings
from engine.spec.load import Node

_META_30 = "http://json-schema.org/draft-04/schema"
_TEXT = {"type": "string"}
_MAPPING = {"type": "object"}


def check(document: Node, is_30: bool, findings: Findings) -> None:
    """Note where a document is not of the shape."""
    validator = _validator(is_30)
    if validator.is_valid(document.value):
        return
    for error in validator.iter_errors(document.value):
        findings.error(document.source, tuple(error.instance_path), "MW204", _words(error))


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
    meta = jsonschema_specifications.REGISTRY.contents(_META_30)
    made: jsonschema_rs.Validator = jsonschema_rs.Draft202012Validator(
        _document(is_30),
        registry=jsonschema_rs.Registry([(_META_30, meta)]),
        validate_formats=True,
        offline=True,
    )
    return made


def _document(is_30: bool) -> dict[str, Any]:
    """The schema: each part of a document may be a reference instead, except a schema's own."""
    meta = f"{_META_30}#" if is_30 else "https://json-schema.org/draft/2020-12/schema"
    parts: dict[str, Any] = {
        "schema": {"$ref": meta},
        "server": {
            "type": "object",
            "properties": {"url": _TEXT, "variables": _map_of("variable")},
        },
        "variable": _MAPPING,
        "example": _MAPPING,
        "encoding": {
            "type": "object",
            "properties": {"contentType": _TEXT, "style": _TEXT, "explode": {"type": "boolean"}},
        },
        "media": {
            "type": "object",
            "properties": {
                "schema": {"$ref": "#/$defs/schema"},
                "encoding": _map_of("encoding"),
                "examples": _map_of("example"),
            },
        },
        "parameter": {
            "type": "object",
            "required": ["name", "in"],
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "in": {"enum": ["path", "query", "header", "cookie"]},
                "style": _TEXT,
                "explode": {"type": "boolean"},
                "schema": {"$ref": "#/$defs/schema"},
                "content": _map_of("media"),
            },
        },
        "body": {"type": "object", "properties": {"content": _map_of("media")}},
        "response": {"type": "object", "properties": {"content": _map_of("media")}},
        "securityScheme": {"type": "object", "properties": {"type": _TEXT, "name": _TEXT}},
        "operation": {
            "type": "object",
            "properties": {
                "operationId": {"type": "string", "minLength": 1},
                "parameters": _list_of("parameter"),
                "requestBody": _part("body"),
                "responses": _map_of("response"),
                **_shared(),
            },
        },
    }
    methods = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
    parts["path"] = {
        "type": "object",
        "properties": {
            "parameters": _list_of("parameter"),
            "servers": _list_of("server"),
            **{method: {"$ref": "#/$defs/operation"} for method in methods},
        },
    }
    components = {
        "schemas": {"type": "object", "additionalProperties": {"$ref": "#/$defs/schema"}},
        "parameters": _map_of("parameter"),
        "requestBodies": _map_of("body"),
        "responses": _map_of("response"),
        "securitySchemes": _map_of("securityScheme"),
    }
    return {
        "type": "object",
        "properties": {
            "paths": _map_of("path"),
            "components": {"type": "object", "properties": components},
            **_shared(),
        },
        "$defs": parts,
    }


def _shared() -> dict[str, Any]:
    return {"security": {"type": "array", "items": _MAPPING}, "servers": _list_of("server")}


def _part(name: str) -> dict[str, Any]:
    """A part of that kind, or a reference to one."""
    return {
        "if": {"type": "object", "required": ["$ref"]},
        "then": {"properties": {"$ref": _TEXT}},
        "else": {"$ref": f"#/$defs/{name}"},
    }


def _map_of(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "patternProperties": {"^x-": True},
        "additionalProperties": _part(name),
    }


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _part(name)}
