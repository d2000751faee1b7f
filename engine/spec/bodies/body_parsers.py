"""Body parsers: bytes of JSON, forms, multipart and text to values."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import orjson

from engine.exchange.exchange import Exchange
from engine.spec.bodies import multipart
from engine.spec.bodies.form_bodies import compile_form, form_splits_at_commas
from engine.spec.bodies.multipart_bodies import compile_multipart
from engine.spec.bodies.multipart_items import compile_items
from engine.spec.bodies.sequences import parse_sequence
from engine.spec.document.node import Node
from engine.spec.document.schema_types import takes_any_text, types_of
from engine.spec.parameters.casting import Cast, compile_cast
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.values.errors import GatewayError, Malformed
from engine.values.json_edit import Edit
from engine.values.json_spans import Buffer
from engine.values.media_types import body_kind, sequence_kind

_CHARSET = re.compile(r';\s*charset="?([^";\s]*)', re.IGNORECASE)
Parse = Callable[[Exchange], Any]
Compiled = TypeVar("Compiled")


def kind_of_body(media_type: str, media: Node) -> str:
    """The kind of a body that can be parsed, "" for any other. A text of which the schema describes
    an object or a list is one: the syntax of YAML and CSV is not that of a parameter."""
    schema = media.get("schema")
    if schema.value is not None and (kind := _sequence_kind(media_type, media)):
        return kind
    kind = body_kind(media_type)
    is_nested = types_of(schema.value or {}, schema.follow) <= {"array", "object", "null"}
    return "" if kind == "text" and is_nested else kind


def _sequence_kind(media_type: str, media: Node) -> str:
    """The kind of sequence that the schema describes as an array; "" for any other body. Only
    OpenAPI 3.2 has them."""
    kind = sequence_kind(media_type) if media.library.is_32 else ""
    by_position = kind != "parts" or any(
        media.has(key) for key in ("itemSchema", "prefixEncoding", "itemEncoding")
    )
    return kind if by_position else ""


def compile_parser(
    kind: str,
    media: Node,
    validator: SchemaValidator | None,
    *,
    deferred: bool = False,
) -> Parse | None:
    """The parser of bodies of a kind, None if none is needed. `deferred`: compile it at the first
    body."""
    if kind == "json":
        return parse_json
    if kind in ("lines", "records", "events"):
        return lambda exchange: _sequence(kind, exchange)
    schema = media.get("schema")
    shape, encoding = schema.value or {}, media.get("encoding").value or {}
    resolve = schema.follow
    if kind == "form":
        form = _compiled(lambda: compile_form(shape, encoding, resolve), deferred)
        if validator is not None and form_splits_at_commas(shape, encoding, resolve):
            decoded = compile_form(shape, encoding, resolve, decoded=True)
            return lambda exchange: _form_with_commas(form(), decoded, validator, exchange)
        return lambda exchange: _form(form(), exchange)
    if kind == "parts":
        read_items = compile_items(media)
        return lambda exchange: _multipart_items(read_items, exchange)
    if kind == "multipart":
        parts = _compiled(lambda: compile_multipart(shape, encoding, resolve), deferred)
        return lambda exchange: _multipart(parts(), exchange)
    if kind == "text" and not takes_any_text(shape, resolve):
        cast = compile_cast(shape, resolve)
        return lambda exchange: _text(cast, exchange)
    return None


def _compiled(compile_: Callable[[], Compiled], deferred: bool) -> Callable[[], Compiled]:
    """A function that returns the result of `compile_`, which is called once: now, or, if
    `deferred`, at the first call."""
    once = cache(compile_)
    if not deferred:
        once()
    return once


def _sequence(kind: str, exchange: Exchange) -> object:
    """The items of a sequence. Raises GatewayError 400."""
    try:
        return parse_sequence(kind, bytes(exchange.body.buffer))
    except Malformed as error:
        message = f"The request body cannot be read: {error}."
        raise GatewayError(400, "invalid_json", message) from error


def _text(cast: Cast, exchange: Exchange) -> object:
    """The text, as UTF-8 or else Latin-1, cast to the type of the schema."""
    data = bytes(exchange.body.buffer)
    try:
        return cast(data.decode())
    except UnicodeDecodeError:
        return cast(data.decode("latin-1"))


def parse_json(exchange: Exchange, *, with_mark: bool = True) -> object:
    """The JSON value of the body, which loses its byte order mark unless `with_mark` is false: some
    parsers ignore one, others refuse it (RFC 8259, 8.1). Raises GatewayError 400."""
    buffer = exchange.body.buffer
    try:
        if isinstance(buffer, bytes):
            return orjson.loads(buffer)
        with memoryview(buffer) as view:
            return orjson.loads(view)
    except orjson.JSONDecodeError as error:
        if with_mark and buffer[: len(BOM_UTF8)] == BOM_UTF8:
            edit_body(exchange, (0, len(BOM_UTF8), b""))
            return parse_json(exchange, with_mark=False)
        message = f"The request body is not valid JSON: {_json_error(buffer, error)}."
        raise GatewayError(400, "invalid_json", message) from error


def edit_body(exchange: Exchange, *edits: Edit) -> None:
    """Replace the body of a request by one with these edits."""
    body = exchange.body = exchange.body.rewrite(*edits)
    if body.in_memory is None:
        exchange.on_end.append(body.close)


def has_foreign_charset(content_type: str) -> bool:
    """Whether a Content-Type names a charset other than UTF-8 or its subset US-ASCII."""
    match = _CHARSET.search(content_type)
    return match is not None and match[1].lower() not in ("utf-8", "utf8", "us-ascii")


def _json_error(buffer: Buffer, error: orjson.JSONDecodeError) -> str:
    """The parser's message, or the first byte that is not UTF-8."""
    if "surrogates" not in str(error):
        return str(error)
    try:
        str(buffer[:], "utf-8")
    except UnicodeDecodeError as undecodable:
        return f"not UTF-8 at byte {undecodable.start}"
    return str(error)


def _form(read: Callable[[bytes], dict[str, object]], exchange: Exchange) -> object:
    try:
        return read(bytes(exchange.body.buffer))
    except Malformed as error:
        raise GatewayError(400, "invalid_form", f"The form cannot be read: {error}") from error


def _form_with_commas(
    read: Callable[[bytes], dict[str, object]],
    read_decoded: Callable[[bytes], dict[str, object]],
    validator: SchemaValidator,
    exchange: Exchange,
) -> object:
    """The form. If it is valid only with percent-encoded commas as separators, they are."""
    if b"%2c" in bytes(exchange.body.buffer).lower():
        for reader in (read, read_decoded):
            try:
                value = _form(reader, exchange)
            except GatewayError:
                continue  # the strict reader at the end raises it again
            if validator.is_valid(value):
                return value
    return _form(read, exchange)


def _multipart_items(read: Callable[[Buffer, str], list[object]], exchange: Exchange) -> object:
    try:
        return read(exchange.body.buffer, exchange.environ.get("CONTENT_TYPE", ""))
    except (multipart.MultipartError, Malformed) as error:
        message = f"The multipart body cannot be read: {error}"
        raise GatewayError(400, "invalid_multipart", message) from error


def _multipart(read: Callable[..., dict[str, object]], exchange: Exchange) -> object:
    buffer = exchange.body.buffer
    try:
        boundary = multipart.boundary_of(exchange.environ.get("CONTENT_TYPE", ""))
        parts = list(multipart.parse(buffer, boundary))
        exchange.content = exchange.content._replace(parts=parts)
        return read(buffer, parts)
    except (multipart.MultipartError, Malformed) as error:
        raise GatewayError(
            400, "invalid_multipart", f"The multipart body cannot be read: {error}"
        ) from error
