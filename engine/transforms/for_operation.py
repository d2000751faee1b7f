"""The edits of a transform that an operation has the places for; the others are not made there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.spec.document.node import Node
from engine.spec.media_types import body_kind, essence
from engine.spec.schema_places import place_in
from engine.transforms.body_edits import BodyEdits
from engine.transforms.places import ANY, ANY_DEPTH, Place
from engine.transforms.transform import Transform


def body_schemas(operation: Node) -> list[Node]:
    """The schemas of the bodies of an operation that can be edited."""
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
    """The transform with the edits of bodies whose places the document of an operation has, or may
    have: a schema that does not describe its members may have any."""
    schemas = body_schemas(operation)
    content = operation.get("requestBody").get("content").value
    if content and not schemas:
        return transform  # bodies without a schema
    body = transform.request.body

    def known(place: Place) -> bool:
        return has_place(schemas, place)

    edits = BodyEdits(
        remove=tuple(place for place in body.remove if known(place)),
        rename=tuple(pair for pair in body.rename if known(pair[0]) and known(pair[1])),
        default=tuple(pair for pair in body.default if known(pair[0])),
        set=tuple(pair for pair in body.set if known(pair[0])),
        prepend=tuple(pair for pair in body.prepend if known(pair[0])),
        append=tuple(pair for pair in body.append if known(pair[0])),
        unless=body.unless,
    )
    return replace(transform, request=replace(transform.request, body=edits))


def has_place(schemas: Sequence[Node], place: Place) -> bool:
    """Whether one of the schemas has a place, or may have it."""
    if ANY_DEPTH in place.steps:
        return bool(schemas)
    return any(place_in(schema, place.steps, ANY) for schema in schemas)
