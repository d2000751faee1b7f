"""Bodies of Swagger 2.0: of requests, its parameters in `body` and `formData` with `consumes`; of
responses, one schema and an example for each media type of `produces`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

from engine.source.problem import Path
from engine.spec.document.node import Node
from engine.spec.document.styles import EMPTY_VALUES
from engine.spec.document.swagger.moves import Moves, move_keys
from engine.spec.document.swagger.parameters import convert as convert_header
from engine.spec.document.swagger.parameters import schema_of, style_of
from engine.values.media_types import essence, is_json
from engine.values.trees import Json

_URLENCODED, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_FORMS = (_URLENCODED, _MULTIPART)


class Declared(NamedTuple):
    """A parameter as an operation declares it: `at` is its entry in a list of parameters, `node`
    the parameter itself. They differ for a reference. `is_shared`: the list is that of the path."""

    at: Node
    node: Node
    is_shared: bool

    @property
    def place(self) -> str:
        return self.node.text("in")

    @property
    def is_reference(self) -> bool:
        return self.at.ref is not None


def body_of(declared: Declared, operation: Node, consumes: Sequence[str], moves: Moves) -> Json:
    """The `requestBody` of a parameter in `body`."""
    media_types = list(dict.fromkeys(consumes)) or ["application/json"]
    first = (*operation.path, "requestBody", "content", media_types[0], "schema")
    parameter = declared.node.value
    content: Json = {name: {} for name in media_types}
    if "schema" in parameter:
        schema = _schema(declared, first, moves)
        content = {name: {"schema": _reference(operation, first, moves)} for name in media_types}
        content[media_types[0]] = {"schema": schema}
        if isinstance(schema, dict) and set(schema) == {"$ref"}:
            content = {name: {"schema": dict(schema)} for name in media_types}
        for name in media_types:
            path = (*operation.path, "requestBody", "content", name, "schema")
            _originates(moves, operation, path, declared, "schema")
    body = {"content": content, **_common(parameter)}
    moves.origin(operation.uri, (*operation.path, "requestBody"), declared.at.path)
    return body


def form_of(
    fields: Sequence[Declared], operation: Node, consumes: Sequence[str], moves: Moves
) -> Json:
    """The `requestBody` of parameters in `formData`. A JSON media type that `consumes` lists beside
    one of forms has the same members."""
    media_types = _media_types(fields, consumes)
    content_path = (*operation.path, "requestBody", "content")
    first = (*content_path, media_types[0], "schema")
    schema: Json = {"type": "object", "properties": {}}
    encoding: Json = {}
    for field in fields:
        name, parameter = field.node.text("name"), field.node.value
        at = (*first, "properties", name)
        schema["properties"][name] = _field(field, at, moves)
        _originates(moves, operation, at, field)
        if how := _encoding(parameter):
            encoding[name] = how
    required = [f.node.text("name") for f in fields if f.node.value.get("required") is True]
    if required:
        schema["required"] = list(dict.fromkeys(required))
    content: Json = {}
    for media_type in media_types:
        shared = _reference(operation, first, moves) if content else schema
        content[media_type] = {"schema": shared}
        if encoding and media_type in _FORMS:
            content[media_type]["encoding"] = copy.deepcopy(encoding)
    moves.origin(operation.uri, content_path[:-1], fields[0].at.path)
    return {"content": content, **({"required": True} if required else {})}


def _media_types(fields: Sequence[Declared], consumes: Sequence[str]) -> list[str]:
    has_file = any(_is_file(field.node.value) for field in fields)
    forms = [name for name in consumes if essence(name) in _FORMS]
    if has_file:
        forms = [name for name in forms if essence(name) == _MULTIPART] or [_MULTIPART]
    if not forms:
        return list(_FORMS)
    json = [] if has_file else [name for name in consumes if is_json(name)]
    return list(dict.fromkeys([*forms, *json]))


def _field(field: Declared, at: Path, moves: Moves) -> Json:
    """The schema of one form field, which is at the path `at` in the converted document."""
    of_schema = (*field.node.path, "schema")
    if field.is_reference:
        return moves.reference(field.node.uri, of_schema)
    moves.move(field.node.uri, of_schema, at)
    parameter = copy.deepcopy(field.node.value) if field.is_shared else field.node.value
    keywords = schema_of(parameter)
    move_keys(moves, field.node, keywords, at, converted=False)
    moves.move(field.node.uri, field.node.path, at)
    words = {"description": parameter["description"]} if "description" in parameter else {}
    return keywords | words


def _schema(declared: Declared, at: Path, moves: Moves) -> object:
    node = declared.node
    if declared.is_reference:
        return moves.reference(node.uri, (*node.path, "schema"))
    moves.move(node.uri, (*node.path, "schema"), at)
    schema = node.value["schema"]
    return copy.deepcopy(schema) if declared.is_shared else schema


def _encoding(parameter: Json) -> Json:
    """The encoding of a form field. One that is declared elsewhere is converted already."""
    style = {key: parameter[key] for key in ("style", "explode") if key in parameter}
    encoding = style if "schema" in parameter else style_of(parameter)
    return encoding | ({EMPTY_VALUES: True} if parameter.get("allowEmptyValue") is True else {})


def _is_file(parameter: Json) -> bool:
    schema = parameter.get("schema")
    return (schema if isinstance(schema, dict) else parameter).get("type") == "file"


def _originates(moves: Moves, operation: Node, path: Path, declared: Declared, *below: str) -> None:
    """Findings of a value go to the entry of its parameter; inside a reference's target they are
    noted at the target anyway."""
    deeper = () if declared.is_reference else below
    moves.origin(operation.uri, path, (*declared.at.path, *deeper))


def _reference(operation: Node, path: Path, moves: Moves) -> dict[str, str]:
    return moves.reference(operation.uri, path)


def _common(parameter: Json) -> Json:
    extensions = {key: value for key, value in parameter.items() if key.startswith("x-")}
    members = {key: parameter[key] for key in ("description", "required") if key in parameter}
    return members | extensions


def convert(node: Node, produces: Sequence[str], moves: Moves) -> None:
    """Describe the content of a response by media type, and its headers by schemas."""
    response = node.value
    if not isinstance(response, dict) or "content" in response:
        return
    for header in [header for _, header in node.get("headers").items()]:
        convert_header(header, moves)
    examples = response.get("examples")
    examples = examples if isinstance(examples, dict) else {}
    schema = response.get("schema")
    if not examples and not isinstance(schema, dict):
        return
    media_types = dict.fromkeys([*produces, *(name for name in examples if "/" in name)])
    names = media_types or ["application/json"]
    content: Json = {name: {} for name in names}
    response["content"] = content
    if isinstance(schema, dict):
        del response["schema"]
        _add_schema(node, schema, content, moves)
    for name, example in examples.items():
        if name in content:
            content[name]["example"] = example
            at = (*node.path, "content", name, "example")
            moves.origin(node.uri, at, (*node.path, "examples", name))
    response.pop("examples", None)


def _add_schema(node: Node, schema: Json, content: dict[str, Json], moves: Moves) -> None:
    """The schema at the first media type; the others refer to it. Of a file, JSON has none."""
    is_file = schema.get("type") == "file"
    names = [name for name in content if not (is_file and is_json(name))]
    for index, name in enumerate(names):
        at = (*node.path, "content", name, "schema")
        if index == 0:
            content[name]["schema"], first = schema, at
            moves.move(node.uri, (*node.path, "schema"), at)
        else:
            content[name]["schema"] = moves.reference(node.uri, first)
        moves.origin(node.uri, at, (*node.path, "schema"))
