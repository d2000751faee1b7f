"""Reduces a transform to the edits whose places an operation has."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.spec.document.node import Node
from engine.spec.schemas.schema_places import place_in
from engine.transforms.body_edits import BodyEdits
from engine.transforms.places import ANY, ANY_DEPTH, Place
from engine.transforms.transform import Transform
from engine.values.media_types import body_kind, essence


def body_schemas(operation: Node) -> list[Node]:
    """The schemas of an operation's bodies in media types that can be edited."""
    return [schema for schema in _edited(operation) if isinstance(schema.value, dict)]


def has_unknown_body(operation: Node) -> bool:
    """Whether an operation has bodies that can be edited and that no schema describes."""
    return any(not isinstance(schema.value, dict) for schema in _edited(operation))


def _edited(operation: Node) -> list[Node]:
    """What the document says of the bodies that can be edited."""
    content = operation.get("requestBody").get("content")
    kinds = ("json", "form", "multipart")
    return [m.get("schema") for name, m in content.items() if body_kind(essence(name)) in kinds]


def for_operation(transform: Transform, operation: Node) -> Transform:
    """The transform with only the body edits whose places the operation has. A schema that does not
    describe its members has every place."""
    if (json_name := operation.library.json_name) is not None:
        transform = transform.with_names(json_name)
    schemas = body_schemas(operation)
    content = operation.get("requestBody").get("content").value
    if content and not schemas:
        return transform  # bodies without a schema
    body = transform.request.body

    def exists(place: Place) -> bool:
        return has_place(schemas, place)

    edits = BodyEdits(
        remove=tuple(place for place in body.remove if exists(place)),
        rename=tuple(pair for pair in body.rename if exists(pair[0]) and exists(pair[1])),
        default=tuple(pair for pair in body.default if exists(pair[0])),
        set=tuple(pair for pair in body.set if exists(pair[0])),
        prepend=tuple(pair for pair in body.prepend if exists(pair[0])),
        append=tuple(pair for pair in body.append if exists(pair[0])),
        unless=body.unless,
    )
    request = replace(transform.request, body=edits)
    return Transform(transform.at, request, transform.response)


def has_place(schemas: Sequence[Node], place: Place) -> bool:
    """Whether one of the schemas has a place, or may have it."""
    if ANY_DEPTH in place.steps:
        return bool(schemas)
    return any(place_in(schema, place.steps, ANY) for schema in schemas)
