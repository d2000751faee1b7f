"""What passes while Redis is stopped, slow, killed or empty: the law of `fallback`.

Ten requests an hour and six slots, in a worker of its own (`tests.support.stepping`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from engine.stores.counters.fallback import machine_shares
from engine.values.counters import Limit
from tests.support import redis_server
from tests.support.counters import folder
from tests.support.redis_server import RedisServer
from tests.support.stepper import Stepper, until_redis_decides
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(redis_server.BINARY is None, reason=redis_server.WHY_NOT)


@pytest.fixture
def machine(server: RedisServer) -> Iterator[Callable[..., Stepper]]:
    """Makes workers of one machine."""
    steppers: list[Stepper] = []
    with folder() as path:

        def make(machines: int = 1) -> Stepper:
            steppers.append(Stepper(server.url, path, machines))
            return steppers[-1]

        yield make
        for stepper in steppers:
            stepper.end()


def slots(server: RedisServer) -> int:
    return int(server.say("ZCARD {modelway}:0:slots:a")[1:])


def counted_by_redis(server: RedisServer) -> int:
    """How many requests Redis has counted."""
    head, _, value = server.say("HGET {modelway}:112500000:rate:a t").partition(b"\r\n")
    return 0 if head == b"$-1" else int(value)


def test_a_stopped_redis_lets_no_more_than_twice_the_limit_pass(server, machine):
    first, second = machine(), machine()
    assert first.passes(4) == 4
    first.do("settle")
    server.pause()
    passes = 4
    for _ in range(20):
        for worker in (first, second):
            passes += worker.passes(3)
            worker.do("settle")
    server.go_on()
    assert passes == 4 + 10  # the workers of a machine share what it may let pass


def test_only_the_first_requests_wait_for_a_stopped_redis(server, machine):
    worker = machine()
    worker.passes(1)
    server.pause()
    for _ in range(30):
        late = worker.do("take", 1)["late"]
    server.go_on()
    assert late == 1


@pytest.mark.parametrize(("machines", "share"), [(1, 10), (3, 3), (50, 1)])
def test_a_machine_lets_its_share_of_a_limit_pass(server, machine, machines, share):
    server.kill()
    worker = machine(machines)
    passes = 0
    for _ in range(12):
        passes += worker.passes(1)
        worker.do("settle")
    assert passes == share


@pytest.mark.parametrize(("machines", "share"), [(1, 6), (2, 3), (9, 1)])
def test_a_machine_lets_its_share_of_slots_be_held(server, machine, machines, share):
    server.kill()
    assert machine(machines).passes(9) == share


def test_a_take_whose_answer_is_late_is_undone(server, machine):
    """Requests under way when Redis stops are counted locally; what Redis takes for them when it
    goes on, it gets back."""
    worker = machine()
    assert worker.passes(1) == 1
    server.pause()
    assert worker.passes(5) == 5
    worker.do("settle")
    server.go_on()
    until_redis_decides(worker)
    worker.do("settle")
    until(lambda: slots(server) == 0, "slots are held that nobody has")
    passes = 0
    while worker.passes(1):
        passes += 1
        worker.do("settle")
    assert passes >= 10 - 1 - 2, "the five were taken from Redis for good"
    assert counted_by_redis(server) == 10


def test_a_redis_killed_again_and_again_lets_no_more_than_twice_the_limit_pass(server, machine):
    worker = machine()
    passes = 0
    for _ in range(4):
        for _ in range(6):
            passes += worker.passes(5)
            worker.do("settle")
        server.kill()
        for _ in range(2):
            passes += worker.passes(5)
            worker.do("settle")
        server.start()
        until_redis_decides(worker)
    assert 10 <= passes <= 20


def test_a_worker_that_starts_after_a_loss_knows_of_it(server, machine):
    first = machine()
    passes = first.passes(3)
    server.kill()
    server.start()
    for worker in (first, machine(), machine()):
        for _ in range(4):
            passes += worker.passes(3)
            worker.do("settle")
        if worker is first:
            server.kill()
            server.start()
    assert passes == 3 + 10


def test_a_redis_that_lost_its_slots_grants_at_most_twice_the_limit(server, machine):
    worker = machine()
    slots_in_use = worker.passes(8)
    for _ in range(3):
        server.kill()
        server.start()
        slots_in_use += worker.passes(8)
    assert 6 <= slots_in_use <= 12


def test_shares_of_a_machine_are_rounded_down_and_at_least_one():
    limits = (Limit("a", 10, 60.0), Limit("b", 1, 60.0), Limit("c", 7, 0.0))
    assert [limit.amount for limit in machine_shares(limits, 3)] == [3, 1, 2]
    assert machine_shares(limits, 1) == limits
