"""Groups of replicas in simulated time: who gets the requests when one is bad, and when all are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from engine.config.health import EjectionConfig
from engine.upstream.health import outlier_ejection
from engine.upstream.health.outlier_ejection import Group, Judge
from engine.upstream.health.target_health import HealthSettings, TargetHealth
from engine.upstream.targets.target_state import FIRST, LAST
from engine.values.machine_state import LocalState
from tests.support.replicas import (
    Worker,
    answers,
    fail,
    fails,
    hangs,
    open_attempt,
    simulate,
    succeed,
)

GOOD = answers(0.2)
CONFIG = EjectionConfig()


def share(attempts: dict[str, int], name: str) -> float:
    return attempts[name] / sum(attempts.values())


def test_healthy_replicas_are_never_ejected() -> None:
    simulation = simulate([answers(0.1 + 0.05 * index) for index in range(8)]).run(300)
    assert all(not any(target.ejections.values()) for target in simulation.worker.targets)
    assert all(0.11 < share(simulation.attempts, name) < 0.14 for name in simulation.attempts)


def test_a_replica_fifty_times_slower_gets_under_2_percent() -> None:
    simulation = simulate([answers(10.0), *[GOOD] * 7]).run(300)
    assert share(simulation.attempts, "r0") < 0.02
    assert sorted(simulation.latencies)[int(len(simulation.latencies) * 0.99)] < 1.5 * 0.2


def test_a_replica_ten_times_slower_gets_little() -> None:
    simulation = simulate([answers(2.0), *[GOOD] * 7]).run(300)
    assert share(simulation.attempts, "r0") < 0.05


def test_a_replica_that_never_answers_gets_under_1_percent() -> None:
    simulation = simulate([hangs, *[GOOD] * 7]).run(300)
    assert share(simulation.attempts, "r0") < 0.01
    assert simulation.worker.targets[0].reason == "silence"


def test_one_of_two_that_never_answers_is_ejected() -> None:
    simulation = simulate([hangs, GOOD], rate=10).run(300)
    assert share(simulation.attempts, "r0") < 0.02


def test_a_replica_that_fails_gets_little_and_no_request_is_lost() -> None:
    simulation = simulate([fails, *[GOOD] * 7]).run(300)
    assert share(simulation.attempts, "r0") < 0.02
    assert simulation.errors == 0


def test_a_flapping_replica_is_out_for_longer_each_time() -> None:
    def flaps(now: float) -> tuple[float, bool]:
        return (0.2, True) if now % 40 < 20 else (0.001, False)

    simulation = simulate([flaps, *[GOOD] * 7]).run(600)
    patient = sum(simulation.attempts.values())
    assert simulation.errors == 0
    assert simulation.worker.targets[0].ejections["errors"] <= 5
    assert patient - len(simulation.latencies) < 0.01 * patient  # the attempts that failed


def test_at_most_half_of_the_replicas_are_out_at_once() -> None:
    simulation = simulate([*[fails] * 6, GOOD, GOOD])
    for _ in range(120):
        simulation.run(1)
        assert len(simulation.worker.out(simulation.now)) <= 4
    assert len(simulation.worker.out(simulation.now)) == 4
    assert simulation.errors == 0


def test_if_all_replicas_fail_none_is_ejected_and_all_return_at_once() -> None:
    broken = True

    def breaks(now: float) -> tuple[float, bool]:
        return (0.001, False) if broken else (0.2, True)

    simulation = simulate([breaks] * 8).run(60)
    assert simulation.worker.out(simulation.now) == []
    broken, errors = False, simulation.errors
    simulation.run(1)
    assert simulation.errors == errors
    assert len(simulation.timeline[-1]) == 8


def test_if_all_replicas_hang_none_is_ejected() -> None:
    simulation = simulate([hangs] * 4).run(60)
    assert simulation.worker.out(simulation.now) == []


def test_a_replica_returns_slowly() -> None:
    broken = True

    def breaks(now: float) -> tuple[float, bool]:
        return (0.001, False) if broken else (0.2, True)

    simulation = simulate([breaks, *[GOOD] * 7], rate=200).run(10)
    assert simulation.worker.out(simulation.now) == ["r0"]
    broken = False
    while simulation.worker.out(simulation.now):
        simulation.run(1)
    simulation.run(36)
    counts = [second["r0"] for second in simulation.timeline[-36:]]
    sixths = [sum(counts[start : start + 6]) for start in range(0, 36, 6)]
    assert sixths[0] < 0.2 * sixths[5]
    assert sixths[:5] == sorted(sixths[:5])
    assert 0.8 * 150 < sixths[5] < 1.2 * 150  # its own share: an eighth of 6 * 200


def test_a_target_ejected_by_one_worker_is_out_for_all() -> None:
    machine = LocalState()
    first, second = (Worker(machine, ["a", "b"]) for _ in range(2))
    first.judge.step(0.0)
    for _ in range(20):
        bad, good = first.targets
        fail(bad, open_attempt(bad, 99.0))
        succeed(good, open_attempt(good, 99.0), 99.1)
        first.judge.step(100.0)
    assert first.out(101.0) == second.out(101.0) == ["a"]
    assert second.targets[0].turn(101.0) == LAST
    assert second.targets[1].turn(101.0) == FIRST


def test_failures_at_two_workers_add_up() -> None:
    machine = LocalState()
    workers = [Worker(machine, ["a", "b"]) for _ in range(2)]
    for moment in (100.0, 101.0):
        for worker in workers:
            for _ in range(5):
                fail(worker.targets[0], open_attempt(worker.targets[0], moment))
        workers[0].judge.step(moment)
    assert workers[1].out(101.0) == ["a"]


class _Overtaken(LocalState):
    """A state in which another worker decides first, once."""

    def __init__(self) -> None:
        super().__init__()
        self.other: Callable[[], None] | None = None

    @contextmanager
    def deciding(self) -> Iterator[None]:
        other, self.other = self.other, None
        if other is not None:
            other()
        yield


def test_of_two_workers_that_see_a_bad_target_at_once_one_ejects_it() -> None:
    machine = _Overtaken()
    workers = [Worker(machine, ["a", "b"]) for _ in range(2)]
    for moment in (100.0, 101.0):
        for worker in workers:
            fail(worker.targets[0], open_attempt(worker.targets[0], moment))
        for worker in workers:
            worker.judge.step(moment)
    for _ in range(20):
        fail(workers[0].targets[0], open_attempt(workers[0].targets[0], 102.0))
    machine.other = lambda: workers[1].judge.step(102.0)
    workers[0].judge.step(102.0)
    assert machine.other is None  # both saw it
    assert [worker.targets[0].ejections["errors"] for worker in workers] == [0, 1]
    assert workers[0].targets[0].ejected_until == 102.0 + CONFIG.time


def test_more_out_than_allowed_are_taken_back() -> None:
    worker = Worker(LocalState(), ["a", "b", "c"])
    for moment, target in enumerate(worker.targets[:2]):
        target.eject(100.0 + moment, "errors", target.member(100.0).activity)
    open_attempt(worker.targets[2], 102.0)
    worker.judge.step(102.0)
    assert worker.out(103.0) == ["a"]


def test_without_a_bound_nothing_is_ejected() -> None:
    simulation = simulate([fails, hangs, GOOD, GOOD], config=replace(CONFIG, max_out=0.0)).run(60)
    assert simulation.worker.out(simulation.now) == []


def test_groups_that_are_not_used_are_not_judged() -> None:
    worker = Worker(LocalState(), ["a", "b"])
    worker.judge.step(100.0)
    assert worker.group.looks == 0
    target = worker.targets[0]
    target.ended(open_attempt(target, 101.0))
    for moment in range(101, 200):
        worker.judge.step(float(moment))
    assert worker.group.looks == CONFIG.window + 2


def test_groups_in_which_nothing_happens_cost_no_comparison(monkeypatch) -> None:
    worker = Worker(LocalState(), ["a", "b"])
    succeed(worker.targets[0], open_attempt(worker.targets[0], 100.0), 100.1)
    worker.judge.step(101.0)
    monkeypatch.setattr(outlier_ejection, "ejections", lambda members: pytest.fail("compared"))
    worker.judge.step(102.0)


def test_requests_continue_between_the_judgements_of_many_groups() -> None:
    pauses: list[int] = []
    workers = [Worker(LocalState(), [f"a{n}", f"b{n}"]) for n in range(120)]

    def pause() -> None:
        pauses.append(sum(worker.group.looks for worker in workers))

    Judge({worker.targets[0] for worker in workers}, pause).step(100.0)
    assert pauses == [50, 100]


def test_requests_that_began_just_now_are_not_silent_although_an_earlier_one_waited() -> None:
    worker = Worker(LocalState(), ["a", "b"])
    target, other = worker.targets
    for moment in (99.0, 100.0):  # what ended before the first look does not count
        for each in (target, other) * 12:
            succeed(each, open_attempt(each, moment), moment + 0.5)
        worker.judge.step(moment + 1.0)
    waiting = open_attempt(target, 101.5)
    worker.judge.step(102.0)
    target.ended(waiting)  # its caller left
    for moment in range(103, 111):
        worker.judge.step(float(moment))
    for _ in range(3):
        open_attempt(target, 110.9)
    worker.judge.step(111.0)
    assert worker.out(111.0) == []


def test_a_window_lasts_as_long_as_one_of_the_groups_of_its_target_is_used() -> None:
    machine = LocalState()
    used: set[TargetHealth] = set()
    settings = HealthSettings("u", machine, CONFIG, used)
    shared, alone, lively = (TargetHealth(name, settings) for name in "abc")
    elsewhere = TargetHealth("a", replace(settings, used=set()))  # in another worker
    first, second = Group((shared, alone), machine), Group((shared, lively), machine)
    shared.groups, alone.groups, lively.groups = (first, second), (first,), (second,)
    judges = Judge(used)
    succeed(alone, open_attempt(alone, 100.0), 100.1)
    for moment in range(100, 140):
        for each in (lively, elsewhere):
            succeed(each, open_attempt(each, moment), moment + 0.1)
        judges.step(moment + 1.0)
    assert shared.member(141.0).activity.answers > CONFIG.window - 6
