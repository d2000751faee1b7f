"""The request fields of an operation that quotas and usage depend on, found in its schemas."""

from __future__ import annotations

from collections.abc import Iterator

from engine.dialects import Dialect
from engine.dialects.interface.usage import CountedField, UsageOption
from engine.spec.document.node import Node
from engine.values.usage import Takes

_COMBINED = frozenset({"allOf", "anyOf", "oneOf"})


def takes_of(operation: Node, dialect: Dialect) -> Takes:
    """The Takes of the operation at a node (see `Specification.node`), in this dialect."""
    bodies = operation.get("requestBody").get("content")
    schemas = [media.get("schema") for _, media in bodies.items()]
    properties_of_bodies = [property_names(schema) for schema in schemas]
    fields, option = dialect.request_fields, dialect.usage_option
    output = any(
        not names.isdisjoint(fields.output.limit_members) for names in properties_of_bodies
    )
    speech, images, audio, searches = (
        _counted_member(field, properties_of_bodies)
        for field in (fields.speech, fields.images, fields.audio, fields.searches)
    )
    return Takes(
        usage_option=option is not None
        and any(takes_usage_option(schema, option) for schema in schemas)
        and _has_chunks(operation, option),
        output=fields.output if output else None,
        speech=speech,
        images=images,
        audio=audio,
        searches=searches,
        free=not (output or speech or images or audio or searches)
        and _reports_no_usage(operation, dialect),
    )


def _counted_member(field: CountedField | None, properties_of_bodies: list[set[str]]) -> str:
    """The member to count, "" unless one of the bodies has it with the members beside it."""
    if field is None or not any(
        names >= {field.member, *field.companions} for names in properties_of_bodies
    ):
        return ""
    return field.member


def takes_usage_option(schema: Node, option: UsageOption) -> bool:
    """Whether a request's schema has the usage option."""
    holder, member = option.path
    return holder in property_names(schema) and any(
        member in property_names(part.get("properties").get(holder)) for part in _parts(schema)
    )


def _has_chunks(operation: Node, option: UsageOption) -> bool:
    """Whether the operation streams the kind of chunks that the usage option adds. A stream without
    a schema may."""
    streams = [s for kind, s in _answers(operation) if kind.startswith("text/event-stream")]
    names_of_streams = [
        property_names(schema) | property_names(schema.get("contentSchema")) for schema in streams
    ]
    return any(not names or option.chunk_member in names for names in names_of_streams)


def _reports_no_usage(operation: Node, dialect: Dialect) -> bool:
    """Whether the document describes all responses and none can report usage: counting tokens and
    moderation cost nothing."""
    if dialect.meter is None:
        return True
    names_of_responses = [property_names(schema) for _, schema in _answers(operation)]
    members = dialect.meter.schema_members
    return bool(names_of_responses) and all(
        names and names.isdisjoint(members) for names in names_of_responses
    )


def _answers(operation: Node) -> list[tuple[str, Node]]:
    """Media types and schemas of the successful responses."""
    return [
        (kind, media.get("schema"))
        for status, response in operation.get("responses").items()
        for kind, media in response.get("content").items()
        if status.startswith("2")
    ]


def properties(schema: Node) -> Iterator[tuple[str, Node]]:
    """Names and schemas of an object's properties, those of combined schemas included."""
    for part in _parts(schema):
        yield from part.get("properties").items()


def property_names(schema: Node) -> set[str]:
    """The names of `properties`."""
    if not isinstance(schema.value, dict):
        return set()
    if _COMBINED.isdisjoint(schema.value):
        value = schema.get("properties").value if schema.has("properties") else None
        return set(value) if isinstance(value, dict) else set()
    values = [part.get("properties").value for part in _parts(schema)]
    return {name for value in values if isinstance(value, dict) for name in value}


def _parts(schema: Node) -> Iterator[Node]:
    """A schema and all branches of its `allOf`, `anyOf` and `oneOf`, each once."""
    parts, visited = [schema], {id(schema.value)}
    for part in parts:
        yield part
        keys = _COMBINED.intersection(part.value) if isinstance(part.value, dict) else ()
        for branch in (branch for key in sorted(keys) for branch in part.get(key).elements()):
            if id(branch.value) not in visited:
                visited.add(id(branch.value))
                parts.append(branch)
