"""What a server and calls from inside need of the application besides its responses."""

from __future__ import annotations

from functools import partial

import falcon.testing
import orjson

from engine.edge.falcon_application import application
from engine.edge.falcon_responder import Responders
from engine.edge.path_operations import Resource
from engine.values.errors import GatewayError


def test_the_servers_own_refusals_are_responses_like_others_and_recorded() -> None:
    app, recorded = application(Responders(1000, 1.0), []), []
    app.record_refusal = recorded.append
    response = app.refuse(GatewayError(414, "bad_request", "Too long."), "10.0.0.1")
    (exchange,) = recorded
    headers = dict(response.headers)
    assert isinstance(response.body, bytes)
    assert (response.status, headers["content-type"]) == (414, "application/json")
    assert headers["x-request-id"] == exchange.request_id
    assert headers["content-length"] == str(len(response.body))
    assert orjson.loads(response.body)["error"]["code"] == "bad_request"
    assert exchange.environ == {"REMOTE_ADDR": "10.0.0.1"}
    assert (exchange.record.status, exchange.record.code) == (414, "bad_request")
    failure = app.fail()
    assert (failure.status, len(recorded)) == (500, 1)
    assert b"internal_error" in bytes(failure.body)  # type: ignore[arg-type]


def test_the_operation_of_a_request_by_its_head() -> None:
    app = application(Responders(1000, 1.0), [])
    app.add_route("/items/{id}", Resource("POST", "", (), partial(str, "x"), (), "make"))
    operations = []
    for method, target in (("POST", "/items/7?a=b"), ("GET", "/items/7"), ("POST", "/items")):
        environ = falcon.testing.create_environ(target.partition("?")[0], method=method)
        operations.append(app.operation({**environ, "RAW_URI": target}))
    assert operations == ["make", "", ""]
