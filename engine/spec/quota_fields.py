"""What the requests of an operation can say that matters for counting, read from its schemas."""

from __future__ import annotations

from collections.abc import Iterator

from engine.spec.document.node import Node
from engine.values.takes import GENERATION, OUTPUT_LIMITS, Takes

_COMBINED = ("allOf", "anyOf", "oneOf")
_OUTPUT = {*OUTPUT_LIMITS, *GENERATION}
_TELLING = {"usage", "usageMetadata", "usage_metadata", "meta", "duration", "response"}


def takes(operation: Node) -> Takes:
    """For an operation's own node (`Specification.node`)."""
    bodies = operation.get("requestBody").get("content")
    schemas = [bodies.get(kind).get("schema") for kind, _ in bodies.items()]
    named = [{name for name, _ in properties(schema)} for schema in schemas]
    output = any(not names.isdisjoint(_OUTPUT) for names in named)
    speech = any(names >= {"input", "voice"} for names in named)
    images = any(names >= {"prompt", "n", "size"} for names in named)
    return Takes(
        usage_option=any(map(takes_usage_option, schemas)) and _has_choices(operation),
        output=output,
        speech=speech,
        images=images,
        free=not (output or speech or images) and _tells_no_usage(operation),
    )


def takes_usage_option(schema: Node) -> bool:
    """Whether a request's schema has `stream_options.include_usage`."""
    return any(
        name == "stream_options" and any(inner == "include_usage" for inner, _ in properties(below))
        for name, below in properties(schema)
    )


def _has_choices(operation: Node) -> bool:
    """Whether its streams are of chunks with `choices`, as the event that tells the usage is; a
    stream without a schema may be anything."""
    streams = [s for kind, s in _answers(operation) if kind.startswith("text/event-stream")]
    named = [
        {name for part in (schema, schema.get("contentSchema")) for name, _ in properties(part)}
        for schema in streams
    ]
    return any(not names or "choices" in names for names in named)


def _tells_no_usage(operation: Node) -> bool:
    """Whether the document describes all its answers, and none of them can tell a usage: tokens
    are counted there, or a text is judged, which costs nothing."""
    named = [{name for name, _ in properties(schema)} for _, schema in _answers(operation)]
    return bool(named) and all(names and names.isdisjoint(_TELLING) for names in named)


def _answers(operation: Node) -> list[tuple[str, Node]]:
    """Media types and schemas of what it answers when all is well."""
    return [
        (kind, media.get("schema"))
        for status, response in operation.get("responses").items()
        for kind, media in response.get("content").items()
        if status.startswith("2")
    ]


def properties(schema: Node) -> Iterator[tuple[str, Node]]:
    """Names and schemas of an object's properties, also those of the schemas it is made of, each
    of which is looked at once."""
    parts, seen = [schema], {id(schema.value)}
    for part in parts:
        yield from part.get("properties").items()
        below = [one for key in _COMBINED for one in part.get(key).elements()]
        for one in below:
            if id(one.value) not in seen:
                seen.add(id(one.value))
                parts.append(one)
