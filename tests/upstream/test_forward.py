"""Sending on: in the target's own name, with our credential, to the first that can be reached."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import dialects
from engine.body import receive
from engine.config.model import Credential
from engine.errors import GatewayError
from engine.exchange import Exchange, Response
from engine.spec.expression import parse
from engine.spec.multipart import boundary_of
from engine.spec.multipart import parse as parse_multipart
from engine.upstream import failures
from engine.upstream.forward import forward
from tests.support.documents import exchange, form_data
from tests.support.upstreams import Answer, Client, failure, target

OPENAI = dialects.get("openai")
BODY = parse("$request.body#/model")


def chat(body: Any = None, **more: Any) -> Exchange:
    """A request that has come as far as the last step."""
    data = body if body is not None else b'{"model": "asked", "x":1}'
    made = exchange(data, path="/v1/chat", **more)
    made.mount, made.media_type = "/v1", "application/json"
    made.value = json.loads(made.body.buffer)
    made.model = made.value.get("model") or ""
    made.model_at = BODY.check(made)
    return made


def send(
    request: Exchange, *targets: Any, expression: Any = BODY, dialect: Any = OPENAI, fixed: Any = ()
) -> Response:
    request.targets = targets
    upstreams = [made.upstream for made in (*targets, *fixed)]
    return forward(expression, fixed, dialect, upstreams)(request)


def refused(request: Exchange, *targets: Any) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        send(request, *targets)
    return caught.value


# The name of the model.


@pytest.mark.parametrize(
    ("body", "name", "sent"),
    [
        (b'{"model": "asked", "x":1}', "theirs", b'{"model": "theirs", "x":1}'),
        (b'{"model": "asked", "x":1}', "asked", b'{"model": "asked", "x":1}'),
        (b'{"model": "asked", "x":1}', "", b'{"model": "asked", "x":1}'),
    ],
)
def test_the_targets_own_name_is_written_into_the_body(body: bytes, name: str, sent: bytes) -> None:
    client = Client()
    send(chat(body), target(client, name))
    assert client.sent[0].body == sent


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (b'{"x":1}', b'{"model":"usual","x":1}'),
        (b"{}", b'{"model":"usual"}'),
        (b'{"model":null,"x":1}', b'{"model":"usual","x":1}'),
        (b'{"model":"","x":1}', b'{"model":"usual","x":1}'),
        (b'{"x":{"model":"inner"}}', b'{"model":"usual","x":{"model":"inner"}}'),
    ],
)
def test_a_default_model_is_written_in(body: bytes, sent: bytes) -> None:
    client = Client()
    request = chat(body)
    request.model = "usual"
    send(request, target(client))
    assert client.sent[0].body == sent


def test_the_request_itself_is_not_changed() -> None:
    request = chat()
    send(request, target(Client(), "theirs"))
    assert request.body.buffer == b'{"model": "asked", "x":1}'


def test_each_target_gets_its_own_name() -> None:
    first, second = Client(failure(failures.ConnectFailed)), Client()
    send(chat(), target(first, "one"), target(second, "two"))
    assert json.loads(first.sent[0].body or b"")["model"] == "one"
    assert json.loads(second.sent[0].body or b"")["model"] == "two"


def test_a_name_in_multipart_is_written() -> None:
    client = Client()
    body, content_type = form_data([["file", "RIFF", "a", "b/c"], ["model", "asked"]])
    request = exchange(body, content_type)
    request.media_type, request.model = "multipart/form-data", "asked"
    request.parts = list(parse_multipart(body, boundary_of(content_type)))
    request.value = {"model": "asked"}
    request.model_at = BODY.check(request)
    send(request, target(client, "theirs"))
    assert client.sent[0].body == body.replace(b"asked", b"theirs")
    assert client.sent[0].header("content-type") == content_type


def test_a_name_in_the_path_is_written() -> None:
    client = Client(base_path="/base")
    path = "/v1beta/models/asked:go"
    request = exchange(path=path, query="alt=sse", variables={"model": (15, 20)})
    request.mount, request.model = "/v1beta", "asked"
    send(request, target(client, "org/x"), expression=parse("$request.path.model"))
    assert client.sent[0].target == "/base/models/org%2Fx:go?alt=sse"


def test_a_name_in_the_query_is_written() -> None:
    client = Client()
    request = exchange(query="a=%20&model=asked", path="/x")
    request.model = "asked"
    send(request, target(client, "theirs"), expression=parse("$request.query.model"))
    assert client.sent[0].target == "/x?a=%20&model=theirs"


def test_a_name_in_a_header_is_written_and_passes() -> None:
    client = Client()
    request = exchange(headers={"x-model": "asked"})
    request.model = "asked"
    send(request, target(client, "theirs"), expression=parse("$request.header.x-model"))
    assert client.sent[0].header("x-model") == "theirs"


def test_without_an_expression_nothing_is_written() -> None:
    client = Client()
    request = exchange(b'{"model":"asked"}')
    send(request, expression=None, fixed=[target(client, "theirs")])
    assert client.sent[0].body == b'{"model":"asked"}'


# The rest of the request.


def test_the_path_under_the_mount_is_put_under_the_upstreams_own() -> None:
    client = Client(base_path="/base/v9")
    send(chat(query="a=b"), target(client))
    assert (client.sent[0].method, client.sent[0].target) == ("POST", "/base/v9/chat?a=b")


def test_only_headers_of_the_list_pass() -> None:
    client = Client()
    said = {
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
    send(chat(headers=said), target(client, forward_headers=("x-more",)))
    assert dict(client.sent[0].headers) == {
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


def test_the_anthropic_dialect_passes_its_own_headers() -> None:
    client = Client()
    said = {"anthropic-version": "2023-06-01", "anthropic-beta": "b", "openai-beta": "x"}
    send(chat(headers=said), target(client), dialect=dialects.get("anthropic"))
    assert client.sent[0].header("anthropic-version") == "2023-06-01"
    assert client.sent[0].header("anthropic-beta") == "b"
    assert client.sent[0].header("openai-beta") is None


def test_our_credential_is_put_on() -> None:
    client = Client()
    credential = Credential("header", "authorization", "Bearer ours")
    send(chat(headers={"authorization": "Bearer theirs"}), target(client, credential=credential))
    assert [v for n, v in client.sent[0].headers if n == "authorization"] == ["Bearer ours"]


def test_our_credential_may_travel_in_the_query() -> None:
    client = Client()
    send(chat(query="a=b"), target(client, credential=Credential("query", "key", "ours")))
    assert client.sent[0].target == "/chat?a=b&key=ours"


def test_each_upstream_gets_its_own_credential_alone() -> None:
    first, second = Client(failure(failures.ConnectFailed)), Client()
    targets = [
        target(first, name="one", credential=Credential("header", "x-key", "one")),
        target(second, name="two", credential=Credential("header", "authorization", "two")),
    ]
    send(chat(), *targets)
    assert second.sent[0].header("x-key") is None
    assert second.sent[0].header("authorization") == "two"


def test_a_get_without_a_body_is_sent_without_one() -> None:
    client = Client()
    request = exchange(b"", "", method="GET")
    send(request, expression=None, fixed=[target(client)])
    assert client.sent[0].body is None


def test_a_post_without_a_body_is_sent_with_an_empty_one() -> None:
    client = Client()
    send(exchange(b""), expression=None, fixed=[target(client)])
    assert client.sent[0].body == b""


def test_a_body_on_disk_is_sent_to_every_target() -> None:
    data = json.dumps({"x": "y" * 1_100_000, "model": "asked"}).encode()

    class Input:
        at = 0

        def read(self, size: int, /) -> bytes:
            self.at += size
            return data[self.at - size : self.at]

    request = chat()
    request.body = receive(Input(), len(data), 10_000_000)
    request.value = json.loads(data)
    request.model_at = BODY.check(request)
    first, second = Client(failure(failures.ConnectFailed)), Client()
    send(request, target(first, "one"), target(second, "two"))
    assert first.sent[0].body == data.replace(b'"asked"', b'"one"')
    assert second.sent[0].body == data.replace(b'"asked"', b'"two"')
    request.body.close()


# Who is asked, and who comes next.


def test_targets_are_tried_in_their_order_until_one_can_be_reached() -> None:
    clients = [
        Client(failure(failures.ConnectFailed)),
        Client(failure(failures.ConnectTimeout)),
        Client(Answer(body=[b'{"by":3}'])),
        Client(),
    ]
    response = send(chat(), *[target(client) for client in clients])
    assert b"".join(response.body) == b'{"by":3}'
    assert [len(client.sent) for client in clients] == [1, 1, 1, 0]


def test_the_chosen_targets_come_before_the_routes_own() -> None:
    chosen, fixed = Client(), Client()
    send(chat(), target(chosen), fixed=[target(fixed)])
    assert (len(chosen.sent), len(fixed.sent)) == (1, 0)


def test_nobody_else_is_asked_after_an_answer_began() -> None:
    second = Client()
    first = Client(failure(failures.Truncated, sent=True, answered=True))
    error = refused(chat(), target(first), target(second))
    assert (error.status, error.code) == (502, "upstream_error")
    assert second.sent == []


def test_nobody_else_is_asked_after_an_error_of_an_upstream() -> None:
    second = Client()
    first = Client(Answer(500, body=[b"{}"]))
    assert send(chat(), target(first), target(second)).status == 500
    assert second.sent == []


def test_the_last_failure_is_told() -> None:
    clients = [
        Client(failure(failures.ConnectTimeout)),
        Client(failure(failures.ConnectFailed)),
    ]
    error = refused(chat(), *[target(client) for client in clients])
    assert (error.status, error.code) == (502, "upstream_unreachable")


@pytest.mark.parametrize(
    ("kind", "answered", "status", "code"),
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
def test_a_failure_is_a_502_or_a_504(kind: Any, answered: bool, status: int, code: str) -> None:
    made = failure(kind, answered=answered)
    error = refused(chat(), target(Client(made)))
    assert (error.status, error.code) == (status, code)
    assert error.message.endswith(".")
    assert error.message[0].isupper()


def test_the_detail_of_a_failure_stays_here() -> None:
    made = failures.ConnectFailed("10.1.2.3:443 refused")
    assert "10.1.2.3" not in refused(chat(), target(Client(made))).message


def test_an_answer_is_closed_at_the_end_of_the_exchange() -> None:
    answer = Answer()
    request = chat()
    send(request, target(Client(answer)))
    assert answer.closed == 0
    request.end()
    assert answer.closed == 1


def test_an_answer_that_is_refused_is_closed_too() -> None:
    answer = Answer(302)
    request = chat()
    refused(request, target(Client(answer)))
    request.end()
    assert answer.closed == 1
