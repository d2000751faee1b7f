"""Schemas and bodies of forms."""

from __future__ import annotations

from engine.spec.bodies.multipart import Part
from engine.spec.bodies.multipart_bodies import compile_multipart

INTEGER, STRING = {"type": "integer"}, {"type": "string"}
CHARGE = {
    "type": "object",
    "properties": {
        "amount": INTEGER,
        "note": STRING,
        "expand": {"type": "array", "items": STRING},
        "numbers": {"type": "array", "items": INTEGER},
        "metadata": {"anyOf": [{"type": "object", "additionalProperties": STRING}, {"enum": [""]}]},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"price": INTEGER, "tax": STRING}},
        },
        "card": {"type": "object", "properties": {"cvc": INTEGER, "note": STRING}},
    },
}


def resolve(schema):
    return schema


UPLOAD = {
    "type": "object",
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "media": {"contentMediaType": "image/png"},
        "files": {"type": "array", "items": {"contentMediaType": "application/octet-stream"}},
        "image": {
            "anyOf": [
                {"type": "string", "format": "binary"},
                {"type": "array", "items": {"type": "string", "format": "binary"}},
            ]
        },
        "n": {"type": ["integer", "null"]},
        "stream": {"type": "boolean"},
        "model": {"anyOf": [STRING, {"type": "string", "enum": ["a"]}]},
        "sizes[]": {"type": "array", "items": INTEGER},
        "meta": {"type": "object"},
        "metas": {"type": "array", "items": {"type": "object"}},
        "chunking": {"anyOf": [{"enum": ["auto"]}, {"type": "object"}]},
        "text": {"contentMediaType": "text/plain", "type": "string"},
        "base64": {"contentMediaType": "image/png", "contentEncoding": "base64"},
    },
}
JSON = "application/json"


def multipart(*fields, encoding=None, schema=UPLOAD):
    """The object of `(name, content, filename?, content_type?)` fields."""
    parts, buffer = [], b""
    for name, content, *more in fields:
        filename, content_type = [*more, None, None][:2]
        parts.append(Part(name, filename, content_type, len(buffer), len(buffer) + len(content)))
        buffer += content
    return compile_multipart(schema, encoding, resolve)(buffer, parts)


# What the official SDKs write: lists as `name[]`, objects as `name[key]`.
BRACKETED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "include": {"type": "array", "items": STRING},
        "sizes": {"type": "array", "items": INTEGER},
        "image": UPLOAD["properties"]["image"],
        "files": UPLOAD["properties"]["files"],
        "expires_after": {
            "type": "object",
            "properties": {"anchor": STRING, "seconds": INTEGER, "days": {"type": "array"}},
        },
        "chunking": {"anyOf": [{"enum": ["auto"]}, {"type": "object"}, {"type": "null"}]},
        "lines": CHARGE["properties"]["lines"],
        "metadata": {"type": "object", "additionalProperties": INTEGER},
        "tags": {"type": "array"},
        "tags[x]": INTEGER,
        "model": STRING,
    },
}
