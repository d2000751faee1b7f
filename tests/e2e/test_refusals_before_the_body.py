"""What a request's head or its model decides is refused before its body costs anything."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.support.recording import (
    HttpAnswer,
    Recorder,
    Wire,
    answer,
    ask,
    assert_error,
    recorder,
    request,
)
from tests.support.running import ALL, Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import PATIENCE

LARGE = json.dumps(
    {"model": "one", "messages": [{"role": "user", "content": "hello " * 20}] * 50_000}
).encode()
"""A body of 7 MB."""
ROUTES = {
    "rate": "[rate_limit: {requests: 1, per: 1h}]",
    "rate-all": "[rate_limit: {requests: 1, per: 1h, by: all}]",
    "per-model": "[rate_limit: {requests: 1, per: 1h, by: model}]",
    "slots": "[concurrency: {requests: 1}]",
    "addresses": "[allow_ips: [10.0.0.0/8]]",
    "both": "[rate_limit: {requests: 2, per: 1h}, token_budget: {tokens: 40, per: 1h}]",
    "two-rates": "[rate_limit: {requests: 9, per: 1h}, "
    "rate_limit: {requests: 2, per: 1h, by: model}]",
    "open": "[]",
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("refusals")
    with gateway(folder, project(folder, upstream.url, ROUTES)) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(upstream: Recorder) -> None:
    upstream.reset()
    upstream.speak = answer(json.dumps(COMPLETION).encode())


def path(name: str) -> str:
    return f"/v1/{name}/chat/completions"


def head(name: str, *headers: str) -> bytes:
    """A request without its body, for which the gateway may wait in vain."""
    lines = [f"POST {path(name)} HTTP/1.1", "Host: gateway", "Content-Type: application/json"]
    lines += [f"Authorization: Bearer {ALL}", f"Content-Length: {len(LARGE)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def refused_by_its_head(front: Running, name: str, *headers: str) -> HttpAnswer:
    """The answer to a request whose body is not sent."""
    with Wire(front.port) as wire:
        wire.send(head(name, *headers))
        response = wire.answer()
        assert response.closed
        assert wire.rest() == b""
    return response


@pytest.mark.parametrize("headers", [(), ("Expect: 100-continue",)])
@pytest.mark.parametrize("name", ["rate", "rate-all"])
def test_a_request_over_its_rate_is_refused_before_its_body_is_received(
    front: Running, name: str, headers: tuple[str, ...]
) -> None:
    ask(front.port, chat(name))
    response = refused_by_its_head(front, name, *headers)
    assert_error(response, 429, "rate_limit_exceeded")
    assert response.value("x-ratelimit-remaining-requests") == "0"
    assert int(response.value("retry-after")) > 0


def test_an_address_is_refused_before_the_body_is_received(front: Running) -> None:
    assert_error(refused_by_its_head(front, "addresses"), 403, "address_not_allowed")


@contextmanager
def upload(front: Running, name: str) -> Iterator[Wire]:
    """A request that is accepted, of whose body nothing comes yet."""
    with Wire(front.port) as wire:
        wire.send(head(name, "Expect: 100-continue"))
        assert wire.sock.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        yield wire


def test_a_slot_is_taken_before_the_body_and_given_back_if_the_caller_leaves(
    front: Running,
) -> None:
    with upload(front, "slots"):
        response = refused_by_its_head(front, "slots")
        assert_error(response, 429, "concurrency_limit_exceeded")
    while ask(front.port, chat("slots")).status == 429:  # until the gateway has noticed
        pass
    with upload(front, "slots") as wire:
        wire.send(LARGE)
        assert wire.answer().status == 200
    assert ask(front.port, chat("slots")).status == 200


@pytest.mark.parametrize("client", ["http.client", "chunked"])
def test_a_refusal_reaches_a_caller_who_sends_all_of_a_large_body_first(
    front: Running, client: str
) -> None:
    ask(front.port, chat("rate"))
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {ALL}", "Content-Type": "application/json"}
    pieces = (LARGE[at : at + 65_536] for at in range(0, len(LARGE), 65_536))
    with closing(connection):
        is_chunked = client == "chunked"
        connection.request(
            "POST",
            path("rate"),
            pieces if is_chunked else LARGE,
            headers | ({"Transfer-Encoding": "chunked"} if is_chunked else {}),
            encode_chunked=is_chunked,
        )
        response = connection.getresponse()
        assert response.status == 429
        assert json.loads(response.read())["error"]["code"] == "rate_limit_exceeded"


def test_a_small_body_is_discarded_and_the_connection_goes_on(front: Running) -> None:
    ask(front.port, chat("rate"))
    with Wire(front.port) as wire:
        for _ in range(2):
            wire.send(chat("rate"))
            assert wire.answer().status == 429
        wire.send(chat("open"))
        assert wire.answer().status == 200


def test_what_the_gateway_refuses_is_given_back(front: Running) -> None:
    """The quota of three requests of a route has room for three that are served."""
    wrong = request(path("both"), b'{"model": 7}', token=ALL)
    unknown = request(path("both"), b'{"model": "nobody"}', token=ALL)
    expensive = chat("both", max_tokens=100)
    for _ in range(3):
        statuses = [ask(front.port, data).status for data in (wrong, unknown, expensive)]
        assert statuses == [400, 404, 429]
    first = ask(front.port, chat("both", max_tokens=10))
    assert first.status == 200
    assert first.value("x-ratelimit-remaining-requests") == "1"
    assert first.value("x-ratelimit-limit-tokens") == "40"


def test_the_headers_have_the_tightest_of_limits_taken_at_two_moments(front: Running) -> None:
    response = ask(front.port, chat("two-rates"))
    assert response.value("x-ratelimit-limit-requests") == "2"
    assert response.value("x-ratelimit-remaining-requests") == "1"


def test_a_limit_that_depends_on_the_model_waits_for_it(front: Running) -> None:
    statuses = [
        ask(front.port, chat("per-model", model)).status for model in ("one", "two", "one", "two")
    ]
    assert statuses == [200, 200, 429, 429]


def test_callers_that_are_refused_in_a_crowd_are_all_answered(front: Running) -> None:
    ask(front.port, chat("rate"))
    codes: list[int] = []
    data = request(path("rate"), LARGE, token=ALL)
    threads = [
        threading.Thread(target=lambda: codes.append(ask(front.port, data).status))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [429] * 8
