"""Every strategy with translated models, wildcards, fallbacks, transforms and sessions; at the end
nothing is in flight."""

from __future__ import annotations

import json
import socket
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from engine.upstream import choose
from tests.support import yaml_text
from tests.support.recording import HttpAnswer, ask, request
from tests.support.running import (
    ALL,
    Platform,
    gateway,
    mock,
    pointed_at,
    replaced,
    shipped,
)
from tests.support.waiting import PATIENCE, until

_UPSTREAMS = """
  openai-2:
    {url: "${MOCK}/v1", dialect: openai, credential: {bearer: "${OPENAI_API_KEY}"}, proxy: ""}
  away: {url: "http://127.0.0.1:9/v1", dialect: openai, proxy: "", breaker: {failures: 1000000}}
"""
_MODELS = """
  chosen-NAME:
    to: [{upstream: openai, model: gpt-4o}, {upstream: openai-2, model: gpt-4o-mini}]
    choose: CHOICE
    transform: {request: {body: {set: {max_completion_tokens: 64}}}}
  mixed-NAME:
    to: [{upstream: anthropic, model: claude-sonnet-4-5}, {upstream: gemini, model: gemini-2.5-pro}]
    choose: CHOICE
  "wild/NAME/*":
    to: [{upstream: openai, model: "*"}, {upstream: openai-2, model: "*"}]
    choose: CHOICE
  failing-NAME:
    to: [{upstream: away, model: gpt-4o}, {upstream: away, model: gpt-4o-mini}]
    choose: CHOICE
    fallback: [chosen-NAME]
  half-NAME: {to: [{upstream: away}, {upstream: openai, model: gpt-4o}], choose: CHOICE}
  live-NAME:
    to: [{upstream: openai, model: gpt-realtime}, {upstream: openai-2, model: gpt-realtime}]
    choose: CHOICE
"""
_PRICES = """
prices:
  "*": {input: 1}
  openai-2/gpt-4o-mini: {input: 0.5}
  away/gpt-4o: {input: 0.5}
  gemini/gemini-2.5-pro: {input: 0.5}
  openai-2/gpt-realtime: {input: 0.5}
  away/half-cheapest: {input: 0.5}
"""
STRATEGIES = choose.names()


def _choice(name: str) -> str:
    options = choose.KINDS.get(name).options
    if options is None:
        return name
    return json.dumps(yaml_text.load(options.form))


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("choose")
    config = shipped(folder / "project")
    models = "".join(
        _MODELS.replace("NAME", name).replace("CHOICE", _choice(name)) for name in STRATEGIES
    )
    config = replaced(config, r"\nmodels:.*\n", f"{_UPSTREAMS}\nmodels:\n{models}")
    config = replaced(config, r"\nroutes:\n", f"{_PRICES}\nroutes:\n")
    with (
        mock(folder) as upstream,
        gateway(folder / "project", config, pointed_at(upstream.url)) as front,
    ):
        yield Platform(front, upstream, folder / "project")


def post(platform: Platform, path: str, body: Any) -> HttpAnswer:
    data = json.dumps(body).encode()
    return ask(platform.port, request(path, data, headers=["session-id: s-1"], token=ALL))


def chat(model: str, *, stream: bool = False) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "Hello"}], "stream": stream}


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "model", ["chosen-{}", "mixed-{}", "wild/{}/gpt-4o", "failing-{}", "half-{}"]
)
def test_requests_are_answered(platform: Platform, name: str, stream: bool, model: str) -> None:
    for _ in range(4):
        response = post(platform, "/v1/chat/completions", chat(model.format(name), stream=stream))
        assert response.status == 200, response.body
        assert (b"[DONE]" in response.body) == stream


@pytest.mark.parametrize("name", STRATEGIES)
def test_callers_of_another_format_are_answered(platform: Platform, name: str) -> None:
    for model in (f"chosen-{name}", f"mixed-{name}"):
        response = post(platform, "/v1/messages", {**chat(model), "max_tokens": 10})
        assert response.status == 200, response.body


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_session_is_in_flight_until_it_ends(platform: Platform, name: str) -> None:
    url = f"ws://127.0.0.1:{platform.port}/v1/realtime?model=live-{name}"
    headers = {"authorization": f"Bearer {ALL}"}
    with connect(url, additional_headers=headers, proxy=None) as session:
        assert json.loads(session.recv())["type"] == "session.created"
        if name not in ("weighted", "cheapest"):
            until(lambda: in_flight(platform, f"live-{name}") == 1, "the session is counted")
    until(lambda: in_flight(platform, f"live-{name}") == 0, "nothing is in flight")


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_caller_who_leaves_is_not_in_flight(platform: Platform, name: str) -> None:
    body = json.dumps(chat(f"chosen-{name}", stream=True)).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ALL}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", platform.port), 10) as sock:
            sock.sendall(head.encode() + body)
            sock.recv(1)
    until(lambda: in_flight(platform, f"chosen-{name}") == 0, "nothing is in flight")


def test_at_the_end_nothing_is_in_flight(platform: Platform) -> None:
    until(lambda: in_flight(platform, "") == 0, "nothing is in flight")


def in_flight(platform: Platform, entry: str) -> float:
    """The requests in flight at the targets of an entry of `models`, of all for ""."""
    url = f"http://127.0.0.1:{platform.gateway.telemetry}/metrics"
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        url, timeout=PATIENCE
    ) as page:
        text = page.read().decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "modelway_target_in_flight" and sample.labels["target"].startswith(entry)
    )
