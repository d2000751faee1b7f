"""The mock upstream: serves every operation of the documents with their examples.

It is made of the parts of the gateway: it checks its credential, validates every request, echoes
the last turn of the caller, in streams word by word, and keeps the objects that its answers create
(`objects.py`).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import unquote

import gevent
import orjson
from msgspec import Struct

from engine.dialects import Dialect
from engine.edge.body_reader import check_head
from engine.edge.falcon_application import Application, application
from engine.edge.falcon_responder import Responder, Responders, answer_errors
from engine.edge.inside_call import InsideCalls
from engine.edge.path_operations import Candidate, Resource
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, compose
from engine.exchange.stage_services import Services
from engine.mock import faults
from engine.mock.batches import Batches
from engine.mock.examples import (
    ExampleResponse,
    choose,
    elements,
    events,
    examples,
    fill,
    item_texts,
    last_turn,
)
from engine.mock.object_store import ObjectStore
from engine.mock.objects import FACTS, ObjectRequest, Role, item_shapes, role_of
from engine.mock.session import session
from engine.mock.uploads import Uploads, uploaded_file
from engine.relay.websocket.session import SessionLimits, Sessions
from engine.sockets.upgrade import ResponsesSockets, SocketSettings
from engine.spec.bodies.sequences import write_sequence
from engine.spec.document.path_templates import variables
from engine.spec.operation import Operation
from engine.spec.spec import Specification
from engine.stages.alternative_operation import Alternative
from engine.stages.alternatives import Choice, refusing
from engine.stages.authenticate import authenticate
from engine.stages.receive import receive
from engine.stages.validate import UNCHECKED, checks_of, validate_body, validate_parameters
from engine.upstream.websockets.websocket_forward import upgrade_or_http
from engine.values.caller import Caller, digest
from engine.values.errors import GatewayError
from engine.values.media_types import essence, sequence_kind
from engine.values.trees import Json

_BINARY = bytes(range(256)) * 16
_CHUNKS = 8
_MAX_REQUEST = 1_000_000_000


class Style(Struct, frozen=True):
    """How the mock answers: its dialect, the seconds between two pieces of a stream, and the
    objects of the dialect with the shapes of their paths, and its batches."""

    dialect: Dialect
    delay: float
    store: ObjectStore
    uploads: Uploads
    shapes: Mapping[str, str]
    batches: Batches | None


def build(
    documents: Iterable[tuple[Specification, Dialect]],
    credential: str,
    delay: float = 0.0,
    max_body: int = 1_000_000_000,
) -> Application:
    """The application of the mock. It answers 401 to any other credential."""
    responders = Responders(max_body, 60.0)
    services = Services(tokens={digest(credential): Caller("gateway")})
    served: dict[str, tuple[Alternative, Dialect]] = {}

    def choose(candidates: Sequence[Candidate]) -> Responder:
        choice = Choice(candidates, lambda operation: served[operation][0])
        dialect = served[candidates[0].resource.operation][1]
        handler = compose([answer_errors, check_head, choice.stage], choice.handler)
        return responders.responder(handler, [dialect])

    app = application(responders, [answer_errors, check_head], choose=choose)
    inside = InsideCalls(app)
    sockets = ResponsesSockets(inside, services, Sessions())
    documents = list(documents)
    styles: dict[str, Style] = {}
    for specification, dialect in documents:
        style = styles.get(dialect.name) or _style(dialect, delay, documents, inside)
        styles[dialect.name] = style
        for number, operation in enumerate(specification.operations.values()):
            alternative = _alternative(operation, specification, style, services, sockets)
            served[operation.id] = alternative, dialect
            handler = compose([answer_errors, check_head], alternative.handler)
            responder = partial(responders.responder, handler, [dialect])
            _add_routes(app, operation, responder, (specification.name, number), dialect)
    return app


def _add_routes(
    app: Application,
    operation: Operation,
    responder: Callable[[], Responder],
    rank: tuple[str, int],
    dialect: Dialect,
) -> None:
    slash_variables = {"model"}.intersection(variables(operation.path)).union(
        operation.slash_variables
    )
    for template, mount in operation.templates:
        resource = Resource(
            *(operation.method, mount, tuple(slash_variables), responder),
            *(operation.query, operation.id, rank, dialect),
        )
        app.add_route(template, resource)


def _style(
    dialect: Dialect,
    delay: float,
    documents: Iterable[tuple[Specification, Dialect]],
    inside: InsideCalls,
) -> Style:
    specifications = [specification for specification, each in documents if each is dialect]
    operations = [op for spec in specifications for op in spec.operations.values()]
    has_facts = (
        spec.node(op).has(FACTS) for spec in specifications for op in spec.operations.values()
    )
    store = ObjectStore(is_strict=any(has_facts))
    form = dialect.batches
    batches = None if form is None else Batches(dialect.name, form, store, inside)
    return Style(dialect, delay, store, Uploads(store), item_shapes(operations), batches)


def _alternative(
    operation: Operation,
    specification: Specification,
    style: Style,
    services: Services,
    sockets: ResponsesSockets,
) -> Alternative:
    """An operation of the mock."""
    last = _last(operation, specification, style, sockets)
    checks = checks_of(operation, "strict")
    is_public = {} in (specification.node(operation).get("security").value or ())
    enter = authenticate(operation.carriers, is_public, services)
    validating = [*validate_parameters(checks)]
    if not operation.first_message:  # else the session gets it
        validating += [receive(checks), *validate_body(checks)]
    return Alternative(
        operation,
        unknown="pass",
        readonly="accept",
        is_tolerant=False,
        carriers=operation.carriers,
        authenticate=enter,
        handler=compose([enter, *validating], last),
        judged=compose([enter, receive(UNCHECKED)], last),
        refusal=lambda error: compose([enter, refusing(error)], last),
    )


def _last(
    operation: Operation, specification: Specification, style: Style, sockets: ResponsesSockets
) -> Handler:
    """The last handler: a session if the operation is a WebSocket, else an example; or either, as
    the request asks."""
    node = specification.node(operation)
    example = _example(examples(node), style, role_of(operation, node, style.shapes))
    if not operation.websocket:
        return example
    upgrade = _session(operation, specification, style, sockets)
    return upgrade_or_http(upgrade, example) if operation.is_http else upgrade


def _session(
    operation: Operation, specification: Specification, style: Style, sockets: ResponsesSockets
) -> Handler:
    """The session of a WebSocket. Where the path has a POST too, each message is a request of
    it."""
    if operation.first_message:
        return session(style.dialect.mock_live, style.delay)
    of_path = (op for op in specification.operations.values() if op.path == operation.path)
    if any(op.method == "POST" for op in of_path) and not variables(operation.path):
        return sockets.handler(SocketSettings(style.dialect, SessionLimits(), _MAX_REQUEST))
    return session(style.dialect.mock_conversation, style.delay)


def _example(candidates: list[ExampleResponse], style: Style, role: Role) -> Handler:
    json_example = next((e for e in candidates if "json" in e.media_type), candidates[0])

    def handle(exchange: Exchange) -> Response:
        value = exchange.content.value
        request = value if value is not MISSING else None
        model = _model(exchange, request)
        fault = faults.fault_of(model)
        if fault is not None:
            send_raw = faults.sender(exchange.connection)
            faults.apply_before_response(fault, send_raw, gevent.sleep)
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
