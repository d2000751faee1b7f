"""Choosing among alternatives; for whole requests see
tests/app/routes/test_alternative_responders.py."""

from __future__ import annotations

import pytest

from engine.edge.path_operations import Candidate, Resource
from engine.exchange.exchange import Exchange, Handler, Response, Stage, compose
from engine.exchange.request_body import Body
from engine.source.problem import Findings
from engine.spec.operation import Operation
from engine.spec.spec import read
from engine.stages.alternative_operation import Alternative
from engine.stages.alternatives import Choice, refusing
from engine.values.errors import GatewayError
from tests.support.exchanges import BodySource, new_exchange

DOCUMENT = """openapi: 3.1.0
info: {title: T, version: "1"}
paths:
  /x#one: {get: {operationId: one, responses: {}}}
  /x#socket: {get: {operationId: socket, responses: {"101": {description: ok}}}}
  /y#one: {post: {operationId: first, requestBody: {$ref: "#/components/requestBodies/A"}}}
  /y#two: {post: {operationId: second, requestBody: {$ref: "#/components/requestBodies/A"}}}
components:
  requestBodies: {A: {content: {application/json: {schema: {type: object}}}}}
"""


@pytest.fixture
def operations(tmp_path):
    (tmp_path / "d.yaml").write_text(DOCUMENT)
    specification = read("d", tmp_path / "d.yaml", "d.yaml", (), Findings())
    assert specification is not None
    return specification.operations


def passes(exchange: Exchange, following: Handler) -> Response:
    return following(exchange)


def refuses(exchange: Exchange, following: Handler) -> Response:
    raise GatewayError(401, "invalid_api_key", "Who?")


def choice(*operations: Operation, authenticate: Stage = passes, tolerant: bool = False) -> Choice:
    def made(operation: Operation) -> Alternative:
        def handler(word: str) -> Handler:
            return lambda exchange: Response(200, [("is", exchange.operation), ("by", word)])

        return Alternative(
            operation,
            unknown="pass",
            readonly="accept",
            is_tolerant=tolerant,
            carriers=(),
            authenticate=authenticate,
            handler=handler("handler"),
            judged=handler("judged"),
            refusal=lambda error: compose([refusing(error)], handler("refusal")),
        )

    alternatives = {operation.id: made(operation) for operation in operations}
    candidates = [
        Candidate(Resource("GET", "/m", (), lambda: print, operation=operation.id), {})
        for operation in operations
    ]
    return Choice(candidates, alternatives.__getitem__)


def answer(choice: Choice, exchange: Exchange) -> tuple[str, ...]:
    headers = choice.stage(exchange, choice.handler).headers
    return tuple(value for _, value in headers)


@pytest.mark.parametrize(
    ("environ", "name"),
    [({}, "one"), ({"REQUEST_METHOD": "GET", "HTTP_UPGRADE": "websocket"}, "socket")],
)
def test_a_handshake_belongs_to_the_websocket(operations, environ, name):
    of_both = choice(operations["socket"], operations["one"])
    assert answer(of_both, new_exchange("GET", "/m/x", "", environ)) == (f"d.{name}", "judged")


def posted(body: bytes) -> tuple[Exchange, list[int]]:
    """A request, and the limits with which its body was received."""
    environ = {"CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": "application/json"}
    exchange, limits = new_exchange("POST", "/m/y", "", environ), []

    def receive(limit: int) -> Body:
        limits.append(limit)
        return Body(body)

    exchange.body_reader = BodySource(receive, 100)
    return exchange, limits


def test_the_body_is_given_to_the_operation_that_accepts_it(operations):
    exchange, limits = posted(b'{"a": 1}')
    assert answer(choice(operations["first"], operations["second"]), exchange) == (
        "d.first",
        "judged",
    )
    assert (exchange.content.value, exchange.mount, limits) == ({"a": 1}, "/m", [100])
    assert exchange.body_reader.receive(8).buffer == b'{"a": 1}'
    with pytest.raises(GatewayError) as refused:
        exchange.body_reader.receive(7)
    assert (refused.value.status, limits) == (413, [100])


@pytest.mark.parametrize("tolerant", [False, True])
def test_the_body_of_an_unknown_caller_is_not_received(operations, tolerant):
    exchange, limits = posted(b"{}")
    of_both = choice(
        operations["first"], operations["second"], authenticate=refuses, tolerant=tolerant
    )
    with pytest.raises(GatewayError) as refused:
        answer(of_both, exchange)
    assert (refused.value.status, refused.value.message, limits) == (401, "Who?", [])
    assert exchange.operation == "d.first"


def test_a_route_that_refuses_nothing_gets_the_body_as_it_was_sent(operations):
    exchange, limits = posted(b"[1")
    of_both = choice(operations["first"], operations["second"], tolerant=True)
    assert answer(of_both, exchange) == ("d.first", "handler")
    assert exchange.body_reader.receive(100).buffer == b"[1"
    assert limits == [100]
