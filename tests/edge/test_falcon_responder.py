"""Falcon <-> Exchange: answers, refusals in the caller's dialect, and how an answer ends."""

import logging

import falcon.testing
import orjson
import pytest

from engine.exchange.caller_connection import WSGIConnection
from engine.exchange.exchange import Response
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.endpoints import (
    ANTHROPIC,
    GEMINI,
    OPENAI,
    Gateway,
    client,
    fail,
    ok,
    post,
    raising,
    raw,
)


def test_an_answer_passes_with_its_status_headers_and_length():
    result = post(lambda e: Response(201, [("x-a", "1"), ("content-type", "a/b")], b"made"))
    assert (result.status_code, result.content) == (201, b"made")
    assert (result.headers["x-a"], result.headers["content-type"]) == ("1", "a/b")
    assert result.headers["content-length"] == "4"


def test_an_answer_without_a_media_type_gets_none():
    headers = raw(client(lambda e: Response(200, [], b"x")).app)[1]
    assert "content-type" not in [name.lower() for name, _ in headers]


def test_a_streamed_answer_has_no_length_and_passes_piece_by_piece():
    result = post(lambda e: Response(200, [("content-type", "a/b")], iter([b"a", b"b", b"c"])))
    assert (result.content, "content-length" in result.headers) == (b"abc", False)


@pytest.mark.parametrize("upstream_headers", [[], [("x-a", "1")], [("x-a", "1"), ("x-a", "2")]])
def test_headers_of_the_gateway_replace_those_of_the_upstream(upstream_headers):
    answer = Response(200, [*upstream_headers, ("x-b", "3")], b"", gateway_headers={"x-a": "9"})
    headers = raw(client(lambda e: answer).app)[1]
    pairs = [pair for pair in headers if pair[0] in ("x-a", "x-b")]
    assert sorted(pairs) == [("x-a", "9"), ("x-b", "3")]


def test_headers_that_stand_twice_pass_twice():
    fields = []
    app = client(lambda e: Response(200, [("warning", "a"), ("warning", "b")], b"")).app
    environ = falcon.testing.create_environ("/v1/x/m", method="POST")
    list(app(environ, lambda status, headers, *_: fields.extend(headers)))
    values = [value for name, value in fields if name == "warning"]
    assert values in (["a", "b"], ["a, b"])


def test_nothing_of_a_response_that_was_replaced_is_sent():
    not_sendable = Response(200, [("x-a", "1"), ("x-a", "2"), (None, "3")], b"")
    status, headers, _ = raw(client(lambda e: not_sendable).app)
    assert (status[:3], "x-a" in dict(headers)) == ("500", False)


def test_the_exchange_is_what_was_sent():
    exchanges = []
    app = client(lambda e: exchanges.append(e) or Response(200, [])).app
    environ = falcon.testing.create_environ("/v1/x/a b", "q=1&r=%20", method="POST")
    environ["RAW_URI"] = "/v1/x/a%20b%2Fc:d?q=1&r=%20"
    list(app(environ, lambda *_: None))
    exchange = exchanges[0]
    assert (exchange.method, exchange.path) == ("POST", "/v1/x/a%20b%2Fc:d")
    assert (exchange.query, exchange.mount) == ("q=1&r=%20", "/v1")
    assert exchange.variable("model") == "a%20b%2Fc:d"
    assert exchange.body_reader.max_size == 1000


def test_every_response_has_a_new_request_id():
    results = [post(ok) for _ in range(2)]
    ids = {result.headers["x-request-id"] for result in results}
    assert len(ids) == 2
    assert all(id_.startswith("req_") for id_ in ids)


def test_anthropic_gets_its_own_header_for_the_id_and_the_same_in_the_error():
    result = post(raising(GatewayError(400, "c", "m")), (ANTHROPIC,))
    assert result.headers["request-id"] == result.headers["x-request-id"]
    assert result.json["request_id"] == result.headers["request-id"]


def test_a_refusal_is_json_with_its_status_and_headers():
    error = GatewayError(429, "slow_down", "Later.", headers=[("retry-after", "2")], retry=False)
    result = post(raising(error))
    assert (result.status_code, result.headers["content-type"]) == (429, "application/json")
    assert (result.headers["retry-after"], result.headers["x-should-retry"]) == ("2", "false")
    assert result.json["error"]["message"] == "Later."
    assert int(result.headers["content-length"]) == len(result.content)


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=lambda d: d.name)
def test_a_refusal_speaks_the_dialect_of_the_route(dialect):
    error = GatewayError(404, "model_not_found", "No.")
    result = post(raising(error), (dialect,))
    assert result.json.keys() == dialect.error(error, "req").keys()
    assert dialect.is_error(result.json)


@pytest.mark.parametrize(
    ("headers", "query", "expected"),
    [
        ({}, "", OPENAI),
        ({"anthropic-version": "2023-06-01"}, "", ANTHROPIC),
        ({"x-goog-api-key": "k"}, "", GEMINI),
        ({}, "key=k", GEMINI),
    ],
)
def test_on_a_path_of_several_dialects_the_request_says_which(headers, query, expected):
    app = client(raising(GatewayError(404, "c", "m")), (ANTHROPIC, GEMINI, OPENAI)).app
    environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    body = orjson.loads(raw(app, f"/v1/x/m?{query}", **environ)[2])
    assert body["error"].keys() == expected.error(GatewayError(404, "", ""), "")["error"].keys()


@pytest.mark.parametrize(
    "error",
    [ValueError("secret detail"), KeyError("secret detail"), RecursionError("secret detail")],
    ids=lambda error: type(error).__name__,
)
def test_an_unforeseen_failure_tells_the_request_id_and_nothing_else(error, caplog):
    with caplog.at_level(logging.ERROR, "modelway"):
        result = post(raising(error))
    assert result.status_code == 500
    assert "secret detail" not in result.text
    assert result.headers["x-request-id"] in result.json["error"]["message"]
    assert result.json["error"]["code"] == "internal_error"
    assert result.headers["x-request-id"] in caplog.text
    assert "secret detail" in caplog.text


def test_a_cut_connection_leaves_as_an_exception_for_the_server():
    with pytest.raises(AbortConnection):
        post(raising(AbortConnection(AbortReason.RESPONSE_BROKE_OFF)))


def test_a_stream_that_breaks_is_cut_and_never_ended():
    def broken():
        yield b"data: 1\n\n"
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF)

    app = client(lambda e: Response(200, [], broken())).app
    body = app(falcon.testing.create_environ("/v1/x/m", method="POST"), lambda *_: None)
    iterator = iter(body)
    assert next(iterator) == b"data: 1\n\n"
    with pytest.raises(AbortConnection):
        next(iterator)


@pytest.mark.parametrize("how", ["whole", "half", "refused", "failed", "stream failed"])
def test_the_exchange_ends_once_when_the_body_is_closed(how):
    ended = []

    def stream():
        yield b"a"
        if how == "stream failed":
            raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF)
        yield b"b"

    def handler(exchange):
        exchange.on_end.append(lambda: ended.append("first"))
        exchange.on_end.append(lambda: ended.append("second"))
        if how == "refused":
            raise GatewayError(400, "c", "m")
        if how == "failed":
            raise ValueError
        return Response(200, [], stream())

    app = client(handler).app
    body = app(falcon.testing.create_environ("/v1/x/m", method="POST"), lambda *_: None)
    iterator = iter(body)
    next(iterator)
    assert ended == (["second", "first"] if how in ("refused", "failed") else [])
    if how == "whole":
        assert list(iterator) == [b"b"]
    elif how == "stream failed":
        with pytest.raises(AbortConnection):
            next(iterator)
    body.close()
    body.close()
    assert ended == ["second", "first"]


def test_the_exchange_ends_before_the_last_byte_leaves():
    """A caller with a complete response must be in the ledger, even if the worker is killed now."""
    ended = []

    def stream():
        yield b"a"
        yield b"b"
        ended.append("the stream knows that it is over")

    def handler(exchange):
        exchange.on_end.append(lambda: ended.append("the exchange"))
        return Response(200, [("content-length", "2")], stream())

    app = client(handler).app
    body = app(falcon.testing.create_environ("/v1/x/m", method="POST"), lambda *_: None)
    iterator = iter(body)
    assert next(iterator) == b"a"
    assert ended == []
    assert next(iterator) == b"b"
    assert ended == ["the stream knows that it is over", "the exchange"]
    assert list(iterator) == []
    body.close()
    assert len(ended) == 2


def test_the_exchange_ends_when_a_handler_cuts_the_connection():
    ended = []

    def handler(exchange):
        exchange.on_end.append(lambda: ended.append(1))
        raise AbortConnection(AbortReason.CALLER_LEFT)

    with pytest.raises(AbortConnection):
        post(handler)
    assert ended == [1]


def test_closing_an_answer_closes_the_stream_it_came_from():
    closed = []

    def stream():
        try:
            yield b"a"
            yield b"b"
        finally:
            closed.append(1)

    source = stream()
    app = client(lambda e: Response(200, [], source)).app
    body = app(falcon.testing.create_environ("/v1/x/m", method="POST"), lambda *_: None)
    next(iter(body))
    body.close()
    source.close()
    assert closed == [1]


def test_a_failure_of_an_outer_stage_is_one_exchange_with_a_500():
    def broken(exchange, following):
        following(exchange)
        raise ZeroDivisionError

    gateway = Gateway(ok, outer=[broken])
    body = gateway.post()
    assert orjson.loads(b"".join(body))["error"]["code"] == "internal_error"
    body.close()
    assert (gateway.status, gateway.results) == (500, [(500, "failed", "internal_error")])


@pytest.mark.parametrize(
    "broken",
    [
        "engine.edge.falcon_responder.has_body",
        "engine.edge.body_reader.RequestBodyReader.is_left",
    ],
)
def test_a_failure_between_the_handler_and_the_body_is_one_exchange_with_a_500(
    broken, monkeypatch, caplog
):
    gateway, given_back = Gateway(ok), []
    monkeypatch.setattr("engine.edge.body_reader.RequestBodyReader.is_left", lambda self: True)
    monkeypatch.setattr(WSGIConnection, "close_after", lambda self: True)
    monkeypatch.setattr(broken, fail)
    if broken == "engine.edge.falcon_responder.has_body":
        monkeypatch.setattr("engine.edge.send_response.has_body", lambda *_: True)

    def handler(exchange):
        exchange.on_end.append(lambda: given_back.append(exchange))
        return ok(exchange)

    gateway = Gateway(handler)
    body = gateway.post()
    assert orjson.loads(b"".join(body))["error"]["code"] == "internal_error"
    body.close()
    assert (gateway.status, gateway.results) == (500, [(500, "failed", "internal_error")])
    assert (given_back, gateway.lifecycle.open) == (gateway.exchanges, 0)
    assert "ZeroDivisionError" in caplog.text


def test_an_exchange_ends_also_where_not_even_its_500_can_be_sent(monkeypatch):
    monkeypatch.setattr("engine.edge.falcon_responder.send", fail)
    gateway = Gateway(ok)
    with pytest.raises(ZeroDivisionError):
        gateway.post()
    assert gateway.lifecycle.open == 0


def test_a_step_that_fails_after_the_answer_is_logged(monkeypatch, caplog):
    def set_timeout(connection, seconds):
        if seconds is None:
            raise ZeroDivisionError

    monkeypatch.setattr(WSGIConnection, "set_timeout", set_timeout)
    gateway = Gateway(ok)
    body = gateway.post()
    assert b"".join(body) == b"fine"
    body.close()
    assert "closing its response failed" in caplog.text


def test_an_exchange_ends_also_where_the_server_cannot_send_its_head(monkeypatch):
    def refuse(status, headers):
        raise ValueError("a header cannot be sent")

    gateway = Gateway(ok)
    monkeypatch.setattr(gateway, "head", refuse)
    with pytest.raises(ValueError, match="cannot be sent"):
        gateway.post()
    assert gateway.results == [(500, "failed", "internal_error")]
    assert gateway.lifecycle.open == 0
