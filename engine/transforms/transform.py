"""A `transform` of gateway.yaml, compiled: the edits of a request and those of its response.

Those of policies and models work on the caller's side, before a target is chosen; those of
upstreams and targets on the upstream's side, on the request of each attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from engine.source.problem import Path
from engine.spec.document.node import Node
from engine.spec.schemas.schema_places import can_have
from engine.transforms.body_edits import BodyEdits
from engine.transforms.header_edits import HeaderEdits
from engine.transforms.places import ANY, ANY_DEPTH, JsonName, Place
from engine.transforms.url_edits import PathEdit, QueryEdits
from engine.values.media_types import body_kind, essence


class RequestEdits(Struct, frozen=True):
    """The edits of a request. Those of the path are on the upstream's side only."""

    header: HeaderEdits = HeaderEdits()
    query: QueryEdits = QueryEdits()
    path: PathEdit | None = None
    body: BodyEdits = BodyEdits()

    def __bool__(self) -> bool:
        return bool(self.header or self.query or self.path is not None or self.body)


class ResponseEdits(Struct, frozen=True):
    """The edits of a response."""

    header: HeaderEdits = HeaderEdits()
    body: BodyEdits = BodyEdits()

    def __bool__(self) -> bool:
        return bool(self.header or self.body)


@dataclass(frozen=True, slots=True)
class Transform:
    """A compiled transform; `at` is its place in the config, for messages."""

    at: Path = field(compare=False)
    request: RequestEdits = field(default_factory=RequestEdits)
    response: ResponseEdits = field(default_factory=ResponseEdits)

    def with_names(self, json_name: JsonName) -> Transform:
        """The transform for an API whose members may have two spellings."""
        if not (self.request.body or self.response.body):
            return self
        return Transform(
            self.at,
            request=replace(self.request, body=self.request.body.with_names(json_name)),
            response=replace(self.response, body=self.response.body.with_names(json_name)),
        )

    @property
    def place(self) -> str:
        """Its place as a text: `upstreams.main.transform`."""
        return ".".join(map(str, self.at))


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
    return can_have(schemas, place.steps, ANY)
