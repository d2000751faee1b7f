"""Request bodies: the media types of an operation, each with its parser and validator.

JSON, forms and text are validated against their schemas; anything else is relayed unchanged. Under
a media range (`*/*`, `application/*`) the Content-Type of the request selects the parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from engine.exchange.exchange import MISSING, Content, Exchange
from engine.exchange.request_body import Body
from engine.spec.bodies.body_parsers import (
    Parse,
    edit_body,
    has_foreign_charset,
    parse_json,
)
from engine.spec.schemas.member_finder import MemberFinder
from engine.spec.schemas.member_spellings import Spellings
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.values.errors import GatewayError
from engine.values.media_types import OTHER_NAMES, body_kind, essence, is_binary, is_json


class BodyRule(Struct, frozen=True):
    """The parser (None: bodies are not parsed) and validator of a media type.

    `names` are the members that the document names, for routes that reject or drop others.
    `read_only` are those that it marks as read-only, for routes that refuse or strip them.
    `spellings` are those of members that requests may spell in two ways.
    """

    parse: Parse | None
    validator: SchemaValidator | None
    names: MemberFinder | None = None
    spellings: Spellings | None = None
    read_only: MemberFinder | None = None


_NO_RULE = BodyRule(None, None)
_READS = ("GET", "HEAD")
"""Methods whose bodies have no meaning (RFC 9110 9.3.1)."""
_BYTES = "application/octet-stream"
_EMPTY_OBJECT = 16
"""Bytes of an empty JSON object, with spaces."""


class MediaRange(Struct, frozen=True):
    """A media range: a rule for each kind of body that can be parsed, `default` for all others.

    `needs_type`: requests need a Content-Type, because the schema does not accept all bytes.
    """

    rules: Mapping[str, BodyRule]
    default: BodyRule
    needs_type: bool


@dataclass(slots=True, eq=False)
class Bodies:
    """The request bodies of an operation. Without rules it accepts none but an empty JSON object,
    which some SDKs send with all methods that may have one. Operations of a document with equal
    bodies share one object, and objects are equal only to themselves.

    `any_json`: a lenient operation's rule for JSON of a media type that it does not have.
    """

    required: bool = False
    rules: dict[str, BodyRule] = field(default_factory=dict)
    ranges: dict[str, MediaRange] = field(default_factory=dict)
    any_json: BodyRule | None = None

    @property
    def media_types(self) -> list[str]:
        """The declared media types and ranges."""
        return [*self.rules, *self.ranges]

    @property
    def are_json(self) -> bool:
        """Whether no body is parsed as anything but JSON."""
        return not self.ranges and all(rule.parse is parse_json for rule in self.rules.values())

    @property
    def _parses_nothing(self) -> bool:
        """Whether bodies are relayed unread, whatever their media type."""
        return not self.unchecked_ranges and all(r.parse is None for r in self.rules.values())

    @property
    def spellings(self) -> Spellings | None:
        """The spellings of the members of JSON bodies; None if each has one."""
        return next((rule.spellings for rule in self.all_rules if rule.spellings is not None), None)

    @property
    def all_rules(self) -> list[BodyRule]:
        """The rules of all media types and ranges."""
        ranges = self.ranges.values()
        return [*self.rules.values(), *(rule for each in ranges for rule in each.rules.values())]

    @property
    def unchecked_ranges(self) -> list[str]:
        """The ranges under which bodies of some media types are not validated."""
        return [name for name, media_range in self.ranges.items() if media_range.needs_type]

    def parse(self, exchange: Exchange, strict: bool = True) -> BodyRule | None:
        """Parse the body into `exchange.content` and return its rule, None without one to check.

        Raises GatewayError: 415 for a media type that the operation does not accept, 400 for a body
        that is missing or cannot be parsed. If not `strict`, a missing body and an unknown media
        type are accepted.
        """
        if exchange.body.size == 0 and not self._has_empty_content(exchange):
            if self.required and strict:
                raise GatewayError(400, "missing_body", "The request needs a body; it has none.")
            return None
        try:
            media_type, rule = self._match(exchange)
        except GatewayError:
            if strict:
                raise
            return None
        if rule.parse is None:
            exchange.content = Content(media_type)
            return rule
        value: object = MISSING
        try:
            value = rule.parse(exchange)
        finally:
            exchange.content = Content(media_type, value, exchange.content.parts)
        if rule.spellings is not None:
            use_documented_names(exchange, rule.spellings)
        return rule

    def _has_empty_content(self, exchange: Exchange) -> bool:
        """Whether an empty body is content that the operation needs, of the media type that its
        head names: a form without fields, an empty text or file."""
        media_type = essence(exchange.environ.get("CONTENT_TYPE", ""))
        may_be_empty = body_kind(media_type) in ("form", "text", "")
        if not (self.required and media_type and may_be_empty) or media_type.endswith("xml"):
            return False
        return self._rule_of(media_type) is not None

    def rule(self, exchange: Exchange) -> BodyRule:
        """The rule for the request's media type. Raises GatewayError 400 or 415."""
        return self._match(exchange)[1]

    def _match(self, exchange: Exchange) -> tuple[str, BodyRule]:
        """The request's media type and its rule."""
        content_type = media_type = exchange.environ.get("CONTENT_TYPE", "")
        rule = self.rules.get(content_type)
        if rule is None:
            if not self.media_types:
                if exchange.method not in _READS and _says_nothing(exchange.body):
                    return "", _NO_RULE
                message = "This operation accepts no request body."
                raise GatewayError(400, "unexpected_body", message)
            media_type = essence(content_type)
            rule = self._rule_of(media_type)
        if rule is None:
            raise self._unsupported(media_type)
        coding = exchange.environ.get("HTTP_CONTENT_ENCODING")
        if coding is not None and coding.lower() != "identity":
            raise GatewayError(
                415, "unsupported_content_encoding", "The request body must not be compressed."
            )
        if rule.parse is parse_json and ";" in content_type and has_foreign_charset(content_type):
            message = "The charset of a JSON body must be UTF-8."
            raise GatewayError(415, "unsupported_media_type", message)
        return media_type, rule

    def _unsupported(self, media_type: str) -> GatewayError:
        accepted = " or ".join(self.media_types)
        if media_type:
            message = f"Content-Type must be {accepted}; got '{media_type[:80]}'."
        else:
            message = f"The request needs a Content-Type, {accepted}; it has none."
        return GatewayError(415, "unsupported_media_type", message)

    def _rule_of(self, media_type: str) -> BodyRule | None:
        """The rule of a media type: its own, that of another name of it, or that of a range. Bytes
        need no Content-Type where the operation takes nothing else (RFC 9110, 8.3), and may be a
        file of any media type."""
        if not media_type and _BYTES in self.rules and self._parses_nothing:
            return self.rules[_BYTES]
        for name in (media_type, *OTHER_NAMES.get(media_type, ())):
            if name in self.rules:
                return self.rules[name]
        rule = self._rule_of_range(media_type)
        if rule is None and _BYTES in self.rules and is_binary(media_type):
            return self.rules[_BYTES]
        return self.any_json if rule is None and is_json(media_type) else rule

    def _rule_of_range(self, media_type: str) -> BodyRule | None:
        """The rule of the narrowest range: `application/*+json`, `application/*`, `*/*`."""
        if not self.ranges or "*" in media_type or "," in media_type:
            return None
        kind, _, subtype = media_type.partition("/")
        names = (f"{kind}/*+{subtype.rpartition('+')[2]}", f"{kind}/*", "*/*")
        media_range = next((self.ranges[name] for name in names if name in self.ranges), None)
        if media_range is None or (media_range.needs_type and not media_type):
            return None
        return media_range.rules.get(body_kind(media_type), media_range.default)


NO_BODIES = Bodies()


def any_bodies(*, required: bool) -> Bodies:
    """The bodies of an operation whose document does not say of which media type they are."""
    unparsed = MediaRange({}, BodyRule(None, None), needs_type=False)
    return Bodies(required, ranges={"*/*": unparsed})


def _says_nothing(body: Body) -> bool:
    """Whether a body is an empty JSON object."""
    return body.size <= _EMPTY_OBJECT and b"".join(bytes(body.buffer).split()) == b"{}"


def check(rule: BodyRule, value: object) -> None:
    """Validate a parsed body. Raises GatewayError 400 with the place of the mistake."""
    if rule.validator is not None and not rule.validator.is_valid(value):
        raise explain(rule.validator, value).error()


def use_documented_names(exchange: Exchange, spellings: Spellings) -> None:
    """Give the members of a parsed JSON body their documented names. Raises GatewayError 400 for a
    member that is there in both spellings."""
    if not (edits := spellings.edits(exchange.body.buffer)):
        return
    edit_body(exchange, *edits)
    exchange.content = exchange.content._replace(value=parse_json(exchange))
