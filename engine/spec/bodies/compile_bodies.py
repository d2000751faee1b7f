"""Compiles the request bodies of operations."""

from __future__ import annotations

from fnmatch import fnmatchcase

from engine.spec.bodies.body_parsers import compile_parser, kind_of_body, parse_json
from engine.spec.bodies.request_bodies import Bodies, BodyRule, MediaRange, any_bodies
from engine.spec.document.node import Node
from engine.spec.document.schema_types import takes_any_bytes
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.member_finder import MemberFinder, read_only_members, unknown_members
from engine.spec.schemas.member_spellings import Spellings, compile_spellings
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.values.media_types import EXAMPLES, essence


def compile_bodies(
    request_body: Node,
    schemas: Schemas,
    *,
    with_names: bool = False,
    with_read_only: bool = False,
) -> Bodies:
    """Compile the `requestBody` of an operation; of equal ones return the first. Raises ValueError
    for a broken schema.

    `with_names`: keep the names of all members of JSON bodies; `with_read_only`: those of their
    read-only members.
    """
    bodies = Bodies(required=request_body.value.get("required") is True)
    if not request_body.get("content").value:
        return any_bodies(required=bodies.required)
    for name, media in request_body.get("content").items():
        media_type = essence(name)
        schema = media.get("schema")
        validator = schemas.validator(schema) if schema.value is not None else None
        if "*" in media_type:
            bodies.ranges[media_type] = _range(
                *(media_type, media, validator, schemas),
                with_names=with_names,
                with_read_only=with_read_only,
            )
            continue
        parse = compile_parser(kind_of_body(media_type, media), media, validator)
        is_json_body = parse is parse_json
        names = _names(schema, schemas) if with_names and is_json_body else None
        spellings = _spellings(schema, schemas) if is_json_body else None
        read_only = _read_only(schema, schemas) if with_read_only and is_json_body else None
        rule = BodyRule(parse, validator if parse else None, names, spellings, read_only)
        bodies.rules[media_type] = rule
        if is_json_body and schemas.is_lenient and bodies.any_json is None:
            bodies.any_json = rule
    ranges = (
        (name, each.default, each.needs_type, *each.rules.items())
        for name, each in bodies.ranges.items()
    )
    key = "bodies", bodies.required, *bodies.rules.items(), *ranges
    return schemas.once(key, lambda: bodies)


def _range(
    name: str,
    media: Node,
    validator: SchemaValidator | None,
    schemas: Schemas,
    *,
    with_names: bool,
    with_read_only: bool,
) -> MediaRange:
    schema, unparsed = media.get("schema"), BodyRule(None, None)
    if validator is None or takes_any_bytes(schema.value, schema.follow):
        return MediaRange({}, unparsed, needs_type=False)
    names = _names(schema, schemas) if with_names else None
    read_only = _read_only(schema, schemas) if with_read_only else None
    rules = {}
    for kind, examples in EXAMPLES.items():
        if any(fnmatchcase(example, name) for example in examples):
            # Forms are rare under media ranges, and their readers are slow to compile.
            parse = compile_parser(kind, media, validator, deferred=not media.get("encoding").value)
            of_json = (names, _spellings(schema, schemas), read_only) if kind == "json" else ()
            rules[kind] = BodyRule(parse, validator if parse else None, *of_json)
    return MediaRange(rules, unparsed, needs_type=True)


def _names(schema: Node, schemas: Schemas) -> MemberFinder | None:
    if schema.value is None:
        return None
    return schemas.once(
        ("names", schema.uri, schema.path), lambda: unknown_members(schema.value, schema.follow)
    )


def _read_only(schema: Node, schemas: Schemas) -> MemberFinder | None:
    if schema.value is None:
        return None
    return schemas.once(
        ("read-only", schema.uri, schema.path),
        lambda: read_only_members(schema.value, schema.follow),
    )


def _spellings(schema: Node, schemas: Schemas) -> Spellings | None:
    """The spellings of the members of a body; None for an API in which each has one."""
    json_name = schemas.json_name
    if json_name is None or schema.value is None:
        return None
    return schemas.once(
        ("spellings", schema.uri, schema.path),
        lambda: compile_spellings(schema.value, schema.follow, json_name),
    )
