"""Limits counted in Redis: exact through two gateways, and bounded during outages."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import redis_server
from tests.support.crowd import crowd, traffic
from tests.support.recording import Recorder, Wire, answer, assert_refused, recorder
from tests.support.redis_server import RedisServer
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import scale, some
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(redis_server.BINARY is None, reason=redis_server.WHY_NOT)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = answer(json.dumps(COMPLETION).encode())
        yield recording


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


def serve(
    stack: ExitStack,
    folder: Path,
    upstream: Recorder,
    redis: RedisServer,
    more: str = "",
    workers: int = 2,
    policies: str = "[rate_limit: {requests: 1000, per: 1h}]",
) -> Running:
    folder.mkdir()
    stores = f'stores: {{counters: "{redis.url}"{more}}}\n'
    config = project(folder, upstream.url, {"chat": policies}, more=stores, workers=workers)
    # The upstream shares a process with hundreds of callers.
    config = config.replace("timeouts: {", "timeouts: {connect: 30s, ")
    return stack.enter_context(gateway(folder, config))


def test_of_many_requests_through_two_gateways_as_many_pass_as_the_limit_says(
    tmp_path: Path, upstream: Recorder, redis: RedisServer
) -> None:
    upstream.requests.clear()
    limit = scale(200, 1000)
    policies = f"[rate_limit: {{requests: {limit}, per: 1h}}]"
    with ExitStack() as stack:
        gateways = [
            serve(stack, tmp_path / name, upstream, redis, workers=1, policies=policies)
            for name in ("one", "two")
        ]
        statuses = crowd([each.port for each in gateways], chat(), 10 * limit, callers=4)
    assert statuses == {200: limit, 429: 9 * limit}
    assert len(upstream.requests) == limit


def test_a_start_warns_of_nothing(tmp_path: Path, upstream: Recorder, redis: RedisServer) -> None:
    with ExitStack() as stack:
        started = serve(stack, tmp_path / "one", upstream, redis)
        assert "Warning" not in started.output()


@pytest.mark.parametrize("how", ["allow", "deny"])
def test_redis_goes_away_and_comes_back(
    tmp_path: Path, upstream: Recorder, redis: RedisServer, how: str
) -> None:
    expected = 200 if how == "allow" else 503
    with ExitStack() as stack:
        more = f", on_store_failure: {how}"
        front = serve(stack, tmp_path / "one", upstream, redis, more)
        # Each connection stays with one worker: with so many, both workers are used.
        wires = [stack.enter_context(Wire(front.port)) for _ in range(6)]
        until(lambda: counted(wires) == {True}, "limits")
        redis.pause()
        for wire in 10 * wires:
            assert_uncounted(wire, expected)
        redis.go_on()
        until(lambda: counted(wires) == {True}, "limits again, after a pause")
        redis.kill()
        for wire in 10 * wires:
            assert_uncounted(wire, expected)
        redis.start()
        until(lambda: counted(wires) == {True}, "limits again, after a restart")
        assert 1 <= front.output().count("the counters are unavailable") <= 2, (
            "once a minute, each worker"
        )
        does = "pass uncounted" if how == "allow" else "are refused"
        assert f"requests with limits {does}" in front.output()
        assert "Traceback" not in front.output()


def counted(wires: list[Wire]) -> set[bool]:
    """Whether responses have headers of the limit: they do if Redis counted it."""
    states = set()
    for wire in wires:
        wire.send(chat())
        states.add(bool(wire.answer("POST").values("x-ratelimit-limit-requests")))
    return states


def assert_uncounted(wire: Wire, status: int) -> None:
    """Assert that a request is answered during an outage of Redis, which never answers."""
    wire.send(chat())
    response = wire.answer("POST")
    assert response.status == status
    assert not response.values("x-ratelimit-limit-requests")
    if status == 503:
        assert_refused(response, 503, "counters_unavailable")
        assert response.value("retry-after") == "1"


def test_a_gateway_begins_without_redis(
    tmp_path: Path, upstream: Recorder, redis: RedisServer
) -> None:
    redis.kill()
    with ExitStack() as stack:
        front = serve(stack, tmp_path / "one", upstream, redis, ", on_store_failure: allow")
        wires = [stack.enter_context(Wire(front.port)) for _ in range(4)]
        for wire in wires:
            assert_uncounted(wire, 200)
        redis.start()
        until(lambda: counted(wires) == {True}, "limits, once Redis is there")


LIMIT = 200
CALLERS = scale(60, 300)


def stopped(redis: RedisServer) -> None:
    redis.pause()
    time.sleep(10)
    redis.go_on()


def stalled(redis: RedisServer) -> None:
    for _ in range(2):
        redis.pause()
        time.sleep(3)
        redis.go_on()
        time.sleep(0.5)


def killed(redis: RedisServer) -> None:
    for _ in range(3):
        redis.kill()
        time.sleep(0.5)
        redis.start()
        time.sleep(1.5)


def slow(redis: RedisServer) -> None:
    """Block Redis repeatedly for longer than a request waits."""
    for _ in range(8):
        redis.say("DEBUG SLEEP 0.4")
        time.sleep(0.3)


@pytest.mark.parametrize("trouble", some([stalled, killed, stopped, slow], 2))
def test_many_callers_get_no_more_than_twice_the_limit(
    tmp_path: Path, upstream: Recorder, redis: RedisServer, trouble: Callable[[RedisServer], None]
) -> None:
    upstream.requests.clear()
    limits = f"[rate_limit: {{requests: {LIMIT}, per: 1h}}, concurrency: {{requests: 400}}]"
    with ExitStack() as stack:
        front = serve(stack, tmp_path / "one", upstream, redis, policies=limits)
        with traffic(front.port, chat(), callers=CALLERS) as load:
            until(lambda: load.count(200) > LIMIT // 2, "requests that pass")
            trouble(redis)
            until(lambda: load.count(429) > 1000, "requests that are refused")
            before = evaluations(redis)
            until(lambda: evaluations(redis) > before, "Redis, that decides again")
        assert set(load.ids) == {200, 429}
        assert load.broken == 0
        assert LIMIT <= load.count(200) <= 2 * LIMIT
        assert len(upstream.requests) == load.count(200)
        assert "Traceback" not in front.output()


def evaluations(redis: RedisServer) -> int:
    """The number of scripts that Redis has run since its start."""
    match = re.search(rb"cmdstat_evalsha:calls=(\d+)", redis.say("INFO commandstats"))
    return int(match[1]) if match else 0
