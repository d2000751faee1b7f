"""Log, metrics and health of a gateway: exact counts, no secrets, no blocking on slow readers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from tests.support.crowd import crowd, traffic
from tests.support.ports import free_port
from tests.support.recording import Recorder, Wire, answer, ask, recorder, request
from tests.support.running import (
    ALL,
    PATIENCE,
    Platform,
    Running,
    engine,
    environment,
    gateway,
)
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import under_load, until

OPERATION = "small.chat"
MISSING = request("/nowhere", token=ALL)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(autouse=True)
def _fresh(upstream: Recorder) -> None:
    upstream.reset()
    upstream.speak = answer(json.dumps(COMPLETION).encode())


@contextmanager
def running(
    folder: Path, upstream: Recorder, more: str = "", workers: int = 2
) -> Iterator[Running]:
    text = project(folder, upstream.url, {"chat": "[]"}, more=more, workers=workers)
    with gateway(folder, text) as process:
        yield process


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("telemetry"), upstream) as process:
        yield process


def metric(port: int, name: str, **labels: str) -> float:
    """The sum of a metric's samples that have these labels."""
    page = ask(port, request("/metrics")).body.decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def ended(port: int, **labels: str) -> float:
    return metric(port, "modelway_requests_total", operation=OPERATION, **labels)


def lines(output: str) -> list[dict[str, Any]]:
    """The lines of the access log."""
    return [json.loads(line) for line in output.splitlines() if '"request_id"' in line]


def line_of(front: Running, name: str) -> dict[str, Any]:
    """The one line of a request."""

    def lines_of_request() -> list[dict[str, Any]]:
        return [line for line in lines(front.output()) if line["request_id"] == name]

    (line,) = until(lines_of_request, f"a line of {name}")
    return dict(line)


# Every request once


def test_counters_are_exact_over_four_workers_with_one_killed(tmp_path, upstream):
    with running(tmp_path, upstream, workers=4) as front:
        until(lambda: metric(front.telemetry, "modelway_workers") == 4, "four workers")
        assert crowd([front.port], chat(), 300) == {200: 300}
        until(lambda: ended(front.telemetry) == 300, "all are counted")
        until(lambda: front.output().count(OPERATION) == 300, "all are in the log")
        killed = front.workers()[0]
        os.kill(killed, signal.SIGKILL)
        until(lambda: len(set(front.workers()) - {killed}) == 4, "another in its place")
        assert ended(front.telemetry) == 300
        assert crowd([front.port], chat(), 300) == {200: 300}
        until(
            lambda: ended(front.telemetry, status="2xx", outcome="complete") == 600,
            "all are counted",
        )
        assert metric(front.telemetry, "modelway_request_duration_seconds_count") >= 600
        assert metric(front.telemetry, "modelway_tokens_total", type="input") == 600 * 7
        until(lambda: metric(front.telemetry, "modelway_workers") == 4, "the dead one is not there")
        until(lambda: front.output().count(OPERATION) == 600, "all are in the log")
        names = {line["request_id"] for line in lines(front.output())}
        assert len(names) == len(lines(front.output()))


def test_a_worker_killed_under_load_loses_only_requests_in_flight(tmp_path, upstream):
    with running(tmp_path, upstream) as front:
        with traffic(front.port, chat()) as load:
            until(lambda: load.count(200) > 100, "some answers")
            os.kill(front.workers()[0], signal.SIGKILL)
            before = load.count(200)
            until(lambda: load.count(200) > before + 100, "more answers")
        responses, callers = load.count(200), 4
        until(lambda: ended(front.telemetry) >= responses - callers, "all are counted")
        assert ended(front.telemetry) <= responses + load.broken


def test_an_orderly_end_leaves_nothing_behind(tmp_path, upstream):
    with running(tmp_path, upstream) as front:
        crowd([front.port], chat(), 50)
        front.process.send_signal(signal.SIGTERM)
        front.process.wait(under_load())
        assert front.output().count(OPERATION) == 50
        assert list(Path("/dev/shm").glob(f"modelway-metrics-*-{front.process.pid}-*")) == []


def test_malformed_requests_are_logged_and_counted(front):
    before = metric(front.telemetry, "modelway_requests_total", operation="")
    missed = ask(front.port, MISSING)
    garbage = ask(front.port, b"GARBAGE\r\n\r\n")
    bare = ask(front.port, b"GET /v1/chat/completions HTTP/1.1\r\n\r\n")  # without Host
    for response, status in ((missed, 404), (garbage, 400), (bare, 400)):
        assert response.status == status
        line = line_of(front, response.value("x-request-id"))
        assert (line["status"], line["outcome"], line["operation"]) == (status, "refused", "")
    until(
        lambda: metric(front.telemetry, "modelway_requests_total", operation="") == before + 3,
        "three more",
    )


def test_a_line_has_token_operation_target_and_cost(tmp_path, upstream):
    with running(tmp_path, upstream, "prices: {one: {input: 1000, output: 2000}}") as front:
        response = ask(front.port, chat())
        line = line_of(front, response.value("x-request-id"))
        assert (line["token"], line["operation"], line["model"]) == ("everything", OPERATION, "one")
        assert (line["target"], line["status"], line["outcome"]) == ("main", 200, "complete")
        assert line["usage"] == {"input": 7, "output": 3, "cached": 0, "source": "upstream"}
        assert line["cost"] == pytest.approx(0.013)
        assert 0 < line["own"] < line["duration"]
        assert line["bytes_in"] > 0
        assert line["bytes_out"] == len(response.body)
        failure = ask(front.port, chat(model="gone"))
        line = line_of(front, failure.value("x-request-id"))
        assert (line["status"], line["outcome"]) == (502, "failed")
        assert [one["failure"] for one in line["attempts"]] == ["connect"]


def test_a_session_is_one_line_with_what_passed(platform: Platform):
    url = f"ws://127.0.0.1:{platform.port}/v1/realtime?model=gpt-realtime"
    with connect(url, additional_headers={"Authorization": f"Bearer {ALL}"}, proxy=None) as session:
        session.recv(PATIENCE)
        session.send('{"type": "session.update", "session": {"type": "realtime"}}')
        session.recv(PATIENCE)
        session.close(4321, "enough")

    def sessions() -> list[dict[str, Any]]:
        entries = [line.get("websocket") for line in lines(platform.gateway.output())]
        return [each for each in entries if each is not None and each["code"] == 4321]

    (entry,) = until(sessions, "the session's line")
    assert (entry["messages_in"], entry["messages_out"] >= 2) == (1, True)
    assert entry["seconds"] > 0


# Times


def test_the_histogram_agrees_with_the_callers_clock(front, upstream):
    def slowly(received: Any, sock: Any) -> None:
        time.sleep(0.05)
        answer(json.dumps(COMPLETION).encode())(received, sock)

    upstream.speak = slowly
    name = "modelway_request_duration_seconds"
    labels = {"operation": OPERATION}
    before = [metric(front.telemetry, f"{name}_{part}", **labels) for part in ("sum", "count")]
    start = time.perf_counter()
    with Wire(front.port) as wire:
        for _ in range(20):
            wire.send(chat())
            assert wire.answer().status == 200
    until(
        lambda: metric(front.telemetry, f"{name}_count", **labels) == before[1] + 20, "twenty more"
    )
    seconds = time.perf_counter() - start
    assert 20 * 0.05 <= metric(front.telemetry, f"{name}_sum", **labels) - before[0] <= seconds
    own = metric(front.telemetry, "modelway_gateway_overhead_seconds_sum", **labels)
    assert 0 < own < metric(front.telemetry, f"{name}_sum", **labels) - 20 * 0.05


# Secrets and forged lines

SECRETS = {
    "token": ALL,
    "credential": "sk-credential-0001",
    "unknown token": "mw-unknown-0002",
    "query token": "query-token-0003",
    "subprotocol": "subprotocol-token-0004",
    "database": "database-password-0005",
    "redis": "redis-password-0006",
    "forwarded": "forwarded-secret-0007",
}


def test_no_secret_is_in_any_output(tmp_path, upstream):
    more = f"""
telemetry: {{log: {{level: debug}}, access_log: {{fields: [request_id, path, query, token, code]}}}}
stores:
  records: "postgresql+psycopg://u:{SECRETS["database"]}@127.0.0.1:9/x"
  counters: "redis://:{SECRETS["redis"]}@127.0.0.1:9/0"
policies: [rate_limit: {{requests: 1000, per: 1m}}]
"""
    text = project(tmp_path, upstream.url, {"chat": "[]"}, more=more)
    text = text.replace(
        'main: {url: "', f'main: {{credential: {{bearer: {SECRETS["credential"]}}}, url: "'
    ).replace("dialect: openai}", "dialect: openai, token: [bearer, {query: key}]}", 1)
    with gateway(tmp_path, text) as front:
        query, path = SECRETS["query token"], "/v1/chat/chat/completions"
        body = b'{"model": "one", "messages": []}'
        chats = [
            chat(),
            chat(model="gone"),
            chat(token=SECRETS["unknown token"]),
            request(f"{path}?key={ALL}", body),
            request(f"{path}?key={query}", body),
            request(f"/nowhere?key={query}&access_token={query}&{query}"),
            request(f"{path}/%zz?token={query}"),
            b"GET /x?key=%s HTTP/1.1\r\nHost : x\r\n\r\n" % query.encode(),
            request(
                path,
                headers=[
                    "Upgrade: websocket",
                    "Connection: Upgrade",
                    f"Sec-WebSocket-Protocol: openai-insecure-api-key.{SECRETS['subprotocol']}",
                ],
            ),
            request(path, body, headers=[f"X-Api-Key: {SECRETS['forwarded']}"], token=ALL),
        ]
        answers = [ask(front.port, data) for data in chats]
        assert answers[0].status == answers[3].status == 200
        pages = [ask(front.telemetry, request(p)).body for p in ("/metrics", "/readyz")]
        until(lambda: len(lines(front.output())) >= len(chats), "all lines")
        everything = front.output() + b"".join(pages).decode()
        assert "127.0.0.1:9" in everything, "the stores are away, and that is told"
    assert [name for name, secret in SECRETS.items() if secret in everything] == []


def test_a_caller_cannot_forge_a_line(front):
    forged = '{"request_id":"req_forged","status":200}'
    quoted = forged.replace('"', "%22")
    targets = [
        f"/v1/%0d%0a{quoted}",
        f"/x?a=%0a{quoted}",
        b"/\x1b[2J",
        "/ü".encode("latin-1"),
    ]
    before = len(lines(front.output()))
    model = f'one\n{forged}\r\n\u2028\x1b[31m\x7f"\\'
    requests = [chat(model=model), *(request(target) for target in targets)]
    for data in requests:
        ask(front.port, data)
    until(lambda: len(lines(front.output())) >= before + len(requests), "a line for each")
    output = front.output()
    assert "req_forged" not in {line["request_id"] for line in lines(output)}
    assert re.fullmatch(r"[ -~\n]*", output)
    assert len(lines(output)) == before + len(requests)


# Slow readers


def test_a_reader_that_never_reads_stalls_nobody(tmp_path, upstream):
    port = free_port()
    text = project(tmp_path, upstream.url, {"chat": "[]"}, workers=1)
    text += "\ntelemetry: {listen: public}\n"
    (tmp_path / "gateway.yaml").write_text(text.replace("{listen}", f"127.0.0.1:{port}"))
    process = subprocess.Popen(
        [str(word) for word in engine("serve")],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:

        def answers() -> bool:
            try:
                return ask(port, request("/healthz")).status == 200
            except OSError:
                return False

        until(answers, "it answers")
        count = 2500  # lines of some 500 bytes: a pipe holds 64 KB, and 1 MB waits
        assert crowd([port], MISSING, count) == {404: count}
        assert metric(port, "modelway_log_lines_dropped_total") > 100
        assert metric(port, "modelway_requests_total", operation="") == count
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(
    ("settings", "pattern"),
    [
        ("{format: 'off'}", r"(?s)(?!.*request_id).*"),
        (
            "{format: text, fields: [status, operation]}",
            r"(?s).*status=200 operation=small\.chat\n",
        ),
        ("{sample: 0}", r"(?s)(?!.*small\.chat).*"),
    ],
)
def test_the_access_log_is_what_the_config_says(tmp_path, upstream, settings, pattern):
    with running(tmp_path, upstream, f"telemetry: {{access_log: {settings}}}", workers=1) as front:
        assert ask(front.port, chat()).status == 200
        until(lambda: ended(front.telemetry) == 1, "it is over")
        time.sleep(0.05)  # by now an unwanted line would have come
        until(lambda: re.fullmatch(pattern, front.output()), "what the config says")


# Health


def test_health_and_readiness(front):
    assert ask(front.port, request("/healthz")).body == b"ok\n"
    ready = ask(front.telemetry, request("/readyz"))
    assert ready.status == 200
    details = ready.json()
    assert details["status"] == "ready"
    assert re.fullmatch("[0-9a-f]{12}", details["config"]["hash"])
    assert 0 <= details["config"]["age"] < 600
    assert ask(front.port, request("/healthz", method="HEAD")).status == 200
    assert ask(front.port, request("/healthz", b"{}")).status == 404


def test_metrics_are_refused_to_proxied_requests(front):
    through = ["X-Forwarded-For: 127.0.0.1"]
    assert ask(front.telemetry, request("/metrics", headers=through)).status == 403
    assert ask(front.telemetry, request("/readyz", headers=through)).body == b"ready\n"


def test_stores_that_requests_cannot_do_without_make_it_unready(tmp_path, upstream):
    more = """
stores: {counters: "redis://127.0.0.1:9/0", on_store_failure: deny}
policies: [rate_limit: {requests: 10, per: 1m}]
"""
    with running(tmp_path, upstream, more, workers=1) as front:
        ready = ask(front.telemetry, request("/readyz"))
        assert ready.status == 503
        assert "redis at 127.0.0.1:9" in ready.json()["stores"]["counters"]
        assert ask(front.port, chat()).status == 503


def test_reported_violations_are_counted_and_logged(tmp_path, upstream):
    config = project(tmp_path, upstream.url, {"chat": "[]"})
    config = config.replace("{operation: small.chat,", "{operation: small.chat, validate: report,")
    with gateway(tmp_path, config) as front:
        for _ in range(3):
            assert ask(front.port, chat(max_tokens="many, said he")).status == 200
        counted = {"operation": "small.chat", "part": "request", "code": "invalid_type"}
        until(
            lambda: metric(front.telemetry, "modelway_would_reject_total", **counted) == 3,
            "three that would have been refused",
        )
        output = front.output()
        assert 1 <= output.count("small.chat would refuse it (invalid_type at 'max_tokens')") <= 2
        assert "said he" not in output
