"""Request bodies: which media types an operation takes, how each is parsed, what it must be.

JSON, forms and text are checked against their schemas; anything else is relayed as it is. Under a
media range (`*/*`, `application/*`) the type that was sent says how a body is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, TypeVar

import jsonschema_rs
import orjson

from engine.exchange.exchange import Exchange
from engine.spec import multipart
from engine.spec.casting import (
    Cast,
    compile_cast,
    takes_any_bytes,
    takes_any_text,
)
from engine.spec.document.node import Node
from engine.spec.form_bodies import compile_form, compile_multipart, form_splits_at_commas
from engine.spec.refusal_messages import explain
from engine.spec.schemas import Schemas
from engine.spec.unknown_members import Names, compile_names
from engine.values.errors import GatewayError, Malformed
from engine.values.json_edit import Buffer

_CHARSET = re.compile(r';\s*charset="?([^";\s]*)', re.IGNORECASE)
Parse = Callable[[Exchange], Any]
Compiled = TypeVar("Compiled")


@dataclass(frozen=True, slots=True)
class Rule:
    """One media type: how a body of it is parsed (None: not at all) and what it must be.

    `names` are the members its document names, where somebody wants to know.
    """

    parse: Parse | None
    validator: jsonschema_rs.Validator | None
    names: Names | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """A media range: a rule for each kind of body that can be parsed, `other` for the rest.

    `typed`: a request has to say its media type, because the schema is not met by any bytes.
    """

    rules: Mapping[str, Rule]
    other: Rule
    typed: bool


@dataclass(slots=True)
class Bodies:
    """The bodies an operation takes. Without any rule it takes none."""

    required: bool = False
    rules: dict[str, Rule] = field(default_factory=dict)
    ranges: dict[str, Range] = field(default_factory=dict)

    @property
    def media_types(self) -> list[str]:
        """The declared media types and ranges."""
        return [*self.rules, *self.ranges]

    @property
    def unchecked_ranges(self) -> list[str]:
        """The ranges under which bodies of some types pass without being held to the schema."""
        return [name for name, declared in self.ranges.items() if declared.typed]

    def parse(self, exchange: Exchange, strict: bool = True) -> Rule | None:
        """Parse the body into `exchange.value`; None when there is nothing to check.

        Raises GatewayError: 415 for a media type the operation does not take, 400 for a body that
        is missing or cannot be parsed. Unless `strict`, a missing body and one of an unknown type
        pass as they are.
        """
        if exchange.body.size == 0:
            if self.required and strict:
                raise GatewayError(400, "missing_body", "The request needs a body; it has none.")
            return None
        try:
            rule = self._rule(exchange)
        except GatewayError:
            if strict:
                raise
            return None
        if rule.parse is not None:
            exchange.value = rule.parse(exchange)
        return rule

    def _rule(self, exchange: Exchange) -> Rule:
        sent = media_type = exchange.environ.get("CONTENT_TYPE", "")
        if not self.rules and not self.ranges:
            raise GatewayError(400, "unexpected_body", "This operation takes no request body.")
        rule = self.rules.get(sent)
        if rule is None:
            media_type = sent.partition(";")[0].strip().lower()
            rule = self.rules.get(media_type) or self._rule_of_range(media_type)
        if rule is None:
            taken = " or ".join(self.media_types)
            got = f"got '{media_type[:80]}'" if media_type else "got none"
            raise GatewayError(
                415, "unsupported_media_type", f"Content-Type must be {taken}; {got}."
            )
        if exchange.environ.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
            raise GatewayError(
                415, "unsupported_content_encoding", "The request body must not be compressed."
            )
        if rule.parse is _json and ";" in sent and _foreign_charset(sent):
            message = "A JSON body is UTF-8; another charset cannot be read."
            raise GatewayError(415, "unsupported_media_type", message)
        exchange.media_type = media_type
        return rule

    def _rule_of_range(self, media_type: str) -> Rule | None:
        """The rule of the narrowest range: `application/*+json`, `application/*`, `*/*`."""
        if not self.ranges or "*" in media_type or "," in media_type:
            return None
        kind, _, subtype = media_type.partition("/")
        names = (f"{kind}/*+{subtype.rpartition('+')[2]}", f"{kind}/*", "*/*")
        found = next((self.ranges[name] for name in names if name in self.ranges), None)
        if found is None or (found.typed and not media_type):
            return None
        return found.rules.get(_kind(media_type), found.other)


def check(rule: Rule, value: Any) -> None:
    """Raises GatewayError 400, with the place, when a parsed body is not what it must be."""
    if rule.validator is None or rule.validator.is_valid(value):
        return
    refusal = explain(rule.validator, value)
    raise GatewayError(400, refusal.code, refusal.message, param=refusal.param)


def compile_bodies(request_body: Node, schemas: Schemas, *, named: bool = False) -> Bodies:
    """The bodies of an operation's `requestBody`. Raises ValueError for a broken schema.

    `named`: with the names of all members of JSON bodies.
    """
    bodies = Bodies(required=request_body.value.get("required") is True)
    for name, media in request_body.get("content").items():
        media_type = name.partition(";")[0].strip().lower()
        schema = media.get("schema")
        validator = schemas.validator(schema) if schema.value is not None else None
        if "*" in media_type:
            bodies.ranges[media_type] = _range(media_type, media, schemas, validator, named)
            continue
        parse = _parser(_kind(media_type), media, schemas, validator)
        names = _names(schema, schemas) if named and parse is _json else None
        bodies.rules[media_type] = Rule(parse, validator if parse else None, names)
    return bodies


def _range(
    name: str,
    media: Node,
    schemas: Schemas,
    validator: jsonschema_rs.Validator | None,
    named: bool,
) -> Range:
    schema, opaque = media.get("schema"), Rule(None, None)
    if validator is None or takes_any_bytes(schema.value, schemas.resolve(schema)):
        return Range({}, opaque, typed=False)
    names = _names(schema, schemas) if named else None
    rules = {}
    for kind, examples in _EXAMPLES.items():
        if any(fnmatchcase(example, name) for example in examples):
            # Most ranges are never sent a form, and reading one takes long to prepare.
            parse = _parser(kind, media, schemas, validator, later=not media.get("encoding").value)
            rules[kind] = Rule(
                parse, validator if parse else None, names if kind == "json" else None
            )
    return Range(rules, opaque, typed=True)


def _names(schema: Node, schemas: Schemas) -> Names | None:
    if schema.value is None:
        return None
    return compile_names(schema.value, schemas.resolve(schema))


_EXAMPLES = {
    "json": ("application/json", "text/json", "application/x+json"),
    "form": ("application/x-www-form-urlencoded",),
    "multipart": ("multipart/form-data",),
    "text": ("text/plain",),
}
"""The kinds of bodies that can be parsed, each with media types by which a range that has it is
recognised."""


def _kind(media_type: str) -> str:
    """What a body of a media type is: a key of `_EXAMPLES`, or "" for anything else."""
    if media_type in ("application/json", "text/json") or media_type.endswith("+json"):
        return "json"
    if media_type == "application/x-www-form-urlencoded":
        return "form"
    if media_type == "multipart/form-data":
        return "multipart"
    is_text = media_type.startswith("text/") and not media_type.endswith(("/xml", "+xml"))
    return "text" if is_text else ""


def _parser(
    kind: str,
    media: Node,
    schemas: Schemas,
    validator: jsonschema_rs.Validator | None,
    *,
    later: bool = False,
) -> Parse | None:
    """How bodies of a kind are parsed; `later`: what that takes is prepared for the first one."""
    if kind == "json":
        return _json
    schema = media.get("schema")
    shape, encoding = schema.value or {}, media.get("encoding").value or {}
    resolve = schemas.resolve(schema)
    if kind == "form":
        form = _compiled(lambda: compile_form(shape, encoding, resolve), later)
        if validator is not None and form_splits_at_commas(shape, encoding, resolve):
            decoded = compile_form(shape, encoding, resolve, decoded=True)
            return lambda exchange: _form_with_commas(form(), decoded, validator, exchange)
        return lambda exchange: _form(form(), exchange)
    if kind == "multipart":
        parts = _compiled(lambda: compile_multipart(shape, encoding, resolve), later)
        return lambda exchange: _multipart(parts(), exchange)
    if kind == "text" and not takes_any_text(shape, resolve):
        cast = compile_cast(shape, resolve)
        return lambda exchange: _text(cast, exchange)
    return None


def _compiled(compile_: Callable[[], Compiled], later: bool) -> Callable[[], Compiled]:
    """A function that returns what `compile_` does, which it calls once: now or later."""
    once = cache(compile_)
    if not later:
        once()
    return once


def _text(cast: Cast, exchange: Exchange) -> Any:
    """Text, as the schema's type; bytes that are no UTF-8 stand for a character each."""
    data = bytes(exchange.body.buffer)
    try:
        return cast(data.decode())
    except UnicodeDecodeError:
        return cast(data.decode("latin-1"))


def _json(exchange: Exchange) -> Any:
    buffer = exchange.body.buffer
    try:
        if isinstance(buffer, bytes):
            return orjson.loads(buffer)
        with memoryview(buffer) as view:
            return orjson.loads(view)
    except orjson.JSONDecodeError as error:
        message = f"The request body is not valid JSON: {_why(buffer, error)}."
        raise GatewayError(400, "invalid_json", message) from error


def _foreign_charset(content_type: str) -> bool:
    match = _CHARSET.search(content_type)
    return match is not None and match[1].lower() not in ("utf-8", "utf8", "us-ascii")


def _why(buffer: Buffer, error: orjson.JSONDecodeError) -> str:
    """The parser's words, or the byte at which the text is no UTF-8."""
    if "surrogates" not in str(error):
        return str(error)
    try:
        str(buffer[:], "utf-8")
    except UnicodeDecodeError as undecodable:
        return f"not UTF-8 at byte {undecodable.start}"
    return str(error)


def _form(read: Callable[[bytes], dict[str, object]], exchange: Exchange) -> Any:
    try:
        return read(bytes(exchange.body.buffer))
    except Malformed as error:
        raise GatewayError(400, "invalid_form", f"The form cannot be read: {error}") from error


def _form_with_commas(
    read: Callable[[bytes], dict[str, object]],
    read_decoded: Callable[[bytes], dict[str, object]],
    validator: jsonschema_rs.Validator,
    exchange: Exchange,
) -> Any:
    """The form; where it is valid only with its encoded commas as commas, that reading."""
    if b"%2c" in bytes(exchange.body.buffer).lower():
        for reading in (read, read_decoded):
            try:
                value = _form(reading, exchange)
            except GatewayError:
                continue  # raised again below, in the words of the strict reading
            if validator.is_valid(value):
                return value
    return _form(read, exchange)


def _multipart(read: Callable[..., dict[str, object]], exchange: Exchange) -> Any:
    buffer = exchange.body.buffer
    try:
        boundary = multipart.boundary_of(exchange.environ.get("CONTENT_TYPE", ""))
        exchange.parts = list(multipart.parse(buffer, boundary))
        return read(buffer, exchange.parts)
    except (multipart.MultipartError, Malformed) as error:
        raise GatewayError(
            400, "invalid_multipart", f"The multipart body cannot be read: {error}"
        ) from error
