"""An operation is called again and again without WSGI, if the request leads to it."""

import pytest

from engine.app.routes.internal_call import CannotCall
from engine.app.routes.operation_call import OperationCall
from engine.app.routes.worker_parts import identity, parts_of
from engine.app.services.machine_stores import open_shared
from engine.app.services.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.exchange.caller_connection import InternalCaller
from engine.spec.request_writer import RequestValues
from engine.upstream.client.client import Client
from engine.values.caller import Caller
from tests.support.each import each


@pytest.fixture
def operation(shop):
    plan = shop.plan
    parts = parts_of(
        plan, services_of(plan), Client, open_shared(plan.config), identity, InsideCalls()
    )
    route = next(each_route for each_route in plan.routes if each_route.operation.name == "show")
    return OperationCall(shop.app, route, parts)


def test_a_request_has_its_target_and_the_spans_of_its_variables(operation):
    request = operation.request(RequestValues({"id": "a/b"}, {"fields": ["x"]}), "10.0.0.9", [])
    assert request.target == "/v1/items/a%2Fb?fields=x"
    start, end = request.variables["id"]
    assert (request.path[start:end], request.mount) == ("a%2Fb", "/v1")
    assert request.environ["REMOTE_ADDR"] == "10.0.0.9"


def test_it_is_sent_as_its_caller(operation, shop_upstream):
    request = operation.request(RequestValues({"id": "5"}), "10.0.0.9", [("x-note", "hi")])
    for _ in range(2):
        caller = InternalCaller(Caller("zoe"))
        exchange, response = operation.send(request, caller, "req_1")
        exchange.end()
        assert (response.status, response.body) == (200, b'{"id":"7"}')
        assert (exchange.caller.name, exchange.request_id) == ("zoe", "req_1")
    assert shop_upstream.last.values("x-note") == ["hi"]


@each("value", ["find", "drop"])
def test_a_request_that_leads_to_another_operation_is_none_of_this_one(operation, value):
    with pytest.raises(CannotCall, match=r"id: .* another operation"):
        operation.request(RequestValues({"id": value}), "10.0.0.9", [])


@each(
    "values, message",
    [
        (RequestValues({"id": 7, "x": 1}), "has no path parameter 'x'; it has id"),
        (RequestValues(), "path parameter 'id' of shop.show needs a value"),
        (RequestValues({"id": [[1]]}), "path parameter 'id': a list or object cannot"),
        (RequestValues({"id": "1"}, headers={"Authorization": "x"}), "header 'Authorization'"),
        (RequestValues({"id": "1"}, headers={"a": "x\ny"}), "header parameter 'a': a text here"),
    ],
)
def test_values_that_cannot_be_written_are_refused(operation, values, message):
    with pytest.raises(CannotCall) as refusal:
        operation.request(values, "10.0.0.9", [])
    assert message in str(refusal.value)
