"""Transforms on the caller's side: edits of the caller's request before a target is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import orjson

from engine.exchange.exchange import MISSING, Exchange, RequestEdits
from engine.exchange.member_protocols import Headers
from engine.exchange.request_body import Body
from engine.spec.bodies.multipart import MultipartError, boundary_of, parse
from engine.transforms.body_edits import BodyEdits
from engine.transforms.form_edits import edit_form, multipart_edits
from engine.transforms.header_edits import HeaderEdits
from engine.transforms.places import TooDeep
from engine.transforms.template import TemplateValues
from engine.transforms.transform import Transform
from engine.values.errors import GatewayError
from engine.values.json_document import JsonDocument
from engine.values.json_spans import Ambiguous
from engine.values.media_types import body_kind, essence


def edit_request(
    exchange: Exchange, transforms: Sequence[Transform], values: TemplateValues
) -> bool:
    """Make the edits of a request. Returns whether its body has changed; a form is not parsed
    again. `values` have the request before the edits. Raises GatewayError 400 for a value of the
    request that is not valid where a template inserts it, and for a repeated member."""
    headers = []
    body = exchange.body
    for transform in transforms:
        edits = transform.request
        if edits.header:
            headers.append(edits.header)
        if edits.query:
            exchange.query = edits.query.apply(exchange.query, values)
        if edits.body and exchange.body.size:
            _edit_body(exchange, edits.body, values)
    if headers:
        earlier = None if exchange.edits is None else exchange.edits.headers
        edit = partial(edit_headers, headers, values, earlier)
        exchange.edits = RequestEdits(values.exchange, edit)
    return exchange.body is not body


def edit_headers(
    edits: Sequence[HeaderEdits],
    values: TemplateValues,
    earlier: Callable[[Headers], Headers] | None,
    headers: Headers,
) -> Headers:
    """The headers after the `earlier` edits, then those of several transforms."""
    if earlier is not None:
        headers = earlier(headers)
    for header_edits in edits:
        headers = header_edits.apply(headers, values)
    return headers


def edit_json(document: JsonDocument, edits: BodyEdits, values: TemplateValues) -> None:
    """Edit the JSON of a request. Raises GatewayError 400."""
    try:
        edits.apply(document, values, request=True)
    except (Ambiguous, TooDeep) as error:
        message = f"The request body cannot be edited: {error}."
        raise GatewayError(400, "invalid_value", message) from error


def _edit_body(exchange: Exchange, edits: BodyEdits, values: TemplateValues) -> None:
    content_type = exchange.header("CONTENT_TYPE") or ""
    kind = body_kind(exchange.content.media_type or essence(content_type))
    body = exchange.body
    if kind == "json":
        text = bytes(body.buffer)
        value = exchange.content.value
        if value is MISSING:
            value = _parsed(text)
        if value is MISSING:
            return  # it is not JSON, and validation is off
        document = JsonDocument(text, value)
        edit_json(document, edits, values)
        if document.text is not text:
            exchange.body = Body(document.text)
            exchange.content = exchange.content._replace(value=document.value)
    elif kind == "form":
        exchange.body = Body(edit_form(bytes(body.buffer), edits, values))
    elif kind == "multipart":
        exchange.body = edit_multipart(body, content_type, edits, values)
        if exchange.body is not body:
            exchange.on_end.append(exchange.body.close)


def edit_multipart(body: Body, content_type: str, edits: BodyEdits, values: TemplateValues) -> Body:
    """A multipart body after the edits; the same object if nothing changed, or if it is not valid
    multipart, as validation is then off. The caller closes a new body."""
    try:
        boundary = boundary_of(content_type)
        parts = parse(body.buffer, boundary)
    except MultipartError:
        return body
    changes = multipart_edits(body.buffer, parts, boundary, edits, values)
    return body.rewrite(*changes) if changes else body


def _parsed(text: bytes) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return MISSING
