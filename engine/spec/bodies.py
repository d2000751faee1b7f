"""Request bodies: which media types an operation takes, how each is parsed, what it must be.

JSON and forms are checked against their schemas; anything else is relayed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
import orjson

from engine.errors import GatewayError, Malformed
from engine.exchange import Exchange
from engine.json_text import Buffer
from engine.spec import multipart
from engine.spec.forms import compile_form, compile_multipart
from engine.spec.library import Node
from engine.spec.schemas import Schemas
from engine.spec.unknown import Names, compile_names
from engine.spec.words import explain

_CHARSET = re.compile(r';\s*charset="?([^";\s]*)', re.IGNORECASE)
Parse = Callable[[Exchange], Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One media type: how a body of it is parsed (None: not at all) and what it must be.

    `names` are the members its document names, where somebody wants to know.
    """

    parse: Parse | None
    validator: jsonschema_rs.Validator | None
    names: Names | None = None


@dataclass(slots=True)
class Bodies:
    """The bodies an operation takes. Without any rule it takes none."""

    required: bool = False
    rules: dict[str, Rule] = field(default_factory=dict)

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
        said = media_type = exchange.environ.get("CONTENT_TYPE", "")
        if not self.rules:
            raise GatewayError(400, "unexpected_body", "This operation takes no request body.")
        rule = self.rules.get(said)
        if rule is None:
            media_type = said.partition(";")[0].strip().lower()
            kind = media_type.partition("/")[0]
            known = (media_type, f"{kind}/*", "*/*")
            rule = next((self.rules[name] for name in known if name in self.rules), None)
        if rule is None or "," in media_type:
            taken = " or ".join(self.rules)
            got = f"got '{media_type[:80]}'" if media_type else "got none"
            raise GatewayError(
                415, "unsupported_media_type", f"Content-Type must be {taken}; {got}."
            )
        if exchange.environ.get("HTTP_CONTENT_ENCODING", "identity").lower() != "identity":
            raise GatewayError(
                415, "unsupported_content_encoding", "The request body must not be compressed."
            )
        if rule.parse is _json and ";" in said and _foreign_charset(said):
            message = "A JSON body is UTF-8; another charset cannot be read."
            raise GatewayError(415, "unsupported_media_type", message)
        exchange.media_type = media_type
        return rule


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
        parse = _parser(media_type, media, schema, schemas)
        compiled = schemas.validator(schema) if parse and schema.value is not None else None
        names = None
        if named and parse is _json and schema.value is not None:
            names = compile_names(schema.value, schemas.resolve(schema))
        bodies.rules[media_type] = Rule(parse, compiled, names)
    return bodies


def _parser(media_type: str, media: Node, schema: Node, schemas: Schemas) -> Parse | None:
    if media_type == "application/json" or media_type.endswith("+json"):
        return _json
    shape, encoding = schema.value or {}, media.get("encoding").value or {}
    if media_type == "application/x-www-form-urlencoded":
        form = compile_form(shape, encoding, schemas.resolve(schema))
        return lambda exchange: _form(form, exchange)
    if media_type == "multipart/form-data":
        parts = compile_multipart(shape, encoding, schemas.resolve(schema))
        return lambda exchange: _multipart(parts, exchange)
    return None


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
