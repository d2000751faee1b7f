"""The handler that answers with the examples of an operation, its objects, and the fault that a
request asks for."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

import gevent
import orjson
from msgspec import Struct

from engine.dialects import Dialect
from engine.exchange.exchange import MISSING, Exchange, Handler, Response
from engine.mock import faults
from engine.mock.batches import Batches
from engine.mock.examples import (
    ExampleResponse,
    choose,
    elements,
    events,
    fill,
    item_texts,
    last_turn,
)
from engine.mock.object_store import ObjectStore
from engine.mock.objects import ObjectRequest
from engine.mock.operation_roles import Role
from engine.mock.uploads import Uploads, uploaded_file
from engine.spec.bodies.sequences import write_sequence
from engine.values.errors import GatewayError
from engine.values.media_types import essence, sequence_kind
from engine.values.trees import Json

_BINARY = bytes(range(256)) * 16
_CHUNKS = 8


class Style(Struct, frozen=True):
    """How the mock answers: its dialect, the seconds between two pieces of a stream, and the
    objects of the dialect with the shapes of their paths, and its batches."""

    dialect: Dialect
    delay: float
    store: ObjectStore
    uploads: Uploads
    shapes: Mapping[str, str]
    batches: Batches | None


def example_handler(candidates: list[ExampleResponse], style: Style, role: Role) -> Handler:
    """A handler that answers with one of the candidates, which are those of an operation."""
    json_example = next((e for e in candidates if "json" in e.media_type), candidates[0])

    def handle(exchange: Exchange) -> Response:
        value = exchange.content.value
        request = value if value is not MISSING else None
        model = _model(exchange, request)
        fault = faults.fault_of(model)
        if fault is not None:
            faults.apply_before_response(fault, faults.sender(exchange.connection), gevent.sleep)
        example = choose(candidates, request, exchange.query)
        values = _values(request, model)
        value = fill(json_example.value, values)
        if (response := style.uploads.handle(exchange, value)) is not None:
            return response
        prefix = exchange.mount.rstrip("/")
        path, query = exchange.path.removeprefix(prefix), exchange.query
        host = exchange.header("HTTP_HOST") or ""
        objects = ObjectRequest(style.store, role, path, query, request, host)
        entry = objects.check()
        content, described = uploaded_file(exchange)
        if role.action == "create" and isinstance(value, dict):
            value |= {name: new for name, new in described.items() if name in role.members}
        answer = objects.answer(entry, value, content)
        if role.batch and style.batches is not None:
            style.batches.answer(path, prefix, request if isinstance(request, dict) else {}, answer)
        if example is json_example and isinstance(answer, dict):
            body = orjson.dumps(answer)
            return Response(example.status, [("content-type", example.media_type)], body)
        if entry is not None and entry.content and role.action == "":
            headers = [("content-type", "application/octet-stream")]
            return Response(example.status, headers, entry.content)
        if entry is not None and entry.events and example is not json_example:
            pieces = _paced(iter(objects.events_again(entry)), style.delay)
            return Response(example.status, [("content-type", example.media_type)], pieces)
        if example.media_type == "text/event-stream" and fault is None:
            objects.keep_events(answer, [*events(str(example.value or ""), values, usage=False)])
        return _response(example, values, request, style, fault)

    return handle


def _model(exchange: Exchange, request: object) -> str:
    if isinstance(request, dict) and isinstance(request.get("model"), str):
        return str(request["model"])
    return unquote(exchange.variable("model")) if "model" in exchange.variables else ""


def _values(request: object, model: str) -> Json:
    text = last_turn(request)
    count = len(text.split())
    return {
        "text": text,
        "model": model,
        "now": int(time.time()),
        "id": secrets.token_hex(12),
        "input_tokens": count + 3,
        "output_tokens": max(count, 1),
        "total_tokens": count + 3 + max(count, 1),
        "items": item_texts(request),
    }


def _response(
    example: ExampleResponse,
    values: Json,
    request: object,
    style: Style,
    fault: faults.MockFault | None,
) -> Response:
    media_type, value = example.media_type, example.value
    headers = [("content-type", media_type)] if media_type else []
    pieces: Iterator[bytes] | None = None
    kind = sequence_kind(essence(media_type))
    if isinstance(value, list) and kind not in ("", "parts"):
        value = write_sequence(kind, fill(value, values)).decode()
    if media_type == "text/event-stream":
        options = request.get("stream_options") if isinstance(request, dict) else None
        usage = isinstance(options, dict) and options.get("include_usage") is True
        pieces = events(str(value or ""), values, usage)
    elif isinstance(value, list) and "json" in media_type:
        pieces = elements(value, values)
    elif "json" in media_type and not (kind and isinstance(value, str)):
        return Response(example.status, headers, orjson.dumps(fill(value, values)))
    elif isinstance(value, str):
        return Response(example.status, headers, fill(value, values).encode())
    elif media_type:
        pieces = iter([_BINARY] * _CHUNKS)
    if pieces is None:
        return Response(example.status, headers, b"")
    if fault is not None:
        pieces = faults.apply_to_stream(fault, pieces, _error_event(style), gevent.sleep)
    return Response(example.status, headers, _paced(pieces, style.delay))


def _error_event(style: Style) -> bytes:
    error = GatewayError(503, "mock_fault", "The mock was asked for an error in mid-stream.")
    return style.dialect.error_event(orjson.dumps(style.dialect.error(error, "req_mock")))


def _paced(pieces: Iterator[bytes], delay: float) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        if delay:
            gevent.sleep(delay)
