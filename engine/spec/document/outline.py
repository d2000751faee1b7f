"""The shape a document must have for the engine to read it, as one JSON Schema.

It states only what the engine relies on, plus the meta-schema for every schema; whatever else
breaks the standard is `spec/standard.py`'s to report. Each part of a document may be a reference
instead, except a schema's own.
"""

from __future__ import annotations

from typing import Any

from engine.spec.document.node import METHODS

META_30 = "http://json-schema.org/draft-04/schema"
_META_31 = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def outline(is_30: bool) -> Schema:
    """The schema of a document of OpenAPI 3.0 or 3.1."""
    schema = {"schema": {"$ref": f"{META_30}#" if is_30 else _META_31}}
    return {**_DOCUMENT, "$defs": {**_PARTS, **schema}}


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
