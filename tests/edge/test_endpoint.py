"""Falcon <-> Exchange: answers, refusals in the caller's dialect, and how an answer ends."""

import contextlib
import io
import logging

import falcon.testing
import gevent
import orjson
import pytest

from engine import dialects
from engine.edge.endpoint import Endpoints, answer_errors, raw_target
from engine.edge.lifecycle import RequestLifecycle
from engine.edge.request_body import check_head
from engine.edge.router import Resource, application
from engine.exchange.caller_connection import InvalidFraming, WSGIConnection
from engine.exchange.exchange import Response, compose
from engine.values.errors import AbortConnection, AbortReason, GatewayError, Malformed

STAGES = [answer_errors, check_head]
OPENAI, ANTHROPIC, GEMINI = (dialects.get(name) for name in ("openai", "anthropic", "gemini"))


def client(handler, dialect=(OPENAI,), template="/v1/x/{model}", method="POST", max_body=1000):
    endpoints = Endpoints(max_body, 1.0)
    app = application(endpoints, STAGES)
    wide = ("model",) if "{model}" in template else ()
    app.add_route(
        template,
        Resource(method, "/v1", wide, endpoints.responder(compose(STAGES, handler), dialect)),
    )
    return falcon.testing.TestClient(app)


def ok(exchange):
    return Response(200, [("content-type", "text/plain")], b"fine")


def raising(error):
    def handler(exchange):
        raise error

    return handler


def post(handler, dialect=(OPENAI,), **more):
    return client(handler, dialect).simulate_post("/v1/x/m", **more)


def test_an_answer_passes_with_its_status_headers_and_length():
    result = post(lambda e: Response(201, [("x-a", "1"), ("content-type", "a/b")], b"made"))
    assert (result.status_code, result.content) == (201, b"made")
    assert (result.headers["x-a"], result.headers["content-type"]) == ("1", "a/b")
    assert result.headers["content-length"] == "4"


def raw(handler, target="/v1/x/m", method="POST", **environ):
    """Status, headers and body of a request whose target is sent as it stands."""
    path, _, query = target.partition("?")
    made = falcon.testing.create_environ(path, query, method=method)
    made.update(RAW_URI=target, **environ)
    seen = []
    body = handler(made, lambda status, headers, *_: seen.append((status, headers)))
    return seen[0][0][:3], seen[0][1], b"".join(body)


def test_an_answer_without_a_media_type_gets_none():
    headers = raw(client(lambda e: Response(200, [], b"x")).app)[1]
    assert "content-type" not in [name.lower() for name, _ in headers]


def test_a_streamed_answer_has_no_length_and_passes_piece_by_piece():
    result = post(lambda e: Response(200, [("content-type", "a/b")], iter([b"a", b"b", b"c"])))
    assert (result.content, "content-length" in result.headers) == (b"abc", False)


@pytest.mark.parametrize("theirs", [[], [("x-a", "1")], [("x-a", "1"), ("x-a", "2")]])
def test_headers_of_the_gateway_replace_those_of_the_upstream(theirs):
    answer = Response(200, [*theirs, ("x-b", "3")], b"", gateway_headers={"x-a": "9"})
    headers = raw(client(lambda e: answer).app)[1]
    seen = [pair for pair in headers if pair[0] in ("x-a", "x-b")]
    assert sorted(seen) == [("x-a", "9"), ("x-b", "3")]


def test_headers_that_stand_twice_pass_twice():
    seen = []
    app = client(lambda e: Response(200, [("warning", "a"), ("warning", "b")], b"")).app
    environ = falcon.testing.create_environ("/v1/x/m", method="POST")
    list(app(environ, lambda status, headers, *_: seen.extend(headers)))
    values = [value for name, value in seen if name == "warning"]
    assert values in (["a", "b"], ["a, b"])


def test_the_exchange_is_what_was_sent():
    seen = []
    app = client(lambda e: seen.append(e) or Response(200, [])).app
    environ = falcon.testing.create_environ("/v1/x/a b", "q=1&r=%20", method="POST")
    environ["RAW_URI"] = "/v1/x/a%20b%2Fc:d?q=1&r=%20"
    list(app(environ, lambda *_: None))
    exchange = seen[0]
    assert (exchange.method, exchange.path) == ("POST", "/v1/x/a%20b%2Fc:d")
    assert (exchange.query, exchange.mount) == ("q=1&r=%20", "/v1")
    assert exchange.variable("model") == "a%20b%2Fc:d"
    assert exchange.max_body == 1000


@pytest.mark.parametrize(
    ("environ", "target"),
    [
        ({"RAW_URI": "/a%2Fb?c"}, "/a%2Fb?c"),
        ({"RAW_URI": "http://host:1/a?c"}, "/a?c"),
        ({"RAW_URI": "http://host"}, "/"),
        ({"PATH_INFO": "/a"}, "/a"),
        ({}, "/"),
        ({"RAW_URI": "/a?u=http://x/y"}, "/a?u=http://x/y"),
        ({"RAW_URI": "//a"}, "//a"),
    ],
)
def test_the_raw_target_is_without_scheme_and_host(environ, target):
    assert raw_target(environ) == target


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
    """Whoever has all of an answer must be in the ledger, even if the worker is killed now."""
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

    made = stream()
    app = client(lambda e: Response(200, [], made)).app
    body = app(falcon.testing.create_environ("/v1/x/m", method="POST"), lambda *_: None)
    next(iter(body))
    body.close()
    made.close()
    assert closed == [1]


def read_body(exchange):
    body = exchange.receive(exchange.max_body)
    return Response(200, [("content-type", "a/b")], bytes(body.buffer))


def test_a_body_is_read_when_the_handler_asks():
    assert post(read_body, body=b"hello").content == b"hello"
    assert post(read_body).content == b""


def sent(read, **environ):
    """The answer to a request whose body comes from a stream of our own."""
    made = falcon.testing.create_environ("/v1/x/m", method="POST")
    made.pop("CONTENT_LENGTH", None)
    made.update(environ)
    made["wsgi.input"] = read
    status = []
    body = client(read_body).app(made, lambda said, *_: status.append(said))
    return status[0][:3], b"".join(body)


class Failing:
    def __init__(self, error):
        self.error = error

    def read(self, size=-1):
        raise self.error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TimeoutError(), "408"),
        (InvalidFraming("zz"), "400"),
    ],
    ids=["paused", "framing"],
)
def test_a_body_that_stops_or_is_badly_framed_is_refused(error, status):
    found, body = sent(Failing(error), HTTP_TRANSFER_ENCODING="chunked")
    assert found == status
    assert orjson.loads(body)["error"]["message"]


@pytest.mark.parametrize("error", [OSError("end"), ConnectionResetError()], ids=["end", "reset"])
def test_a_caller_who_leaves_while_sending_is_gone(error):
    with pytest.raises((AbortConnection, ConnectionResetError)):
        sent(Failing(error), CONTENT_LENGTH="5")


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "+5", " 5", "²", "9" * 30])
def test_a_length_that_is_no_number_is_refused(length):
    assert sent(io.BytesIO(b"hello"), CONTENT_LENGTH=length)[0] == "400"


def test_a_body_announced_too_large_is_refused_unread():
    found, body = sent(Failing(AssertionError("read")), CONTENT_LENGTH="1001")
    assert (found, orjson.loads(body)["error"]["code"]) == ("413", "request_too_large")


def test_a_chunked_body_too_large_is_refused():
    assert sent(io.BytesIO(b"x" * 1001), HTTP_TRANSFER_ENCODING="chunked")[0] == "413"
    assert sent(io.BytesIO(b"x" * 1000), HTTP_TRANSFER_ENCODING="chunked")[0] == "200"


def test_an_unknown_path_is_404_and_another_method_405_with_allow():
    made = client(ok)
    missing = made.simulate_get("/v2/nothing")
    assert (missing.status_code, missing.json["error"]["code"]) == (404, "not_found")
    other = made.simulate_get("/v1/x/m")
    assert (other.status_code, other.headers["allow"]) == (405, "POST")
    assert missing.headers["x-request-id"]


@pytest.mark.parametrize(
    "method", ["HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "CONNECT"]
)
def test_every_method_that_is_not_there_is_405(method):
    assert client(ok).simulate_request(method, "/v1/x/m").status_code == 405


def test_a_miss_speaks_the_dialect_that_the_request_tells():
    made = client(ok)
    result = made.simulate_get("/v1/none", headers={"anthropic-version": "x"})
    assert result.json["type"] == "error"
    body = orjson.loads(raw(made.app, "/v1/none?key=k", "GET")[2])
    assert body["error"]["code"] == 404


def test_an_unknown_verb_is_404_with_the_near_one():
    made = client(ok, template="/v1/models/{model}:generateContent")
    result = made.simulate_post("/v1/models/org/m:generateContnet")
    assert result.status_code == 404
    assert "Did you mean ':generateContent'?" in result.json["error"]["message"]


def test_an_endless_path_is_cut_in_the_message():
    result = client(ok).simulate_get("/" + "x" * 8000)
    assert len(result.json["error"]["message"]) < 400


def observed(handler, **known):
    """The account of an exchange that a handler answered, as an observer finds it at the end."""
    seen = []
    lifecycle = RequestLifecycle([lambda exchange: seen.append(exchange)], lambda: 1000.0)
    endpoints = Endpoints(1000, 1.0)
    app = application(endpoints, [lifecycle.observe, *STAGES])
    handler = compose([lifecycle.observe, *STAGES], handler)
    responder = endpoints.responder(handler, [OPENAI], "openai.chat")
    app.add_route("/v1/x", Resource("POST", "/v1", (), responder))
    environ = falcon.testing.create_environ("/v1/x", method="POST", **known)
    with contextlib.suppress(AbortConnection):
        body = app(environ, lambda *_: None)
        assert (seen, lifecycle.open) == ([], 1)  # not before it is over
        body.close()
        body.close()
    (exchange,) = seen
    assert (lifecycle.open, exchange.operation) == (0, "openai.chat")
    return exchange.record


@pytest.mark.parametrize(
    ("handler", "status", "outcome", "code"),
    [
        (lambda exchange: Response(200, [], b"abc"), 200, "complete", ""),
        (lambda exchange: Response(404, [], b"abc"), 404, "refused", ""),
        (lambda exchange: Response(503, [], b"abc"), 503, "failed", ""),
        (raising(GatewayError(401, "invalid_api_key", "who?")), 401, "refused", "invalid_api_key"),
        (raising(GatewayError(504, "upstream_timeout", "late")), 504, "failed", "upstream_timeout"),
        (raising(Malformed("no UTF-8")), 400, "refused", "invalid_value"),
        (raising(AbortConnection(AbortReason.CALLER_LEFT)), 499, "caller_left", ""),
        (raising(AbortConnection(AbortReason.RESPONSE_BROKE_OFF)), 499, "upstream_cut", ""),
        (raising(AbortConnection(AbortReason.SHUTDOWN)), 499, "shutdown", ""),
        (raising(AbortConnection(AbortReason.SESSION_ENDED)), 101, "complete", ""),
        (raising(ZeroDivisionError()), 500, "failed", "internal_error"),
        (lambda exchange: Response(200, [], iter([b"a"])), 200, "caller_left", ""),  # nobody read
    ],
)
def test_every_end_is_observed_once(handler, status, outcome, code):
    kept = observed(handler)
    assert (kept.status, kept.outcome, kept.code) == (status, outcome, code)
    assert kept.time == 1000.0
    assert 0 <= kept.gateway_time <= kept.duration < 5


class Front:
    """An application of one endpoint, and the exchanges that its observer saw the end of."""

    def __init__(self, handler, dialect=OPENAI, begin=None, outer=()):
        self.seen = []
        self.lifecycle = RequestLifecycle([self.seen.append], begin=begin)
        stages, endpoints = [self.lifecycle.observe, *outer, *STAGES], Endpoints(1000, 1.0)
        self.app = application(endpoints, stages)
        responder = endpoints.responder(compose(stages, handler), [dialect], "openai.chat")
        self.app.add_route("/v1/x", Resource("POST", "/v1", (), responder))

    def post(self):
        """The body of the answer, as the server asks for it."""
        environ = falcon.testing.create_environ("/v1/x", method="POST")
        return self.app(environ, lambda status, headers, *_: self.head(status, headers))

    def head(self, status, headers):
        self.status = int(status[:3])

    @property
    def ends(self):
        return [(e.record.status, e.record.outcome, e.record.code) for e in self.seen]


def failing(*_):
    raise ZeroDivisionError


def test_a_failure_of_an_outer_stage_is_one_exchange_with_a_500():
    def broken(exchange, following):
        following(exchange)
        raise ZeroDivisionError

    front = Front(ok, outer=[broken])
    body = front.post()
    assert orjson.loads(b"".join(body))["error"]["code"] == "internal_error"
    body.close()
    assert (front.status, front.ends) == (500, [(500, "failed", "internal_error")])


@pytest.mark.parametrize(
    "broken",
    [
        "engine.edge.endpoint.has_body",
        "engine.edge.request_body.RequestBodyReader.is_left",
    ],
)
def test_a_failure_between_the_handler_and_the_body_is_one_exchange_with_a_500(
    broken, monkeypatch, caplog
):
    front, given_back = Front(ok), []
    monkeypatch.setattr("engine.edge.request_body.RequestBodyReader.is_left", lambda self: True)
    monkeypatch.setattr(WSGIConnection, "close_after", lambda self: True)
    monkeypatch.setattr(broken, failing)
    if broken == "engine.edge.endpoint.has_body":
        monkeypatch.setattr("engine.edge.response.has_body", lambda *_: True)

    def handler(exchange):
        exchange.on_end.append(lambda: given_back.append(exchange))
        return ok(exchange)

    front = Front(handler)
    body = front.post()
    assert orjson.loads(b"".join(body))["error"]["code"] == "internal_error"
    body.close()
    assert (front.status, front.ends) == (500, [(500, "failed", "internal_error")])
    assert (given_back, front.lifecycle.open) == (front.seen, 0)
    assert "ZeroDivisionError" in caplog.text


def test_an_exchange_ends_also_where_not_even_its_500_can_be_sent(monkeypatch):
    monkeypatch.setattr("engine.edge.endpoint.send", failing)
    front = Front(ok)
    with pytest.raises(ZeroDivisionError):
        front.post()
    assert front.lifecycle.open == 0


def test_a_beginning_that_cannot_be_noted_is_logged_and_the_request_goes_on(caplog):
    front = Front(ok, begin=failing)
    body = front.post()
    assert b"".join(body) == b"fine"
    body.close()
    assert (front.ends, front.lifecycle.open) == ([(200, "complete", "")], 0)
    assert "its beginning was not noted" in caplog.text


def test_a_step_that_fails_after_the_answer_is_logged(monkeypatch, caplog):
    def set_timeout(connection, seconds):
        if seconds is None:
            raise ZeroDivisionError

    monkeypatch.setattr(WSGIConnection, "set_timeout", set_timeout)
    front = Front(ok)
    body = front.post()
    assert b"".join(body) == b"fine"
    body.close()
    assert "a step after it failed" in caplog.text


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=lambda d: d.name)
def test_a_request_that_waits_when_its_worker_ends_is_answered_503_in_its_dialect(dialect):
    front = Front(lambda exchange: gevent.sleep(60), dialect)
    waiting = gevent.spawn(lambda: b"".join(front.post()))
    gevent.sleep(0)
    assert front.lifecycle.open == 1
    front.lifecycle.interrupt()
    body = orjson.loads(waiting.get(timeout=5))
    assert dialect.is_error(body)
    assert "Send it again" in body["error"]["message"]
    assert (front.status, front.ends) == (503, [(503, "shutdown", "shutting_down")])
    assert front.lifecycle.open == 0


def test_an_exchange_that_is_about_to_end_is_cut_only_by_the_second_call():
    seen, front = [], None

    def handler(exchange):
        exchange.on_end.append(lambda: gevent.sleep(60))
        exchange.on_end.append(lambda: seen.append(exchange))
        return ok(exchange)

    front = Front(handler)
    ending = gevent.spawn(lambda: b"".join(front.post()))
    gevent.sleep(0)
    front.lifecycle.interrupt()
    gevent.sleep(0)
    assert (front.lifecycle.open, len(seen)) == (1, 1)
    front.lifecycle.interrupt()
    ending.join(5)
    assert (front.lifecycle.open, front.ends) == (0, [(200, "complete", "")])


def test_a_stream_that_its_caller_does_not_take_is_cut_as_shutdown():
    front = Front(lambda exchange: Response(200, [], iter([b"a", b"b"])))

    def send():
        body = front.post()
        try:
            for _ in body:
                gevent.sleep(60)  # the caller's socket is full
        finally:
            body.close()

    sending = gevent.spawn(send)
    gevent.sleep(0)
    front.lifecycle.interrupt()
    sending.join(5)
    assert front.ends == [(200, "shutdown", "")]


def test_drain_waits_for_the_last_exchange_up_to_its_timeout():
    front = Front(lambda exchange: gevent.sleep(0.05) or ok(exchange))
    gevent.spawn(lambda: b"".join(front.post()))
    gevent.sleep(0)
    front.lifecycle.drain(0.0)
    assert front.lifecycle.open == 1
    front.lifecycle.drain(30.0)
    assert front.lifecycle.open == 0


def test_an_exchange_ends_also_where_the_server_cannot_send_its_head():
    told = []
    lifecycle, endpoints = RequestLifecycle(observers=[told.append]), Endpoints(1000, 1.0)
    stages = [lifecycle.observe, *STAGES]
    app = application(endpoints, stages)
    responder = endpoints.responder(compose(stages, ok), (OPENAI,))
    app.add_route("/v1/x", Resource("POST", "/v1", (), responder))
    made = falcon.testing.create_environ("/v1/x", method="POST")

    def refusing(status, headers, *_):
        raise ValueError("a header cannot be sent")

    with pytest.raises(ValueError, match="cannot be sent"):
        app(made, refusing)
    ends = [(e.record.status, e.record.outcome, e.record.code) for e in told]
    assert ends == [(500, "failed", "internal_error")]
    assert lifecycle.open == 0
