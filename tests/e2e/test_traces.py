"""Traces and metrics of a real gateway, as a collector and an upstream see them."""

from __future__ import annotations

import re
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from tests.support.collector import Collector, collector
from tests.support.recording import Recorder, answer, ask, recorder, request
from tests.support.running import (
    ALL,
    CREDENTIAL,
    Running,
    environment,
    gateway,
    pointed_at,
    shipped,
)
from tests.support.waiting import until

CHAT = "/v1/chat/completions"
MESSAGE = "what-nobody-but-the-model-reads"
OTLP_SECRET = "the-collectors-own-secret"
USED = (
    b'{"id":"c","object":"chat.completion","created":1,"model":"gpt-4o","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"told-to-the-caller-alone"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}'
)
FIRST = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
UPSTREAMS = """
  nowhere:
    url: "http://127.0.0.1:9"
    credential: {bearer: "another-secret"}
    proxy: ""
models:
  failing-over: {to: [{upstream: nowhere, model: gone}], fallback: [gpt-4o]}
"""


@dataclass(frozen=True)
class Stage:
    """A gateway between an upstream and a collector."""

    gateway: Running
    upstream: Recorder
    collector: Collector
    metrics: Recorder | None = None

    def ask(self, model="gpt-4o", trace="", more="", flags="01", target=CHAT):
        """Send a request in a trace (by default a new one); the trace id and the response."""
        trace = trace or secrets.token_hex(16)
        messages = f'"messages":[{{"role":"user","content":"{MESSAGE}"}}]'
        body = f'{{"model":"{model}",{more}{messages}}}'
        headers = [f"traceparent: 00-{trace}-00f067aa0ba902b7-{flags}", "tracestate: vendor=x"]
        data = request(target, body.encode(), token=ALL, headers=headers)
        return trace, ask(self.gateway.port, data)


def config(folder, traces, more=""):
    text = shipped(folder).replace("\nmodels:", UPSTREAMS, 1).replace("workers: 2", "workers: 1")
    return f"{text}\ntelemetry: {{traces: {traces}{more}}}\n"


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("traces") / "project"
    with recorder() as upstream, collector() as receiver, recorder() as metrics:
        traces = f"{{endpoint: '{receiver.url}', headers: {{authorization: {OTLP_SECRET}}}}}"
        environ = pointed_at(upstream.url) | {"OTEL_SERVICE_NAME": "shop-gateway"}
        more = f", otlp_metrics: {{endpoint: '{metrics.url}', interval: 1s}}"
        with gateway(folder, config(folder, traces, more), environ) as front:
            yield Stage(front, upstream, receiver, metrics)


@pytest.fixture(autouse=True)
def fresh(request):
    if "stage" in request.fixturenames:
        stage = request.getfixturevalue("stage")
        stage.upstream.reset()
        stage.upstream.speak = answer(USED)


@pytest.fixture(scope="module")
def traced_request(stage):
    """One successful request: its response, the request at the upstream, and two spans."""
    stage.upstream.speak = answer(USED)
    trace, response = stage.ask()
    return response, stage.upstream.last, stage.collector.trace(trace, 2)


def test_a_trace_passes_through_the_gateway(traced_request):
    response, received, (server, client) = traced_request
    assert response.status == 200
    assert (server.parent_id, client.parent_id) == ("00f067aa0ba902b7", server.span_id)
    (parent,) = received.values("traceparent")
    assert parent == f"00-{server.trace_id}-{client.span_id}-01"
    assert received.values("tracestate") == ["vendor=x"]
    assert (server.name, server.kind) == ("openai.createChatCompletion", "server")
    assert (client.name, client.kind) == ("chat gpt-4o", "client")
    assert server.start <= client.start <= client.end <= server.end
    assert not server.error
    assert not client.error


def test_spans_say_what_the_conventions_have_names_for(stage, traced_request):
    response, _, (server, client) = traced_request
    expected = {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "modelway.token": "everything",
        "modelway.request_id": response.value("x-request-id"),
    }
    assert server.attributes | expected == server.attributes
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "server.address": "127.0.0.1",
        "server.port": stage.upstream.port,
        "http.response.status_code": 200,
    }
    assert client.attributes | expected == client.attributes


def test_the_resource_is_named_by_the_environment(stage, traced_request):
    assert stage.collector.resources()[0]["service.name"] == "shop-gateway"


def test_each_attempt_of_a_failover_is_seen(stage):
    trace, response = stage.ask("failing-over")
    assert response.status == 200
    server, first, second = stage.collector.trace(trace, 3)
    assert {first.parent_id, second.parent_id} == {server.span_id}
    assert (first.error, first.attributes["error.type"]) == (True, "connect")
    assert (first.attributes["modelway.upstream"], first.name) == ("nowhere", "chat gone")
    assert (second.error, second.attributes["modelway.upstream"]) == (False, "openai")
    assert second.attributes["http.request.resend_count"] == 1
    assert stage.upstream.last.values("traceparent") == [f"00-{trace}-{second.span_id}-01"]


def test_an_upstreams_error_is_one_of_the_attempt(stage):
    stage.upstream.speak = answer(b'{"error":{"message":"no"}}', status=404)
    trace, response = stage.ask()
    assert response.status == 404
    server, client = stage.collector.trace(trace, 2)
    assert (server.error, client.error) == (False, True)
    assert client.attributes["error.type"] == "404"


def test_a_stream_that_breaks_is_an_error_of_both(stage):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\n"

    def break_off(received, sock):
        sock.sendall(head + FIRST)
        sock.shutdown(socket.SHUT_RDWR)

    stage.upstream.speak = break_off
    trace = secrets.token_hex(16)
    with pytest.raises(EOFError):
        stage.ask(trace=trace, more='"stream":true,')
    server, client = stage.collector.trace(trace, 2)
    assert (server.error, client.error) == (True, True)
    assert client.attributes["error.type"] == server.attributes["error.type"] == "upstream_cut"
    assert client.attributes["gen_ai.request.stream"] is True
    assert client.attributes["gen_ai.response.time_to_first_chunk"] >= 0


def test_a_request_for_an_unknown_path_is_a_span(stage):
    trace, response = stage.ask(target="/nothing/here?key=not-for-spans")
    assert response.status == 404
    (server,) = stage.collector.trace(trace, 1)
    assert server.attributes["http.response.status_code"] == 404
    assert server.name == "POST"


def test_a_trace_that_is_not_sampled_is_propagated_and_not_exported(stage):
    trace, _ = stage.ask(flags="00")
    (parent,) = stage.upstream.last.values("traceparent")
    assert parent.startswith(f"00-{trace}-")
    assert parent.endswith("-00")
    trace_id, _ = stage.ask()
    stage.collector.trace(trace_id, 2)
    assert trace not in {span.trace_id for span in stage.collector.spans()}


def test_spans_are_posted_with_the_configured_headers(stage, traced_request):
    export = stage.collector.requests[-1]
    assert export.target == "/v1/traces"
    assert export.values("content-type") == ["application/x-protobuf"]
    assert export.values("authorization") == [OTLP_SECRET]


def test_exported_spans_are_counted_in_the_metrics(stage, traced_request):
    sent = re.compile(r"^modelway_trace_spans_sent_total [1-9]", re.MULTILINE)
    until(lambda: sent.search(metrics(stage)), "a count of spans")
    assert "modelway_trace_spans_lost_total 0.0" in metrics(stage)


def metrics(stage):
    return ask(stage.gateway.telemetry, request("/metrics")).body.decode()


def test_no_secret_and_no_text_of_a_chat_reaches_the_collector(stage):
    stage.ask(target=f"/v1/chat/completions?key={ALL}")
    trace, _ = stage.ask("failing-over")
    stage.collector.trace(trace, 3)
    exports = b"".join(request.body for request in stage.collector.requests)
    for secret in (ALL, CREDENTIAL, "another-secret", MESSAGE, "told-to-the-caller-alone"):
        assert secret.encode() not in exports
    assert OTLP_SECRET not in stage.gateway.output()


def test_pending_spans_are_exported_when_the_worker_stops(tmp_path):
    with recorder() as upstream, collector() as receiver:
        upstream.speak = answer(USED)
        traces = f"{{endpoint: '{receiver.url}', sample: 1}}"
        text = config(tmp_path / "p", traces)
        with gateway(tmp_path / "p", text, pointed_at(upstream.url)) as front:
            trace, _ = Stage(front, upstream, receiver).ask()
            front.process.terminate()
            front.process.wait(20)
        assert len(receiver.trace(trace, 2)) == 2


def test_a_collector_that_is_away_slows_nobody(tmp_path):
    with recorder() as upstream, recorder() as silent:
        upstream.speak = answer(USED)
        answers = threading.Event()
        silent.speak = lambda received, sock: answers.wait()
        text = config(tmp_path / "p", f"{{endpoint: '{silent.url}'}}")
        with gateway(tmp_path / "p", text, pointed_at(upstream.url)) as front:
            stage = Stage(front, upstream, Collector(silent))
            until(lambda: stage.ask()[1].status == 200 and silent.requests, "an export")
            for _ in range(50):
                assert stage.ask()[1].status == 200
            answers.set()  # only now


def exported_requests(metrics):
    """How many requests the newest export of metrics has counted, and by which service."""
    for received in reversed(list(metrics.requests)):
        assert received.target == "/v1/metrics"
        message = ExportMetricsServiceRequest.FromString(received.body)
        for resource in message.resource_metrics:
            service = {p.key: p.value.string_value for p in resource.resource.attributes}
            for metric in resource.scope_metrics[0].metrics:
                if metric.name == "modelway_requests":
                    points = metric.sum.data_points
                    return service["service.name"], sum(point.as_double for point in points)
    return None


def test_metrics_are_exported_as_well(stage):
    assert stage.ask()[1].status == 200
    before = exported_requests(stage.metrics) or ("", 0.0)
    for _ in range(3):
        assert stage.ask()[1].status == 200
    until(
        lambda: (exported_requests(stage.metrics) or ("", 0.0))[1] >= before[1] + 3,
        "an export of the metrics",
    )
    assert exported_requests(stage.metrics)[0] == "shop-gateway"


def test_without_the_key_nothing_of_opentelemetry_is_imported(tmp_path):
    folder = tmp_path / "p"
    text = shipped(folder)
    (folder / "gateway.yaml").write_text(text.replace("{listen}", "127.0.0.1:0"))
    code = (
        "import os, sys; from pathlib import Path; "
        "from engine.plan.assembly.make_plan import make_plan; "
        "from engine.app.build import build; "
        "app = build(make_plan(Path('gateway.yaml'), os.environ).plan); "
        "print([m for m in sys.modules if m.split('.')[0] in ('opentelemetry', 'google') "
        "or m == 'engine.app.services.exporters' "
        "or m in ('engine.telemetry.tracing.otlp', 'engine.telemetry.tracing.exporter')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(pointed_at("http://x")),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.stdout.strip() == "[]", result.stderr
