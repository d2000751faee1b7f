"""Limits with real workers and SDKs, by exact counts."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anthropic
import openai
import pytest
from google import genai

from engine.values.calendar import SECOND, Calendar
from tests.support.books import Books, Row
from tests.support.crowd import crowd
from tests.support.recording import HttpAnswer, Recorder, Wire, answer, ask, recorder, request
from tests.support.running import (
    ALL,
    Platform,
    Running,
    gateway,
    mock,
    modelway,
    patient,
    pointed_at,
    replaced,
    shipped,
)
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import scale
from tests.support.waiting import PATIENCE, until

PRICES = """
prices:
  one: {input: 1000, output: 2000}
"""
ROUTES = {
    "plain": "[rate_limit: {requests: 3, per: 1h}]",
    "per-model": "[rate_limit: {requests: 2, per: 1h, by: model}]",
    "per-upstream": "[rate_limit: {requests: 2, per: 1h, by: upstream}]",
    "per-route": "[rate_limit: {requests: 2, per: 1h, by: route}]",
    "all": "[rate_limit: {requests: 2, per: 1h, by: all}]",
    "refunded": "[rate_limit: {requests: 2, per: 1h}]",
    "left": "[rate_limit: {requests: 2, per: 1h}]",
    "slots": "[concurrency: {requests: 2, by: all}]",
    "killed": "[concurrency: {requests: 2, by: all}]",
    "money": "[spend_limit: {amount: 1.1, per: 30d}]",
    "budget": "[token_budget: {tokens: 200, per: 1d}]",
    "several": "[rate_limit: {requests: 9, per: 1h}, rate_limit: {requests: 5, per: 1m, by: all}]",
    "kept": "[rate_limit: {requests: 4, per: 1h}]",
    "own": "[]",
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("limits")
    more = PRICES + 'stores: {records: "sqlite:///records.db"}\n'
    with gateway(folder, project(folder, upstream.url, ROUTES, more=more)) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(upstream: Recorder) -> None:
    upstream.reset()
    upstream.speak = answer(json.dumps(COMPLETION).encode())


def statuses(port: int, *requests: bytes) -> list[int]:
    return [ask(port, data).status for data in requests]


def error(response: HttpAnswer) -> dict[str, str]:
    return dict(response.json()["error"])


# The count is exact


def cpu(pid: int) -> int:
    """CPU of a process, in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def metrics_page(running: Running) -> bytes:
    return ask(running.telemetry, request("/metrics")).body


def test_of_many_requests_through_four_workers_as_many_pass_as_the_limit_says(
    tmp_path: Path, upstream: Recorder
) -> None:
    limit = scale(300, 1000)
    routes = {"chat": f"[rate_limit: {{requests: {limit}, per: 1h}}]"}
    config = project(tmp_path, upstream.url, routes, workers=4)
    with gateway(tmp_path, config) as running:
        until(lambda: b"\nmodelway_workers 4" in metrics_page(running), "four workers")
        before = {pid: cpu(pid) for pid in running.workers()}
        statuses = crowd([running.port], chat(), 10 * limit, callers=32)
        busy = [pid for pid, ticks in before.items() if cpu(pid) > ticks + 2]
    assert statuses == {200: limit, 429: 9 * limit}
    assert len(upstream.requests) == limit
    assert len(busy) > 1, "one worker answered all: this tells nothing of counting together"


# Headers


def test_headers_have_the_state_of_a_limit(front: Running) -> None:
    every = [ask(front.port, chat("plain")) for _ in range(4)]
    assert [each.status for each in every] == [200, 200, 200, 429]
    assert [each.value("x-ratelimit-limit-requests") for each in every] == ["3"] * 4
    assert [each.value("x-ratelimit-remaining-requests") for each in every] == ["2", "1", "0", "0"]
    for each in every:
        reset = each.value("x-ratelimit-reset-requests")
        assert 3400 < float(reset.removesuffix("s")) <= 3600 * 33 / 32, reset
    assert all(not each.values("retry-after") for each in every[:3])
    wait = float(every[3].value("x-ratelimit-reset-requests").removesuffix("s"))
    assert -0.001 <= int(every[3].value("retry-after")) - wait <= 1.001  # it is rounded up
    assert error(every[3])["code"] == "rate_limit_exceeded"
    assert error(every[3])["message"] == "Limit reached: 3 requests per 1 hour for this token."


def test_headers_describe_the_limit_nearest_to_its_end(front: Running) -> None:
    response = ask(front.port, chat("several"))
    assert response.value("x-ratelimit-limit-requests") == "5"


def test_an_unknown_token_takes_nothing_of_a_limit(front: Running) -> None:
    data = chat("several", token="mw-nobody")
    refusals = [ask(front.port, data) for _ in range(12)]
    assert {each.status for each in refusals} == {401}
    assert not any(each.values("x-ratelimit-limit-requests") for each in refusals)
    assert ask(front.port, chat("several")).status == 200


# Shared limits


@pytest.mark.parametrize(
    ("name", "requests", "expected"),
    [
        (
            "per-model",
            [("one", ALL), ("one", ALL), ("one", ALL), ("two", ALL)],
            [200, 200, 429, 200],
        ),
        (
            "per-upstream",
            [("two", ALL), ("two", ALL), ("two", ALL), ("one", ALL)],
            [200, 200, 429, 200],
        ),
        ("per-route", [("one", ALL), ("two", ALL), ("one", ALL)], [200, 200, 429]),
        ("all", [("one", ALL), ("two", ALL), ("one", ALL)], [200, 200, 429]),
    ],
)
def test_who_shares_a_limit(
    front: Running, name: str, requests: list[tuple[str, str]], expected: list[int]
) -> None:
    data = [chat(name, model=model, token=token) for model, token in requests]
    assert statuses(front.port, *data) == expected


def test_a_token_of_the_database_has_limits_of_its_own(front: Running) -> None:
    folder = front.log.parent
    result = modelway("token", "create", "--name", "two-only", "--rate", "2/1h", cwd=folder)
    assert result.returncode == 0, result.stderr
    data = chat("own", token=result.stdout.strip())
    assert statuses(front.port, *[data] * 4) == [200, 200, 429, 429]
    assert "for this token" in error(ask(front.port, data))["message"]
    assert ask(front.port, chat("own")).status == 200


# Refunds


def test_a_request_that_reached_no_upstream_is_not_counted(front: Running) -> None:
    assert statuses(front.port, *[chat("refunded", model="gone")] * 5) == [502] * 5
    assert statuses(front.port, *[chat("refunded")] * 3) == [200, 200, 429]


def test_a_caller_who_leaves_has_used_what_reached_an_upstream(
    front: Running, upstream: Recorder
) -> None:
    arrived, leave = threading.Event(), threading.Event()

    def hold(received: object, sock: object) -> None:
        arrived.set()
        leave.wait(20)

    upstream.speak = hold
    for _ in range(2):
        arrived.clear()
        with Wire(front.port) as wire:
            wire.send(chat("left"))
            assert arrived.wait(10)
    leave.set()
    upstream.speak = answer(json.dumps(COMPLETION).encode())
    # Until the gateway has seen the caller leave, the request holds its reservation.
    assert ask(front.port, chat("left")).status == 429

    books = Books(front.log.parent)

    def rows_of_left() -> list[Row]:
        cancelled = ("small.left", 499)
        return [r for r in books.rows().values() if (r["operation"], r["status"]) == cancelled]

    until(lambda: len(rows_of_left()) == 2, "rows of those who left")
    rows = rows_of_left()
    assert ask(front.port, chat("left")).status == 429
    assert {row["outcome"] for row in rows} == {"caller_left"}
    assert {row["upstream"] for row in rows} == {"main"}
    assert all(row["input"] > 0 and row["source"] == "estimated" for row in rows)


# Concurrency


@contextmanager
def in_progress(front: Running, upstream: Recorder, name: str, count: int) -> Iterator[list[Wire]]:
    """`count` requests in flight, each on a connection of its own."""
    arrived, go_on = threading.Semaphore(0), threading.Event()
    respond = answer(json.dumps(COMPLETION).encode())

    def hold(received: object, sock: object) -> None:
        arrived.release()
        go_on.wait()
        respond(received, sock)  # type: ignore[arg-type]

    upstream.speak = hold
    wires = [Wire(front.port) for _ in range(count)]
    try:
        for wire in wires:
            wire.send(chat(name))
            assert arrived.acquire(timeout=PATIENCE)
        upstream.speak = respond
        yield wires
    finally:
        go_on.set()
        for wire in wires:
            wire.__exit__()


def test_a_concurrency_limit_is_exact(front: Running, upstream: Recorder) -> None:
    with in_progress(front, upstream, "slots", 2) as wires:
        refusals = [ask(front.port, chat("slots")) for _ in range(4)]
        assert {each.status for each in refusals} == {429}
        assert error(refusals[0])["code"] == "concurrency_limit_exceeded"
        assert "2 for all callers together" in error(refusals[0])["message"]
        assert refusals[0].value("retry-after") == "1"
        wires[0].__exit__()  # one request ends
        until(lambda: ask(front.port, chat("slots")).status == 200, "the slot of one who left")
        assert len(upstream.requests) == 3
    until(lambda: statuses(front.port, *[chat("slots")] * 3) == [200] * 3, "all slots")


def test_slots_of_a_killed_worker_come_back(front: Running, upstream: Recorder) -> None:
    with in_progress(front, upstream, "killed", 2):
        assert ask(front.port, chat("killed")).status == 429
        for pid in front.workers():
            os.kill(pid, signal.SIGKILL)
        until(lambda: passes(front.port, chat("killed")), "a slot")
        with in_progress(front, upstream, "killed", 2):
            assert ask(front.port, chat("killed")).status == 429


def passes(port: int, data: bytes) -> bool:
    """Whether a request passes; False while no worker answers."""
    try:
        return ask(port, data).status == 200
    except (OSError, AssertionError):
        return False


# Money and tokens


def test_money_is_402(front: Running) -> None:
    """7 tokens at 1000 and 3 at 2000 for a million are 0.013; an estimate of 16 bytes and one token
    at 2000 is less."""
    data = chat("money", max_tokens=500)
    first = ask(front.port, data)
    assert first.status == 200
    every = statuses(front.port, *[data] * 12)
    assert set(every) <= {200, 402}
    assert every[-1] == 402
    assert every == sorted(every), "once it is used up it stays so"
    refusal = ask(front.port, data)
    assert error(refusal)["code"] == "budget_exceeded"
    assert "The budget of this token for 30 days is used up" in error(refusal)["message"]
    assert int(refusal.value("retry-after")) > 86_400
    assert refusal.value("x-should-retry") == "false"


def test_a_budget_reserves_an_estimate_and_charges_what_was_used(front: Running) -> None:
    data = chat("budget", max_tokens=100)
    first = ask(front.port, data)
    tokens_left = int(first.value("x-ratelimit-remaining-tokens"))
    assert first.value("x-ratelimit-limit-tokens") == "200"
    assert 60 < tokens_left < 100, "100 of output and the body are held back"
    second = ask(front.port, data)
    assert int(second.value("x-ratelimit-remaining-tokens")) == tokens_left - 10, "10 were used"


def test_a_request_whose_estimate_exceeds_the_whole_budget(front: Running) -> None:
    with (
        openai.OpenAI(base_url=f"{front.url}/v1/budget", api_key=ALL) as client,
        pytest.raises(openai.RateLimitError, match="Ask for fewer") as excinfo,
    ):
        client.chat.completions.create(
            model="one", messages=[{"role": "user", "content": "x"}], max_tokens=100_000
        )
    assert excinfo.value.code == "token_budget_exceeded"
    assert "the limit of this token is 200 per 1 day" in str(excinfo.value)
    assert excinfo.value.response.headers["x-should-retry"] == "false"
    assert "retry-after" not in excinfo.value.response.headers


# Restarts


def test_a_count_survives_sighup_and_a_restart(tmp_path: Path, upstream: Recorder) -> None:
    config = project(tmp_path, upstream.url, {"kept": ROUTES["kept"]})
    with gateway(tmp_path, config) as running:
        assert statuses(running.port, chat("kept")) == [200]
        before = set(running.workers())
        running.process.send_signal(signal.SIGHUP)
        until(
            lambda: len(running.workers()) == 2 and not before & set(running.workers()),
            "new workers",
        )
        until(lambda: passes(running.port, chat("kept")), "an answer of a new worker")
    with gateway(tmp_path, config) as running:
        assert statuses(running.port, *[chat("kept")] * 3) == [200, 200, 429]


def test_the_count_of_a_month_lasts_over_a_restart_in_another_time_zone(
    tmp_path: Path, upstream: Recorder
) -> None:
    def monthly(zone: str) -> str:
        limit = f"rate_limit: {{requests: 3, per: month, time_zone: {zone}}}"
        return project(tmp_path, upstream.url, {"monthly": f"[{limit}]"})

    with gateway(tmp_path, monthly("UTC")) as running:
        first = ask(running.port, chat("monthly"))
        _, end = Calendar("month").window(time.time_ns() // 1000)
        reset = float(first.value("x-ratelimit-reset-requests").removesuffix("s"))
        assert time.time() + reset == pytest.approx(end / SECOND, abs=20)
    with gateway(tmp_path, monthly("Asia/Tokyo")) as running:
        assert statuses(running.port, *[chat("monthly")] * 3) == [200, 200, 429]
        refusal = ask(running.port, chat("monthly"))
    assert "The next month begins at " in error(refusal)["message"]


# The official SDKs


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """The shipped gateway with a limit of three requests, and the mock."""
    folder = tmp_path_factory.mktemp("sdks")
    config = shipped(folder / "project")
    rule = "\npolicies: [{rate_limit: {requests: 1, per: 1h, by: route}}]\n"
    config = replaced(config, "\npolicies:.*\n.*\n", rule)
    with (
        mock(folder) as behind,
        gateway(folder / "project", patient(config), pointed_at(behind.url)) as front,
    ):
        yield Platform(front, behind, folder)


def test_openai_raises_its_rate_limit_error(limited: Platform) -> None:
    with openai.OpenAI(base_url=f"{limited.url}/v1", api_key=ALL, max_retries=0) as client:
        turn = {"role": "user", "content": "hello"}
        response = client.chat.completions.with_raw_response.create(model="gpt-4o", messages=[turn])
        assert response.headers["x-ratelimit-remaining-requests"] == "0"
        with pytest.raises(openai.RateLimitError, match="1 requests per 1 hour") as excinfo:
            client.chat.completions.create(model="gpt-4o", messages=[turn])
        assert excinfo.value.code == "rate_limit_exceeded"
        with pytest.raises(openai.RateLimitError, match="1 requests per 1 hour"):
            client.chat.completions.create(model="gpt-4o", messages=[turn], stream=True)


def test_anthropic_raises_its_rate_limit_error(limited: Platform) -> None:
    with anthropic.Anthropic(base_url=limited.url, api_key=ALL, max_retries=0) as client:
        turn = {"role": "user", "content": "hello"}
        client.messages.create(model="claude-sonnet", max_tokens=9, messages=[turn])
        with pytest.raises(anthropic.RateLimitError, match="1 requests per 1 hour") as excinfo:
            client.messages.create(model="claude-sonnet", max_tokens=9, messages=[turn])
        assert excinfo.value.body["error"]["type"] == "rate_limit_error"  # type: ignore[index]


def test_gemini_raises_429(limited: Platform) -> None:
    options = genai.types.HttpOptions(base_url=limited.url)
    client = genai.Client(api_key=ALL, http_options=options)
    client.models.generate_content(model="gemini-2.5-flash", contents="hello")
    with pytest.raises(genai.errors.ClientError, match="1 requests per 1 hour") as excinfo:
        client.models.generate_content(model="gemini-2.5-flash", contents="hello")
    assert excinfo.value.code == 429
    assert excinfo.value.status == "RESOURCE_EXHAUSTED"
