"""Responses of Swagger 2.0: one schema and an example for each media type of `produces`."""

from __future__ import annotations

from collections.abc import Sequence

from engine.spec.document.node import Node
from engine.spec.document.swagger.moves import Moves
from engine.spec.document.swagger.parameters import convert as convert_header
from engine.values.media_types import is_json
from engine.values.trees import Json


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
