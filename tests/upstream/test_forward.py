"""Forwarding: what each target is sent, which is attempted when, and what the caller gets."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from engine import dialects
from engine.config.transforms import TransformConfig
from engine.config.upstreams import BreakerConfig, HeaderChanges, Retry
from engine.credentials.interface.fixed import HeaderCredential, QueryCredential
from engine.exchange.exchange import Exchange, Response
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import receive
from engine.exchange.stage_services import Services
from engine.relay.held_body import LARGE
from engine.relay.whole_body import UNCHANGED
from engine.spec.bodies.multipart import boundary_of
from engine.spec.bodies.multipart import parse as parse_multipart
from engine.spec.expression import parse
from engine.transforms.compile import compile_all
from engine.upstream.admission.gate import Gate, GateConfig
from engine.upstream.client import failures
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.forward import Forward
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.targets.target import Target
from engine.values.admission import NORMAL
from engine.values.caller import Caller
from engine.values.errors import AbortConnection, AbortReason, GatewayError
from tests.support.admission import QueueInProcess
from tests.support.clock import Clock
from tests.support.documents import exchange, form_data
from tests.support.exchanges import set_content
from tests.support.recording import ANSWER
from tests.support.upstreams import (
    EVENTS,
    JSON,
    SERVICES,
    WATCHER,
    Client,
    FakeResponse,
    failure,
    group,
    target,
    upstream,
)

OPENAI = dialects.get("openai")
BODY = parse("$request.body#/model")


def chat(body: Any = None, **more: Any) -> Exchange:
    """A request as it reaches the last handler."""
    data = body if body is not None else b'{"model": "asked", "x":1}'
    request = exchange(data, path="/v1/chat", **more)
    request.mount, value = "/v1", json.loads(request.body.buffer)
    set_content(request, media_type="application/json", value=value)
    request.model.name = value.get("model") or ""
    request.model.span = BODY.check(request)[1]
    return request


def send(
    request: Exchange,
    *targets: Any,
    expression: Any = BODY,
    dialect: Any = OPENAI,
    fixed: Sequence[Target] = (),
    services: Any = SERVICES,
    **more: Any,
) -> Response:
    request.model.targets = targets
    return Forward(
        expression,
        fixed=group(*fixed),
        dialect=dialect,
        headers=RouteHeaders([each.upstream for each in (*targets, *fixed)]),
        services=services,
        watcher=WATCHER,
        **more,
    )(request)


def refusal(request: Exchange, *targets: Any) -> GatewayError:
    with pytest.raises(GatewayError) as excinfo:
        send(request, *targets)
    return excinfo.value


# The name of the model.


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        (b'{"model": "asked", "x":1}', "theirs", b'{"model": "theirs", "x":1}'),
        (b'{"model": "asked", "x":1}', "asked", b'{"model": "asked", "x":1}'),
        (b'{"model": "asked", "x":1}', "", b'{"model": "asked", "x":1}'),
    ],
)
def test_the_targets_name_for_the_model_is_written_into_the_body(
    body: bytes, name: str, expected: bytes
) -> None:
    client = Client()
    send(chat(body), target(client, name))
    assert client.requests[0].body == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"x":1}', b'{"model":"usual","x":1}'),
        (b"{}", b'{"model":"usual"}'),
        (b'{"model":null,"x":1}', b'{"model":"usual","x":1}'),
        (b'{"model":"","x":1}', b'{"model":"usual","x":1}'),
        (b'{"x":{"model":"inner"}}', b'{"model":"usual","x":{"model":"inner"}}'),
    ],
)
def test_a_default_model_is_written_into_the_body(body: bytes, expected: bytes) -> None:
    client = Client()
    request = chat(body)
    request.model.name = "usual"
    send(request, target(client))
    assert client.requests[0].body == expected


def test_the_request_itself_is_not_changed() -> None:
    request = chat()
    send(request, target(Client(), "theirs"))
    assert request.body.buffer == b'{"model": "asked", "x":1}'


def test_each_target_gets_its_name_for_the_model() -> None:
    first, second = Client(failure(failures.ConnectFailed)), Client()
    send(chat(), target(first, "one"), target(second, "two"))
    assert json.loads(first.requests[0].body or b"")["model"] == "one"
    assert json.loads(second.requests[0].body or b"")["model"] == "two"


def test_a_name_in_multipart_is_written() -> None:
    client = Client()
    body, content_type = form_data([["file", "RIFF", "a", "b/c"], ["model", "asked"]])
    request = exchange(body, content_type)
    request.model.name = "asked"
    parts = list(parse_multipart(body, boundary_of(content_type)))
    set_content(request, media_type="multipart/form-data", value={"model": "asked"}, parts=parts)
    request.model.span = BODY.check(request)[1]
    send(request, target(client, "theirs"))
    assert client.requests[0].body == body.replace(b"asked", b"theirs")
    assert client.requests[0].header("content-type") == content_type


def test_a_name_in_the_path_is_written() -> None:
    client = Client(base_path="/base")
    path = "/v1beta/models/asked:go"
    request = exchange(path=path, query="alt=sse", variables={"model": (15, 20)})
    request.mount, request.model.name = "/v1beta", "asked"
    send(request, target(client, "org/x"), expression=parse("$request.path.model"))
    assert client.requests[0].target == "/base/models/org%2Fx:go?alt=sse"


def test_a_name_in_the_query_is_written() -> None:
    client = Client()
    request = exchange(query="a=%20&model=asked", path="/x")
    request.model.name = "asked"
    send(request, target(client, "theirs"), expression=parse("$request.query.model"))
    assert client.requests[0].target == "/x?a=%20&model=theirs"


def test_a_name_in_a_header_is_written_and_passes() -> None:
    client = Client()
    request = exchange(headers={"x-model": "asked"})
    request.model.name = "asked"
    send(request, target(client, "theirs"), expression=parse("$request.header.x-model"))
    assert client.requests[0].header("x-model") == "theirs"


def test_without_an_expression_nothing_is_written() -> None:
    client = Client()
    request = exchange(b'{"model":"asked"}')
    send(request, expression=None, fixed=[target(client, "theirs")])
    assert client.requests[0].body == b'{"model":"asked"}'


# The rest of the request.


def test_the_mount_prefix_is_replaced_by_the_base_path() -> None:
    client = Client(base_path="/base/v9")
    send(chat(query="a=b"), target(client))
    assert (client.requests[0].method, client.requests[0].target) == ("POST", "/base/v9/chat?a=b")


def test_only_headers_of_the_list_pass() -> None:
    client = Client()
    headers = {
        "accept": "text/event-stream",
        "openai-beta": "x",
        "idempotency-key": "i",
        "traceparent": "t",
        "x-more": "m",
        "authorization": "Bearer theirs",
        "x-api-key": "theirs",
        "cookie": "theirs",
        "x-stainless-lang": "python",
        "anthropic-version": "2023-06-01",
        "connection": "x-hop",
        "x-hop": "1",
        "te": "trailers",
        "x-forwarded-for": "10.0.0.1",
        "user-agent": "theirs",
        "accept-encoding": "br",
        "content-length": "25",
        "expect": "100-continue",
    }
    send(chat(headers=headers), target(client, forward_headers=("x-more",)))
    assert dict(client.requests[0].headers) == {
        "accept": "text/event-stream",
        "content-type": "application/json",
        "openai-beta": "x",
        "idempotency-key": "i",
        "traceparent": "t",
        "x-more": "m",
        "accept-encoding": "identity",
        "user-agent": "modelway",
        "x-request-id": "req-1",
    }


def test_the_headers_of_the_dialect_pass() -> None:
    client = Client()
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": "b", "openai-beta": "x"}
    send(chat(headers=headers), target(client), dialect=dialects.get("anthropic"))
    assert client.requests[0].header("anthropic-version") == "2023-06-01"
    assert client.requests[0].header("anthropic-beta") == "b"
    assert client.requests[0].header("openai-beta") is None


def test_a_credential_is_set_in_a_header() -> None:
    client = Client()
    credential = HeaderCredential("header", "authorization", "Bearer ours")
    send(chat(headers={"authorization": "Bearer theirs"}), target(client, credentials=[credential]))
    assert [v for n, v in client.requests[0].headers if n == "authorization"] == ["Bearer ours"]


def test_a_credential_is_set_in_the_query() -> None:
    client = Client()
    send(chat(query="a=b"), target(client, credentials=[QueryCredential("query", "key", "ours")]))
    assert client.requests[0].target == "/chat?a=b&key=ours"


def test_each_upstream_gets_only_its_credential() -> None:
    first, second = Client(failure(failures.ConnectFailed)), Client()
    targets = [
        target(first, name="one", credentials=[HeaderCredential("header", "x-key", "one")]),
        target(
            second, name="two", credentials=[HeaderCredential("header", "authorization", "two")]
        ),
    ]
    send(chat(), *targets)
    assert second.requests[0].header("x-key") is None
    assert second.requests[0].header("authorization") == "two"


def test_a_get_without_a_body_is_sent_without_one() -> None:
    client = Client()
    request = exchange(b"", "", method="GET")
    send(request, expression=None, fixed=[target(client)])
    assert client.requests[0].body is None


def test_a_post_without_a_body_is_sent_with_an_empty_one() -> None:
    client = Client()
    send(exchange(b""), expression=None, fixed=[target(client)])
    assert client.requests[0].body == b""


def test_a_body_on_disk_is_sent_to_each_target() -> None:
    data = json.dumps({"x": "y" * 1_100_000, "model": "asked"}).encode()

    class Input:
        at = 0

        def read(self, size: int, /) -> bytes:
            self.at += size
            return data[self.at - size : self.at]

    request = chat()
    request.body = receive(Input(), len(data), 10_000_000)
    set_content(request, value=json.loads(data))
    request.model.span = BODY.check(request)[1]
    first, second = Client(failure(failures.ConnectFailed)), Client()
    send(request, target(first, "one"), target(second, "two"))
    assert first.requests[0].body == data.replace(b'"asked"', b'"one"')
    assert second.requests[0].body == data.replace(b'"asked"', b'"two"')
    request.body.close()


# Which target is attempted, and which is next.


def test_targets_are_attempted_in_order_until_one_responds() -> None:
    clients = [
        Client(failure(failures.ConnectFailed)),
        Client(failure(failures.ConnectTimeout)),
        Client(FakeResponse(body=[b'{"by":3}'])),
        Client(),
    ]
    response = send(chat(), *[target(client) for client in clients])
    assert b"".join(response.body) == b'{"by":3}'
    assert [len(client.requests) for client in clients] == [1, 1, 1, 0]


def test_the_targets_of_the_model_replace_those_of_the_route() -> None:
    selected, fixed = Client(), Client()
    send(chat(), target(selected), fixed=[target(fixed)])
    assert (len(selected.requests), len(fixed.requests)) == (1, 0)


def test_no_other_target_is_attempted_after_a_response_started() -> None:
    second = Client()
    first = Client(failure(failures.Truncated, request_sent=True, response_started=True))
    error = refusal(chat(), target(first), target(second))
    assert (error.status, error.code) == (502, "upstream_error")
    assert second.requests == []


def test_the_last_failure_is_reported() -> None:
    clients = [
        Client(failure(failures.ConnectTimeout)),
        Client(failure(failures.ConnectFailed)),
    ]
    error = refusal(chat(), *[target(client) for client in clients])
    assert (error.status, error.code) == (502, "upstream_unreachable")


@pytest.mark.parametrize(
    ("kind", "response_started", "status", "code"),
    [
        (failures.ConnectFailed, False, 502, "upstream_unreachable"),
        (failures.ConnectTimeout, False, 504, "upstream_timeout"),
        (failures.FirstByteTimeout, False, 504, "upstream_timeout"),
        (failures.IdleTimeout, True, 504, "upstream_timeout"),
        (failures.TotalTimeout, False, 504, "upstream_timeout"),
        (failures.TotalTimeout, True, 504, "upstream_timeout"),
        (failures.Reset, False, 502, "upstream_unreachable"),
        (failures.Truncated, True, 502, "upstream_error"),
        (failures.ProtocolFailure, True, 502, "upstream_error"),
        (failures.HeadersTooLarge, True, 502, "upstream_error"),
    ],
)
def test_a_failure_is_a_502_or_a_504(
    kind: Any, response_started: bool, status: int, code: str
) -> None:
    cause = failure(kind, response_started=response_started)
    error = refusal(chat(), target(Client(cause)))
    assert (error.status, error.code) == (status, code)
    assert error.message.endswith(".")
    assert error.message[0].isupper()


def test_the_detail_of_a_failure_is_not_sent_to_the_caller() -> None:
    cause = failures.ConnectFailed("10.1.2.3:443 refused")
    assert "10.1.2.3" not in refusal(chat(), target(Client(cause))).message


def test_a_place_is_held_until_the_end_of_the_exchange() -> None:
    gate = Gate("vendor", "", GateConfig(1), QueueInProcess())
    request = chat()
    send(request, replace(target(Client()), gates=(gate,)))
    assert gate.figures().in_flight == 1
    request.end()
    assert gate.figures().in_flight == 0


@pytest.mark.parametrize(("of_token", "admitted"), [("", False), ("high", True), ("low", False)])
def test_the_priority_of_the_token_comes_before_that_of_the_route(of_token, admitted) -> None:
    """A place is free, and somebody of normal priority waits for it."""
    queue = QueueInProcess()
    gate = Gate("vendor", "", GateConfig(1), queue)
    queue.join(NORMAL, 1, 1e9)
    request = chat()
    request.caller = Caller("alice", priority=of_token)
    with suppress(GatewayError):
        send(request, replace(target(Client()), gates=(gate,)), priority="low")
    assert gate.figures().in_flight == admitted


def test_a_response_is_closed_at_the_end_of_the_exchange() -> None:
    fake_response = FakeResponse()
    request = chat()
    send(request, target(Client(fake_response)))
    assert fake_response.closed == 0
    request.end()
    assert fake_response.closed == 1


def test_a_refused_response_is_closed_too() -> None:
    fake_response = FakeResponse(302)
    request = chat()
    refusal(request, target(Client(fake_response)))
    request.end()
    assert fake_response.closed == 1


# Retries: of which failures, when, how often.

TWICE = Retry()  # the defaults of gateway.yaml: two attempts
CREDENTIALS = [HeaderCredential("header", "authorization", value) for value in "ABC"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(1000.0)
    monkeypatch.setattr("engine.upstream.forward.gevent", SimpleNamespace(sleep=clock.sleep))
    return clock


class Sender:
    """Sends requests to targets that share a clock; `dice` is every random number."""

    def __init__(self, clock: Clock, *targets: Any, dice: float = 0.5, **more: Any) -> None:
        self.clock, self.targets = clock, targets
        services = Services(clock=lambda: 0.0, dice=lambda: dice)
        self.more = {"services": services, "clock": clock} | more

    def __call__(self) -> Response:
        self.request = chat()
        return send(self.request, *self.targets, **self.more)

    def refusal(self) -> GatewayError:
        with pytest.raises(GatewayError) as excinfo:
            self()
        return excinfo.value


def fake_response(
    status: int, *headers: tuple[str, str], body: bytes = b'{"error":1}'
) -> FakeResponse:
    return FakeResponse(status, [*JSON, *headers], [body])


def events(*pieces: Any) -> FakeResponse:
    return FakeResponse(200, EVENTS, pieces)


def clients(*responses: list[Any], log: list[int] | None = None) -> list[Client]:
    """Clients with these responses; `log` gets the number of each client that is called."""
    calls = log if log is not None else []
    return [
        Client(*results, during=lambda number=number: calls.append(number))
        for number, results in enumerate(responses)
    ]


def spread(clients: Sequence[Client], **more: Any) -> list[Target]:
    """A target at a separate upstream for each client."""
    more = {"retry": TWICE} | more
    return [target(client, name=f"u{number}", **more) for number, client in enumerate(clients)]


def header_of(response: Response, name: str) -> str | None:
    return next((value for field, value in response.headers if field == name), None)


def body_of(response: Response) -> bytes:
    return response.body if isinstance(response.body, bytes) else b"".join(response.body)


FAILING: dict[str, Callable[[], Any]] = {
    "connect": lambda: failure(failures.ConnectFailed),
    "connect-late": lambda: failure(failures.ConnectTimeout),
    "reset": lambda: failure(failures.Reset, request_sent=True),
    **{
        str(status): partial(fake_response, status)
        for status in (408, 429, 500, 502, 503, 504, 529)
    },
    "error": lambda: events(b'data: {"error": {"message": "x"}}\n\n'),
    "empty": lambda: events(),
    "cut": lambda: events(
        BEGIN, failure(failures.Truncated, request_sent=True, response_started=True)
    ),
    "garbage": lambda: events(BEGIN, failure(failures.ProtocolFailure, response_started=True)),
    "page": lambda: FakeResponse(200, [("content-type", "text/html")], [b"<html>"]),
}
BEGIN = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
CONTENT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
CLASS_OF = {
    "connect": "connect",
    "connect-late": "connect",
    "reset": "reset",
    "cut": "reset",
    "garbage": "reset",
    "408": "408",
    "429": "429",
    "error": "error",
    "empty": "error",
    "page": "error",
} | dict.fromkeys(("500", "502", "503", "504", "529"), "5xx")


@pytest.mark.parametrize("kind", FAILING)
def test_the_next_target_is_attempted_at_once(clock: Clock, kind: str) -> None:
    first, second = clients([FAILING[kind]()], [fake_response(200, body=ANSWER)])
    response = Sender(clock, *spread([first, second]))()
    assert (response.status, body_of(response)) == (200, ANSWER)
    assert clock.sleeps == []
    assert header_of(response, "x-should-retry") is None


@pytest.mark.parametrize("kind", FAILING)
def test_the_same_target_is_attempted_again_after_a_backoff(clock: Clock, kind: str) -> None:
    [client] = clients([FAILING[kind](), fake_response(200, body=ANSWER)])
    assert body_of(Sender(clock, *spread([client]))()) == ANSWER
    assert clock.sleeps == [0.125]


@pytest.mark.parametrize("kind", FAILING)
def test_a_failure_that_retry_on_does_not_name_is_not_retried(clock: Clock, kind: str) -> None:
    on = TWICE.on - {CLASS_OF[kind]}
    peers = clients([FAILING[kind]()], [])
    sender = Sender(clock, *spread(peers, retry=Retry(on=on)))
    with suppress(GatewayError):
        assert sender().status >= 400
    assert [len(client.requests) for client in peers] == [1, 0]


class Spent(Body):
    """A body that was sent on as it arrived."""

    is_spent = True


def test_a_body_that_is_spent_is_not_sent_again(clock: Clock) -> None:
    peers = clients([fake_response(503)], [fake_response(200, body=ANSWER)])
    request = chat()
    request.body = Spent(bytes(request.body.buffer))
    with suppress(GatewayError):
        send(request, *spread(peers), services=Services(), clock=clock)
    assert [len(client.requests) for client in peers] == [1, 0]


@pytest.mark.parametrize("status", [400, 404, 405, 409, 410, 413, 415, 418, 422, 451])
def test_an_error_of_the_caller_is_never_retried(clock: Clock, status: int) -> None:
    log: list[int] = []
    peers = clients([fake_response(status)] * 20, [], log=log)
    targets = spread(peers)
    sender = Sender(clock, *targets)
    for _ in range(20):
        response = sender()
        assert response.status == status
        assert header_of(response, "x-should-retry") is None
    assert log == [0] * 20  # the breaker stays closed


@pytest.mark.parametrize("kind", [failures.FirstByteTimeout, failures.IdleTimeout])
def test_a_request_that_timed_out_is_not_retried(clock: Clock, kind: Any) -> None:
    peers = clients([failure(kind, request_sent=True)], [])
    error = Sender(clock, *spread(peers)).refusal()
    assert (error.status, error.code, error.headers) == (504, "upstream_timeout", [])
    assert peers[1].requests == []


def test_a_response_truncated_in_its_head_is_not_retried(clock: Clock) -> None:
    peers = clients([failure(failures.Truncated, request_sent=True, response_started=True)], [])
    assert Sender(clock, *spread(peers)).refusal().code == "upstream_error"
    assert peers[1].requests == []


def test_each_target_is_attempted_once_before_any_twice(clock: Clock) -> None:
    log: list[int] = []
    peers = clients(*[[fake_response(500)] * 9 for _ in range(3)], log=log)
    response = Sender(clock, *spread(peers, retry=Retry(attempts=3)))()
    assert log == [0, 1, 2] * 3
    assert response.status == 500
    # No backoff before the first attempts, then below a doubling bound.
    assert clock.sleeps == [0.125] * 3 + [0.25] * 3


def test_an_sdk_should_not_retry_what_the_gateway_retried(
    clock: Clock,
) -> None:
    peers = clients([fake_response(500)], [fake_response(503, ("x-should-retry", "true"))])
    response = Sender(clock, *spread(peers, retry=Retry(attempts=1)))()
    assert [v for n, v in response.headers if n == "x-should-retry"] == ["false"]
    peers = clients([fake_response(500)], [failure(failures.Reset)])
    error = Sender(clock, *spread(peers, retry=Retry(attempts=1))).refusal()
    assert error.headers == [("x-should-retry", "false")]
    peers = clients([fake_response(500)], [failure(failures.ConnectFailed)])
    error = Sender(clock, *spread(peers, retry=Retry(attempts=1))).refusal()
    assert error.headers == [("x-should-retry", "false")]


@pytest.mark.parametrize("kind", [failures.ConnectFailed, failures.ConnectTimeout])
def test_an_sdk_may_retry_where_no_upstream_was_connected_to(clock: Clock, kind: Any) -> None:
    peers = clients([failure(kind)] * 3, [failure(kind)] * 3)
    error = Sender(clock, *spread(peers, retry=Retry(attempts=3))).refusal()
    assert error.headers == []
    assert sum(len(peer.requests) for peer in peers) == 6


def test_connections_that_fail_for_one_request_count_once_for_the_breaker(clock: Clock) -> None:
    client = Client(*[failure(failures.ConnectFailed)] * 8)
    attempted = target(client, retry=Retry(attempts=4), breaker=BreakerConfig(failures=2))
    Sender(clock, attempted).refusal()
    assert not attempted.state.breaker.wait(clock())
    Sender(clock, attempted).refusal()
    assert attempted.state.breaker.wait(clock())
    assert len(client.requests) == 5


def test_an_sdk_need_not_retry_connections_that_took_all_of_the_time(clock: Clock) -> None:
    client = Client(*[failure(failures.ConnectTimeout)] * 2, during=lambda: clock.advance(300.0))
    attempted = target(client, retry=Retry(attempts=2), timeouts=Timeouts(total=500.0))
    assert Sender(clock, attempted).refusal().headers == [("x-should-retry", "false")]
    assert len(client.requests) == 2


def test_an_sdk_may_retry_the_failure_of_a_single_attempt(clock: Clock) -> None:
    for headers in ([], [("x-should-retry", "true")]):
        [client] = clients([fake_response(503, *headers)])
        response = Sender(clock, *spread([client], retry=Retry(attempts=1)))()
        assert [pair for pair in response.headers if pair[0] == "x-should-retry"] == headers


def test_a_failed_response_is_closed_before_the_next_attempt(clock: Clock) -> None:
    first = fake_response(503)
    second = Client(during=lambda: closed.append(first.closed))
    closed: list[int] = []
    Sender(clock, *spread([Client(first), second]))()
    assert closed == [1]


# Retry budgets and waits.


def test_retries_at_an_upstream_are_a_fifth_of_its_requests_in_an_outage(clock: Clock) -> None:
    [client] = clients([fake_response(500) for _ in range(999)])
    sender = Sender(clock, *spread([client], breaker=BreakerConfig(failures=9999)))
    for _ in range(200):
        sender()
    assert 200 + 40 <= len(client.requests) <= 200 + 40 + 10


def test_a_healthy_target_gets_all_requests_that_the_first_one_fails(clock: Clock) -> None:
    peers = clients([fake_response(429) for _ in range(100)], [])
    sender = Sender(clock, *spread(peers))
    assert {sender().status for _ in range(100)} == {200}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ([("retry-after", "3")], 3.0),
        ([("retry-after", "5")], 5.0),
        ([("retry-after-ms", "250")], 0.25),
        ([("retry-after-ms", "250"), ("retry-after", "3")], 0.25),
        ([("retry-after", "Thu, 01 Jan 1970 00:00:04 GMT")], 4.0),
        ([("retry-after", "soon")], 0.125),
        ([], 0.125),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_retry_waits_as_the_upstream_asks(
    clock: Clock, status: int, headers: list[tuple[str, str]], wait: float
) -> None:
    [client] = clients([fake_response(status, *headers), fake_response(200)])
    assert Sender(clock, *spread([client]))().status == 200
    assert clock.sleeps == [wait]


def test_a_retry_after_of_0_is_no_wait(clock: Clock) -> None:
    [client] = clients([fake_response(429, ("retry-after", "0")), fake_response(200)])
    assert Sender(clock, *spread([client]))().status == 200
    assert clock.sleeps == []


def test_a_wait_longer_than_max_wait_is_left_to_the_caller(clock: Clock) -> None:
    [client] = clients([fake_response(429, ("retry-after", "6"))])
    response = Sender(clock, *spread([client]))()
    assert (response.status, header_of(response, "retry-after")) == (429, "6")
    assert header_of(response, "x-should-retry") is None
    assert (clock.sleeps, len(client.requests)) == ([], 1)


def test_after_a_429_another_target_is_attempted_without_a_wait(clock: Clock) -> None:
    log: list[int] = []
    peers = clients([fake_response(429, ("retry-after", "2"))], [fake_response(200)], log=log)
    assert Sender(clock, *spread(peers))().status == 200
    assert (log, clock.sleeps) == ([0, 1], [])


def test_the_wait_for_a_target_holds_after_attempts_at_others(clock: Clock) -> None:
    log: list[int] = []
    peers = clients(
        [fake_response(429, ("retry-after", "2")), fake_response(200)],
        [fake_response(500)],
        log=log,
    )
    assert Sender(clock, *spread(peers))().status == 200
    assert (log, clock.sleeps) == ([0, 1, 0], [2.0])


def test_no_attempt_begins_after_the_total_timeout(clock: Clock) -> None:
    client = Client(
        *[fake_response(503, ("retry-after", "4")) for _ in range(9)],
        during=lambda: clock.sleep(1.0),
    )
    response = Sender(
        clock, *spread([client], retry=Retry(attempts=10), timeouts=Timeouts(total=12.0))
    )()
    assert response.status == 503
    # At 0, 5 and 10 seconds; the next would begin at 15.
    assert client.totals == [12.0, 7.0, 2.0]


def test_the_total_timeout_of_the_first_target_holds_for_all(clock: Clock) -> None:
    first = Client(fake_response(500), during=lambda: clock.sleep(3.0))
    second = Client()
    targets = [
        target(first, name="one", retry=TWICE, timeouts=Timeouts(total=10.0)),
        target(second, name="two", retry=TWICE, timeouts=Timeouts(total=500.0)),
    ]
    Sender(clock, *targets)()
    assert second.totals == [7.0]


# Credentials.


def credentials_used(client: Client) -> str:
    return "".join(request.header("authorization") or "-" for request in client.requests)


def test_credentials_are_used_in_turn(clock: Clock) -> None:
    client = Client()
    sender = Sender(clock, target(client, credentials=CREDENTIALS))
    for _ in range(4):
        sender()
    assert credentials_used(client) == "ABCA"


def test_a_credential_with_a_429_is_set_aside_as_long_as_the_upstream_asks(clock: Clock) -> None:
    client = Client(fake_response(429, ("retry-after", "20")))
    sender = Sender(clock, target(client, credentials=CREDENTIALS[:2]))
    for _ in range(4):
        sender()
    clock.now += 20
    sender()
    sender()
    assert sorted(credentials_used(client)[:4]) == list("ABBB")
    assert sorted(credentials_used(client)[4:]) == list("AB")


def test_after_a_429_the_next_credential_is_used(clock: Clock) -> None:
    client = Client(fake_response(429, ("retry-after", "2")))
    assert Sender(clock, target(client, credentials=CREDENTIALS, retry=TWICE))().status == 200
    assert credentials_used(client) == "AB"


def test_no_retry_after_sets_a_credential_aside_for_longer_than_a_minute(clock: Clock) -> None:
    client = Client(fake_response(429, ("retry-after", "999999999")))
    sender = Sender(clock, target(client, credentials=CREDENTIALS[:2]))
    sender()
    clock.now += 60
    sender()
    sender()
    assert sorted(credentials_used(client)[1:]) == list("AB")


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refused_credential_is_set_aside_and_the_next_one_used(clock: Clock, status: int) -> None:
    client = Client(fake_response(status))
    sender = Sender(clock, target(client, credentials=CREDENTIALS[:2], retry=TWICE))
    assert [sender().status for _ in range(3)] == [200] * 3
    assert credentials_used(client) == "ABBB"
    clock.now += 60
    sender()
    sender()
    assert sorted(credentials_used(client)[4:]) == list("AB")


@pytest.mark.parametrize("status", [401, 402, 403])
def test_after_a_refused_credential_the_next_target_is_attempted(clock: Clock, status: int) -> None:
    peers = clients([fake_response(status)], [fake_response(200)])
    assert Sender(clock, *spread(peers, retry=Retry(on=frozenset())))().status == 200


@pytest.mark.parametrize("status", [401, 402, 403])
@pytest.mark.parametrize("credentials", [(), CREDENTIALS[:1], CREDENTIALS[:2]], ids=len)
def test_credentials_that_are_all_refused_are_the_gateways_fault(
    clock: Clock, status: int, credentials: list[HeaderCredential]
) -> None:
    body = b'{"error": {"message": "Incorrect API key provided: sk-secret"}}'
    client = Client(*[fake_response(status, body=body) for _ in range(9)])
    error = Sender(
        clock, target(client, credentials=credentials, retry=Retry(attempts=5))
    ).refusal()
    assert (error.status, error.code) == (502, "upstream_credentials")
    assert error.headers == [("x-should-retry", "false")]
    assert "sk-secret" not in error.message
    assert len(client.requests) == max(1, len(credentials))  # none of them twice


def test_a_single_refused_credential_stays_a_502(clock: Clock) -> None:
    client = Client(*[fake_response(401) for _ in range(9)])
    sender = Sender(clock, target(client, credentials=CREDENTIALS[:1], retry=TWICE))
    assert {sender.refusal().code for _ in range(9)} == {"upstream_credentials"}


def test_refused_credentials_stay_a_502_without_another_attempt(clock: Clock) -> None:
    client = Client(*[fake_response(401) for _ in range(9)])
    sender = Sender(clock, target(client, credentials=CREDENTIALS[:2], retry=TWICE))
    errors = [sender.refusal() for _ in range(3)]
    assert {(error.status, error.code) for error in errors} == {(502, "upstream_credentials")}
    assert len(client.requests) == 2


def test_a_refused_credential_does_not_open_the_breaker(clock: Clock) -> None:
    client = Client(*[fake_response(401) for _ in range(50)])
    sender = Sender(
        clock, target(client, credentials=CREDENTIALS[:1], breaker=BreakerConfig(failures=1))
    )
    for _ in range(50):
        sender.refusal()
    assert len(client.requests) == 50


# The breaker.

BREAKER = BreakerConfig(failures=2, window=10.0, cooldown=30.0)
ONCE = Retry(attempts=1)


@pytest.mark.parametrize("kind", [kind for kind in FAILING if kind != "429"])
def test_failures_open_the_breaker_and_a_probe_closes_it(clock: Clock, kind: str) -> None:
    log: list[int] = []
    peers = clients([FAILING[kind]() for _ in range(2)], [], log=log)
    sender = Sender(clock, *spread(peers, retry=ONCE, breaker=BREAKER))
    for _ in range(4):
        assert sender().status == 200
    assert log == [0, 1, 0, 1, 1, 1]  # open from the third request on
    log.clear()
    clock.now += 30
    sender()
    sender()
    assert log == [0, 0]


def test_a_failed_probe_opens_the_breaker_for_another_cooldown(clock: Clock) -> None:
    log: list[int] = []
    peers = clients([fake_response(500) for _ in range(3)], [], log=log)
    sender = Sender(clock, *spread(peers, retry=ONCE, breaker=BREAKER))
    for wait in (0, 0, 30, 29, 1):
        clock.now += wait
        sender()
    assert log == [0, 1, 0, 1, 0, 1, 1, 0]


def test_only_one_request_is_the_probe(clock: Clock) -> None:
    log: list[int] = []
    peers = clients([fake_response(500), fake_response(500), fake_response(200)], [], log=log)
    sender = Sender(clock, *spread(peers, retry=ONCE, breaker=BREAKER))
    sender()
    sender()
    clock.now += 30
    log.clear()
    inner = Sender(clock, *sender.targets)

    def while_probing() -> None:
        log.append(0)
        peers[0].during = lambda: log.append(0)
        inner()

    peers[0].during = while_probing
    sender()
    assert log == [0, 1]  # the second arrived during the probe


def test_a_429_never_opens_the_breaker(clock: Clock) -> None:
    client = Client(*[fake_response(429) for _ in range(50)])
    sender = Sender(clock, target(client, breaker=BreakerConfig(failures=1)))
    assert [sender().status for _ in range(50)] == [429] * 50
    assert len(client.requests) == 50


def test_failures_that_are_not_retried_open_the_breaker_too(clock: Clock) -> None:
    peers = clients([failure(failures.FirstByteTimeout) for _ in range(2)], [])
    sender = Sender(clock, *spread(peers, breaker=BREAKER))
    assert [sender.refusal().status, sender.refusal().status, sender().status] == [504, 504, 200]


def test_with_all_breakers_open_the_caller_gets_a_retry_after(clock: Clock) -> None:
    peers = clients([fake_response(500) for _ in range(9)], [fake_response(500) for _ in range(9)])
    sender = Sender(clock, *spread(peers, retry=ONCE, breaker=BREAKER))
    sender()
    clock.now += 4
    sender()
    clock.now += 3.5
    error = sender.refusal()
    assert (error.status, error.code) == (503, "upstream_unavailable")
    assert error.headers == [("retry-after", "27")]
    assert [len(client.requests) for client in peers] == [2, 2]


def test_with_all_credentials_set_aside_the_caller_gets_a_retry_after(clock: Clock) -> None:
    client = Client(*[fake_response(429, ("retry-after", str(n))) for n in (20, 40)])
    sender = Sender(clock, target(client, credentials=CREDENTIALS[:2]))
    sender()
    sender()
    error = sender.refusal()
    assert (error.status, error.headers) == (503, [("retry-after", "20")])


# Streams.


def test_held_events_are_sent_in_order_and_unchanged(clock: Clock) -> None:
    pieces = [BEGIN, b": hello\n\n", CONTENT + CONTENT[:9], CONTENT[9:], b"data: [DONE]\n\n"]
    [client] = clients([events(*pieces)])
    assert body_of(Sender(clock, *spread([client]))()) == b"".join(pieces)


def test_no_event_of_a_failed_target_reaches_the_caller(clock: Clock) -> None:
    truncation = failure(failures.Truncated, response_started=True)
    peers = clients([events(BEGIN, BEGIN, truncation)], [events(CONTENT)])
    assert body_of(Sender(clock, *spread(peers))()) == CONTENT


@pytest.mark.parametrize("kind", [failures.Truncated, failures.IdleTimeout, failures.TotalTimeout])
def test_after_content_no_other_target_is_attempted(clock: Clock, kind: Any) -> None:
    peers = clients([events(BEGIN, CONTENT, failure(kind, response_started=True))], [])
    response = Sender(clock, *spread(peers))()
    pieces: list[bytes] = []
    with pytest.raises(AbortConnection):
        pieces.extend(response.body)  # type: ignore[arg-type]
    assert pieces[0] == BEGIN + CONTENT
    assert OPENAI.is_error(json.loads(pieces[1].removeprefix(b"data: ")))
    assert len(pieces) == 2
    assert peers[1].requests == []


def test_an_error_event_after_content_passes(clock: Clock) -> None:
    error = b'data: {"error":{"message":"x"}}\n\n'
    peers = clients([events(CONTENT, error)], [])
    pieces: list[bytes] = []
    with pytest.raises(AbortConnection):
        pieces.extend(Sender(clock, *spread(peers))().body)  # type: ignore[arg-type]
    assert pieces == [CONTENT, error]
    assert peers[1].requests == []


def test_the_message_of_an_error_event_is_reported(clock: Clock) -> None:
    [client] = clients([events(b'data: {"error":{"message":"No capacity."}}\n\n')])
    error = Sender(clock, *spread([client], retry=ONCE)).refusal()
    assert (error.status, error.code) == (502, "upstream_error")
    assert error.message == "The upstream failed: No capacity."


def test_a_body_that_is_not_a_stream_is_relayed_from_its_first_byte(clock: Clock) -> None:
    truncation = failure(failures.Truncated, response_started=True)
    peers = clients([FakeResponse(200, JSON, [b'{"a":', truncation])], [])
    response = Sender(clock, *spread(peers))()
    with pytest.raises(AbortConnection):
        list(response.body)
    assert peers[1].requests == []


def test_every_response_is_closed_when_the_exchange_ends(clock: Clock) -> None:
    responses = [fake_response(500), fake_response(503), events(BEGIN), events(CONTENT)]
    sender = Sender(clock, *spread([Client(response) for response in responses]))
    sender()
    sender.request.end()
    assert all(response.closed for response in responses)


# A plain API, and headers.


@pytest.mark.parametrize("status", [200, 204, 301, 304, 400, 401, 403, 404, 408, 429, 500, 503])
def test_all_responses_of_a_plain_api_are_relayed(clock: Clock, status: int) -> None:
    headers = [("content-type", "text/html"), ("location", "/x"), ("retry-after", "1")]
    peers = clients([FakeResponse(status, headers, [b"<p>", b"</p>"])], [])
    plain = dialects.get("plain")
    response = Sender(clock, *spread(peers), dialect=plain, expression=None)()
    assert (response.status, body_of(response)) == (status, b"<p></p>")
    assert {("content-type", "text/html"), ("location", "/v1/x"), ("retry-after", "1")} <= set(
        response.headers
    )
    assert peers[1].requests == []


def test_a_plain_api_that_cannot_be_reached_is_retried_elsewhere(clock: Clock) -> None:
    peers = clients([failure(failures.ConnectFailed)], [fake_response(404)])
    response = Sender(clock, *spread(peers), dialect=dialects.get("plain"), expression=None)()
    assert response.status == 404


def test_the_target_is_named_only_with_debug_headers(clock: Clock) -> None:
    def target_header(debug: bool) -> str | None:
        peers = clients([fake_response(500)], [])
        targets = [
            target(peers[0], "m0", name="one", retry=TWICE),
            target(peers[1], "org/m1", name="two", retry=TWICE),
        ]
        return header_of(Sender(clock, *targets, debug=debug)(), "x-modelway-target")

    assert target_header(debug=False) is None
    assert target_header(debug=True) == "two/org/m1"


def test_the_name_of_a_target_is_percent_encoded(clock: Clock) -> None:
    east = target(clients([])[0], "模/型", name="one")
    assert (
        header_of(Sender(clock, east, debug=True)(), "x-modelway-target")
        == "one/%E6%A8%A1/%E5%9E%8B"
    )


def test_headers_are_set_added_and_removed_for_each_upstream(clock: Clock) -> None:
    changes = HeaderChanges(
        set={"user-agent": "ours", "x-new": "1"},
        add={"accept": "text/plain", "openai-beta": "b"},
        remove=frozenset({"traceparent", "authorization"}),
    )
    peers = clients([fake_response(500)], [])
    targets = [
        target(
            peers[0], name="one", headers=changes, credentials=CREDENTIALS[:1], forward_headers=()
        ),
        target(peers[1], name="two"),
    ]
    request = chat(headers={"traceparent": "t", "accept": "application/json"})
    send(request, *targets, clock=clock)
    first, second = (dict(client.requests[0].headers) for client in peers)
    assert (first["user-agent"], first["x-new"], first["openai-beta"]) == ("ours", "1", "b")
    assert first["accept"] == "application/json"
    assert "traceparent" not in first
    assert first["authorization"] == "A"  # set last, after the changes
    assert (second["user-agent"], second["traceparent"]) == ("modelway", "t")
    assert "x-new" not in second


def test_a_declared_header_passes(clock: Clock) -> None:
    client = Client()
    send(chat(headers={"x-tenant": "7"}), target(client), declared=["X-Tenant"], clock=clock)
    assert client.requests[0].header("x-tenant") == "7"


def test_a_caller_who_leaves_during_a_wait_ends_the_request(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave(seconds: float) -> None:
        raise AbortConnection(AbortReason.CALLER_LEFT)

    waiting = fake_response(503, ("retry-after", "3"))
    client = Client(waiting)
    monkeypatch.setattr("engine.upstream.forward.gevent", SimpleNamespace(sleep=leave))
    sender = Sender(clock, *spread([client]))
    with pytest.raises(AbortConnection):
        sender()
    sender.request.end()
    assert (len(client.requests), waiting.closed > 0) == (1, True)


@pytest.mark.parametrize(
    ("edits", "ranges"),
    [
        ({"body": {"remove": ["secret"]}}, (None, None)),
        ({"header": {"remove": ["x-a"]}}, ("bytes=0-", '"e"')),
    ],
)
def test_no_part_is_asked_of_a_target_whose_bodies_are_edited(
    edits: dict[str, Any], ranges: tuple[str | None, str | None]
) -> None:
    client = Client()
    config = TransformConfig({"response": edits}, ())
    edited = replace(upstream(client), transforms=tuple(compile_all([config], upstream=True)))
    request = exchange(method="GET", headers={"range": "bytes=0-", "if-range": '"e"'})
    send(
        request,
        fixed=[edited.target("", 1)],
        expression=None,
        dialect=dialects.get(dialects.PLAIN),
    )
    (sent,) = client.requests
    assert (sent.header("range"), sent.header("if-range")) == ranges


def test_an_answer_that_the_gateway_cannot_change_is_no_failure_of_its_target(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(name: str) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("os.memfd_create", none_left)
    peers = clients([fake_response(200, body=ANSWER.ljust(LARGE + 1))], [fake_response(200)])
    config = TransformConfig({"response": {"body": {"remove": ["secret"]}}}, ())
    targets = [
        replace(
            upstream(client, f"u{number}", breaker=BreakerConfig(failures=1), retry=TWICE),
            transforms=tuple(compile_all([config], upstream=True)),
        ).target("", 1)
        for number, client in enumerate(peers)
    ]
    refusal = Sender(clock, *targets).refusal()
    assert (refusal.status, refusal.code) == (503, UNCHANGED)
    assert ("x-should-retry", "false") in refusal.headers
    assert [len(client.requests) for client in peers] == [1, 0]
    assert targets[0].state.breaker.allows(clock())
