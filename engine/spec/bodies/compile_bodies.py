"""Compiles the request bodies of operations."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TypeVar

from engine.spec.bodies.body_parsers import compile_parser, kind_of_body, parse_json
from engine.spec.bodies.request_bodies import Bodies, BodyRule, MediaRange, any_bodies
from engine.spec.document.node import Node
from engine.spec.document.schema_types import takes_any_bytes
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.member_finder import MemberFinder, read_only_members, unknown_members
from engine.spec.schemas.member_spellings import Spellings, compile_spellings
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.values.media_types import EXAMPLES, essence

T = TypeVar("T")


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
    rules = _Rules(schemas, with_names=with_names, with_read_only=with_read_only)
    for name, media in request_body.get("content").items():
        media_type = essence(name)
        schema = media.get("schema")
        validator = schemas.validator(schema) if schema.value is not None else None
        if "*" in media_type:
            bodies.ranges[media_type] = rules.of_range(media_type, media, validator)
            continue
        rule = rules.of_kind(kind_of_body(media_type, media), media, validator)
        bodies.rules[media_type] = rule
        if rule.parse is parse_json and schemas.is_lenient and bodies.any_json is None:
            bodies.any_json = rule
    ranges = (
        (name, each.default, each.needs_type, *each.rules.items())
        for name, each in bodies.ranges.items()
    )
    key = "bodies", bodies.required, *bodies.rules.items(), *ranges
    return schemas.once(key, lambda: bodies)


class _Rules:
    """Compiles the rules of media types, as `compile_bodies` says."""

    def __init__(self, schemas: Schemas, *, with_names: bool, with_read_only: bool) -> None:
        self._schemas = schemas
        self._with_names, self._with_read_only = with_names, with_read_only

    def of_kind(
        self, kind: str, media: Node, validator: SchemaValidator | None, *, deferred: bool = False
    ) -> BodyRule:
        """The rule for a kind of body; a `deferred` parser is compiled when it is needed."""
        parse = compile_parser(kind, media, validator, deferred=deferred)
        if parse is not parse_json:
            return BodyRule(parse, validator if parse else None)
        return BodyRule(parse, validator, *self._members(media.get("schema")))

    def of_range(self, name: str, media: Node, validator: SchemaValidator | None) -> MediaRange:
        schema, unparsed = media.get("schema"), BodyRule(None, None)
        if validator is None or takes_any_bytes(schema.value, schema.follow):
            return MediaRange({}, unparsed, needs_type=False)
        # Forms are rare under media ranges, and their readers are slow to compile.
        deferred = not media.get("encoding").value
        rules = {
            kind: self.of_kind(kind, media, validator, deferred=deferred)
            for kind, examples in EXAMPLES.items()
            if any(fnmatchcase(example, name) for example in examples)
        }
        return MediaRange(rules, unparsed, needs_type=True)

    def _members(
        self, schema: Node
    ) -> tuple[MemberFinder | None, Spellings | None, MemberFinder | None]:
        """The members of JSON bodies: the names, the spellings if the API has two of each, and the
        read-only ones."""
        value, follow, json_name = schema.value, schema.follow, self._schemas.json_name
        if value is None:
            return None, None, None

        def once(kind: str, make: Callable[[], T]) -> T:
            return self._schemas.once((kind, schema.uri, schema.path), make)

        names = once("names", lambda: unknown_members(value, follow)) if self._with_names else None
        spellings = (
            once("spellings", lambda: compile_spellings(value, follow, json_name))
            if json_name is not None
            else None
        )
        read_only = (
            once("read-only", lambda: read_only_members(value, follow))
            if self._with_read_only
            else None
        )
        return names, spellings, read_only
