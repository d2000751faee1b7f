"""The body of an operation as an argument: its media type, its schema for agents, and its value in
requests. Bytes are base64: a body of bytes is one text, a file of a form an object with its name.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from engine.mcp.descriptions import plain_text
from engine.mcp.listed_tool import InvalidArguments
from engine.mcp.schema_conversion import Schema
from engine.mcp.schemas import Schemas, edit_members
from engine.plan.route import Route
from engine.plan.tool_arguments import BODY, has_body
from engine.spec.bodies.body_parsers import has_foreign_charset
from engine.spec.bodies.form_writers import File
from engine.spec.bodies.request_bodies import BodyRule
from engine.spec.document.node import Node
from engine.spec.document.schema_types import is_file, items_of, kind_of, properties_of
from engine.spec.schemas.refusal_messages import explain
from engine.values.errors import GatewayError
from engine.values.media_types import body_kind, essence, sequence_kind

_ORDER = ("json", "form", "multipart", "lines", "records", "events", "text")
"""The kinds of bodies, the one that agents write best first; bytes are last."""
_MAX_TEXT = 500
_BASE64 = {"type": "string", "contentEncoding": "base64"}
_FILE: Schema = {
    "type": "object",
    "properties": {
        "data": _BASE64,
        "filename": {"type": "string"},
        "media_type": {"type": "string"},
    },
    "required": ["data"],
    "additionalProperties": False,
}


class CannotBeTool(ValueError):
    """An operation cannot be a tool; `str` gives the reason."""


class BodyArgument(Struct, frozen=True):
    """The body: the media type that is sent, its kind ("" for bytes), and for a multipart form the
    members that are files. `members` are those that its schema names. `media_types` are those
    that an agent may name for bytes, `name` is the one that the document gives it."""

    required: bool
    media_type: str
    kind: str
    rule: BodyRule | None
    files: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    media_types: tuple[str, ...] = ()
    description: str = ""
    name: str = ""

    def read(self, value: Any) -> tuple[Any, str]:
        """The body of a request, and its media type, of the argument. Raises InvalidArguments."""
        if self.kind == "":
            return self._bytes(value)
        if self.kind == "multipart":
            self._check(_without_files(value, self.files))
            parts = {n: _files_of(v, n) if n in self.files else v for n, v in value.items()}
            return parts, self.media_type
        self._check(value)
        if self.kind == "form" and not isinstance(value, Mapping):
            raise InvalidArguments(BODY, "expected an object")
        if self.kind == "text":
            return self._text(value), self.media_type
        return value, self.media_type

    def _check(self, value: object) -> None:
        """Refuse a body that the operation refuses."""
        if self.kind == "multipart" and not isinstance(value, Mapping):
            raise InvalidArguments(BODY, "expected an object")
        if self.rule is None or self.rule.validator is None:
            return
        try:
            is_valid = self.rule.validator.is_valid(value)
        except GatewayError as error:
            raise InvalidArguments(BODY, error.message) from error
        if not is_valid:
            refusal = explain(self.rule.validator, value)
            raise InvalidArguments(place_in(BODY, refusal.param), refusal.message)

    def _text(self, value: object) -> bytes:
        if not isinstance(value, str) and (self.rule is None or self.rule.validator is None):
            raise InvalidArguments(BODY, "expected a text")
        text = value if isinstance(value, str) else json.dumps(value)
        return text.encode()

    def _bytes(self, value: Any) -> tuple[bytes, str]:
        if len(self.media_types) == 1:
            return base64_bytes(value, BODY), self.media_type
        if not isinstance(value, Mapping):
            raise InvalidArguments(BODY, "expected an object with 'data' and 'media_type'")
        file = read_file(value, BODY)
        if not any(fnmatchcase(essence(file.media_type), each) for each in self.media_types):
            message = f"expected {' or '.join(self.media_types)}, got '{file.media_type}'"
            raise InvalidArguments(f"{BODY}.media_type", message)
        return file.content, file.media_type


def body_of(route: Route, node: Node) -> BodyArgument | None:
    """The body of a route's operation, whose node in its document is `node`; None without one.
    Raises CannotBeTool."""
    operation = route.operation
    if not has_body(operation, node):
        return None
    request_body = node.get("requestBody")
    contents = dict(request_body.get("content").items())
    kinds = {name: _kind(essence(name), operation.bodies.rules) for name in contents}
    name = min(kinds, key=lambda each: _rank(kinds[each]), default="application/octet-stream")
    kind = kinds.get(name, "")
    if kind == "" and name.startswith("multipart/"):
        raise CannotBeTool(f"the parts of {name} have no names")
    media = contents.get(name)
    concrete = _concrete(name, kind)
    files = frozenset[str]()
    if kind == "multipart" and media is not None:
        files = frozenset(_files(media))
    types = tuple(each for each in contents if kinds[each] == "") if kind == "" else ()
    return BodyArgument(
        required=operation.bodies.required,
        media_type=concrete,
        kind=kind,
        rule=_rule(route, essence(name), kind),
        files=files,
        members=_members(media) if media is not None else frozenset(),
        media_types=types or (concrete,),
        description=plain_text(request_body.text("description"), _MAX_TEXT),
        name=name,
    )


def body_schema(body: BodyArgument, node: Node, schemas: Schemas) -> Schema:
    """The schema of the argument `body`."""
    if body.kind == "":
        return _bytes_schema(body)
    contents = dict(node.get("requestBody").get("content").items())
    schema = schemas.convert(contents[body.name].get("schema"))
    if body.kind == "text" and "type" not in schema:
        schema = {**schema, "type": "string"}
    if body.kind in ("form", "multipart"):
        schema = {**schema, "type": "object"}
    if body.files:
        schema = edit_members(
            schema, schemas, lambda name, each: _file_schema(name, each, body.files)
        )
    if body.description and "description" not in schema:
        schema["description"] = body.description
    return schema


def _bytes_schema(body: BodyArgument) -> Schema:
    description = body.description or f"The bytes of the body, {' or '.join(body.media_types)}."
    if len(body.media_types) == 1 and "*" not in body.media_type:
        return {**_BASE64, "description": description}
    names = [name for name in body.media_types if "*" not in name]
    kind: Schema = {"type": "string"}
    if len(names) == len(body.media_types):
        kind["enum"] = names
    return {
        "type": "object",
        "description": description,
        "properties": {"data": _BASE64, "media_type": kind},
        "required": ["data", "media_type"],
        "additionalProperties": False,
    }


def _file_schema(name: str, schema: Schema, files: frozenset[str]) -> Schema:
    if name not in files:
        return schema
    is_list = schema.get("type") == "array" or "items" in schema
    file: Schema = {"type": "array", "items": _FILE} if is_list else dict(_FILE)
    if "description" in schema:
        file["description"] = schema["description"]
    return file


def _members(media: Node) -> frozenset[str]:
    schema = media.get("schema")
    return frozenset(properties_of(schema.value, schema.follow))


def _files(media: Node) -> list[str]:
    """The members of a form that are files, or lists of files."""
    schema = media.get("schema")
    resolve = schema.follow
    return [
        name
        for name, each in properties_of(schema.value, resolve).items()
        if is_file(each, resolve)
        or (kind_of(each, resolve) == "array" and is_file(items_of(each, resolve), resolve))
    ]


def _kind(media_type: str, rules: Mapping[str, BodyRule]) -> str:
    """The kind of a body; "" for one that is sent as bytes."""
    kind = sequence_kind(media_type)
    if kind and kind != "parts":
        rule = rules.get(media_type)
        return kind if rule is not None and rule.parse is not None else _plain_kind(media_type)
    return body_kind(media_type) or ("json" if media_type in ("*/*", "application/*") else "")


def _plain_kind(media_type: str) -> str:
    """The kind of a sequence that its document describes as a text."""
    return "text" if media_type.startswith("text/") or "json" in media_type else ""


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def _concrete(name: str, kind: str) -> str:
    """The media type to send: as the document writes it, with its parameters."""
    if kind == "json" and "*" in name:
        return "application/json"
    return essence(name) if has_foreign_charset(name) else name


def _rule(route: Route, media_type: str, kind: str) -> BodyRule | None:
    bodies = route.operation.bodies
    media_range = bodies.ranges.get(media_type)
    if media_range is not None:
        return media_range.rules.get(kind, media_range.default)
    return bodies.rules.get(media_type)


def base64_bytes(value: object, place: str) -> bytes:
    """The bytes of base64. Raises InvalidArguments."""
    if not isinstance(value, str):
        raise InvalidArguments(place, "expected a text in base64")
    try:
        return base64.b64decode(value.encode("ascii"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArguments(place, f"it is not base64 (RFC 4648, section 4): {error}") from error


def read_file(value: object, place: str) -> File:
    """A file of `{data, filename, media_type}`, or of its base64 alone. Raises
    InvalidArguments."""
    if isinstance(value, str):
        return File(base64_bytes(value, place))
    if not isinstance(value, Mapping) or "data" not in value:
        raise InvalidArguments(place, "expected an object with 'data', the content in base64")
    for name, text in value.items():
        if name not in ("data", "filename", "media_type"):
            raise InvalidArguments(f"{place}.{name}", "a file has no such member")
        if not isinstance(text, str):
            raise InvalidArguments(f"{place}.{name}", "expected a text")
    content = base64_bytes(value["data"], f"{place}.data")
    return File(content, value.get("filename", ""), value.get("media_type", ""))


def _files_of(value: object, name: str) -> object:
    place = f"{BODY}.{name}"
    if isinstance(value, list):
        return [read_file(each, f"{place}[{index}]") for index, each in enumerate(value)]
    return None if value is None else read_file(value, place)


def _without_files(value: Any, files: frozenset[str]) -> Any:
    """The value that the reader of forms makes of it: the content of a file is no text of it."""
    if not isinstance(value, Mapping):
        return value
    return {
        name: ([""] * len(each) if isinstance(each, list) else "") if name in files else each
        for name, each in value.items()
        if each is not None
    }


def place_in(root: str, place: str) -> str:
    """A place within a value: `body.items[0].id`."""
    return f"{root}{place}" if place.startswith("[") else f"{root}.{place}" if place else root
