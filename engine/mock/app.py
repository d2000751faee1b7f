"""The mock upstream: serves every operation of the documents with their examples.

It is made of the parts of the gateway: it checks its credential, validates every request, echoes
the last turn of the caller, in streams word by word, and keeps the objects that its answers create
(`example_handler.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from engine.dialects import Dialect
from engine.edge.body_reader import check_head
from engine.edge.falcon_application import Application, application
from engine.edge.falcon_responder import Responder, Responders, answer_errors
from engine.edge.inside_call import InsideCalls
from engine.edge.path_operations import Candidate, Resource
from engine.exchange.exchange import Handler, compose
from engine.exchange.stage_services import Services
from engine.mock.batches import Batches
from engine.mock.example_handler import Style, example_handler
from engine.mock.examples import (
    examples,
)
from engine.mock.object_store import ObjectStore
from engine.mock.operation_roles import FACTS, item_shapes, role_of
from engine.mock.uploads import Uploads
from engine.mock.websocket import session
from engine.relay.websocket.open_sessions import SessionLimits, Sessions
from engine.sockets.upgrade import ResponsesSockets, SocketSettings
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

_MAX_REQUEST = 1_000_000_000


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
    example = example_handler(examples(node), style, role_of(operation, node, style.shapes))
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
