"""Which targets are watched, and what follows for the requests of a worker."""

from __future__ import annotations

import gc
import tracemalloc
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from engine import dialects
from engine.config.models import Model, TargetConfig
from engine.exchange.request_record import RequestRecord
from engine.exchange.stage_services import Services
from engine.machine.state import SharedState
from engine.upstream import choose
from engine.upstream.client.dial_order import Address, Share
from engine.upstream.forward import Forward
from engine.upstream.health.monitor import HealthMonitor
from engine.upstream.health.outliers import Activity
from engine.upstream.models.build_catalog import build_catalog
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.targets.connect import connect
from engine.upstream.targets.metrics import ANSWER, BREAKER, upstream_collector
from engine.upstream.targets.target import Target, Upstream
from engine.upstream.targets.target_groups import TargetGroup
from engine.upstream.targets.target_load import load_of
from engine.upstream.targets.target_state import FIRST, LAST, OpenAttempt
from engine.values.errors import GatewayError
from engine.values.machine_state import LocalState, MachineState
from tests.support.clock import Clock
from tests.support.configs import read_config
from tests.support.documents import exchange
from tests.support.upstreams import WATCHER, AddressedClient, FakeResponse, group

LOW = [
    ("content-type", "application/json"),
    ("x-ratelimit-limit-requests", "100"),
    ("x-ratelimit-remaining-requests", "0"),
    ("x-ratelimit-reset-requests", "100s"),
]


class Worker:
    """The upstreams a, b, ... of a worker, with their options, and its monitor."""

    def __init__(self, *options: str, machine: MachineState | None = None) -> None:
        names = "abcdefgh"[: len(options)]
        common = "dialect: openai, retry: {attempts: 1}"
        text = "".join(
            f"  {name}: {{url: http://{name}.test, {common}, {more}}}\n"
            for name, more in zip(names, options, strict=True)
        )
        configs = read_config(f"upstreams:\n{text}").upstreams
        self.clients = {name: AddressedClient() for name in names}
        self.clock = Clock(10_000.0)
        self.upstreams: dict[str, Upstream] = {
            name: connect(configs[name], lambda *_, name=name, **__: self.clients[name])
            for name in names
        }
        self.monitor = HealthMonitor(configs, self.upstreams, machine or LocalState(), self.clock)

    def targets(self, entry: str = "m") -> list[Target]:
        return [upstream.target("", 1, "", entry) for upstream in self.upstreams.values()]

    def ask(self, *groups: TargetGroup) -> str:
        """A request; the names of the upstreams that got it."""
        counts = {name: len(client.requests) for name, client in self.clients.items()}
        dice = Services(dice=lambda: 0.0)
        forward = Forward(
            None,
            fixed=groups[0],
            dialect=dialects.get("openai"),
            headers=RouteHeaders(self.upstreams.values()),
            services=dice,
            watcher=WATCHER,
            clock=self.clock,
        )
        probe = exchange(b"{}")
        probe.model.targets = [target for each in groups for target in each.targets]
        with suppress(GatewayError):
            forward(probe)
        probe.end()
        return "".join(
            name for name, client in self.clients.items() if len(client.requests) > counts[name]
        )


def observers(targets: list[Target]) -> list[int]:
    return [len(target.state.observers) for target in targets]


def test_a_target_without_an_alternative_is_not_watched() -> None:
    worker = Worker("")
    worker.monitor.watch([group(*worker.targets())])
    assert observers(worker.targets()) == [0]


def test_targets_of_a_group_are_watched_once() -> None:
    worker = Worker("", "")
    for _ in range(2):
        worker.monitor.watch([group(*worker.targets())])
    assert observers(worker.targets()) == [2, 2]


def test_a_target_with_a_fallback_is_watched() -> None:
    worker = Worker("", "")
    first, second = worker.targets()
    worker.monitor.watch([group(first), group(second)])
    assert observers([first, second]) == [2, 2]


def test_a_target_with_several_credentials_is_watched() -> None:
    worker = Worker("credentials: [{bearer: one}, {bearer: two}]")
    worker.monitor.watch([group(*worker.targets())])
    assert observers(worker.targets()) == [2]
    assert worker.targets()[0].state.limits is not None


def test_a_target_that_is_out_of_requests_is_asked_last() -> None:
    worker = Worker("", "")
    both = group(*worker.targets())
    worker.monitor.watch([both])
    worker.clients["a"].responses = [FakeResponse(headers=LOW)]
    assert [worker.ask(both) for _ in range(3)] == ["a", "b", "b"]
    worker.clock.advance(10.1)  # a tenth of its requests is back
    assert worker.ask(both) == "a"


def test_headers_do_not_move_requests_to_a_fallback() -> None:
    worker = Worker("", "")
    first, second = group(worker.targets()[0]), group(worker.targets("fallback")[1])
    worker.monitor.watch([first, second])
    worker.clients["a"].responses = [FakeResponse(headers=LOW)]
    assert [worker.ask(first, second) for _ in range(3)] == ["a", "a", "a"]


def test_a_target_of_two_groups_comes_after_the_others_of_each() -> None:
    """As where two routes have an upstream in common."""
    worker = Worker("", "", "")
    a, b, c = worker.targets("")
    first, second = group(a, b), group(a, c)
    for each in (first, second):
        worker.monitor.watch([each])
    for name in "ab":
        worker.clients[name].responses = [FakeResponse(headers=LOW)]
    assert [worker.ask(first), worker.ask(first)] == ["a", "b"]
    assert [worker.ask(second), worker.ask(first)] == ["c", "a"]


def test_a_429_moves_requests_to_a_fallback_as_long_as_it_says() -> None:
    worker = Worker("", "")
    first, second = (group(target) for target in worker.targets())
    worker.monitor.watch([first, second])
    worker.clients["a"].responses = [FakeResponse(429, [("retry-after", "20")])]
    assert [worker.ask(first, second) for _ in range(3)] == ["ab", "b", "b"]
    worker.clock.advance(20.1)
    assert worker.ask(first, second) == "a"


def test_what_one_worker_learns_holds_for_all() -> None:
    machine = LocalState()
    workers = [Worker("", "", machine=machine) for _ in range(2)]
    groups = [group(*worker.targets()) for worker in workers]
    for worker, each in zip(workers, groups, strict=True):
        worker.monitor.watch([each])
    workers[0].clients["a"].responses = [FakeResponse(headers=LOW)]
    assert workers[0].ask(groups[0]) == "a"
    assert workers[1].ask(groups[1]) == "b"


def test_a_failing_server_is_asked_last_and_still_asked() -> None:
    worker = Worker("health: {path: /health}", "")
    both = group(*worker.targets())
    worker.monitor.watch([both])
    worker.clients["a"].responses = [FakeResponse(503), FakeResponse(200)]
    worker.monitor.probes["a", ""].run()
    assert worker.ask(both) == "b"
    worker.clients["b"].responses = [FakeResponse(503)]
    assert worker.ask(both) == "ab"


def test_only_upstreams_with_health_are_probed() -> None:
    assert [*Worker("health: {path: /health}", "").monitor.probes] == [("a", "")]


def test_a_lone_target_is_probed_for_its_metric() -> None:
    worker = Worker("health: {path: /health}")
    worker.monitor.watch([group(*worker.targets())])
    assert [*worker.monitor.probes] == [("a", "")]
    assert [target.upstream for target in worker.monitor.watched()] == ["a"]


def states(worker: Worker) -> dict[str, str]:
    """The reported states by upstream, with their reasons."""
    return {
        each["upstream"]: " ".join([each["state"], each.get("reason", "")]).strip()
        for each in worker.monitor.report()
    }


def test_operators_see_what_is_not_in_and_why() -> None:
    worker = Worker("health: {path: /health}", "", "", "", "")
    targets = worker.targets()
    all_of_them = group(*targets)
    worker.monitor.watch([all_of_them])
    assert states(worker) == {}
    a, b, c, *_ = worker.clients.values()
    a.responses = [FakeResponse(503)]
    worker.monitor.probes["a", ""].run()
    b.responses = [FakeResponse(429, [("retry-after", "30")])]
    c.responses = [FakeResponse(headers=LOW)]
    assert [worker.ask(all_of_them) for _ in range(2)] == ["bc", "d"]
    healths = {target.upstream: target.health for target in worker.monitor.watched()}
    healths["d"].eject(worker.clock.now, "silence", Activity())
    assert states(worker) == {
        "a": "failing status 503",
        "b": "limited",
        "c": "little left",
        "d": "ejected silence",
    }
    worker.clock.advance(31)
    assert states(worker) == {"a": "returning", "d": "returning silence"}
    worker.clock.advance(60)
    assert states(worker) == {}


def test_a_model_that_was_used_takes_less_than_4_kilobytes(tmp_path: Path) -> None:
    targets = TargetConfig("a", "", 1, ()), TargetConfig("b", "", 2, ())
    entries = {name: Model(name, targets, (), "", "", 0, ()) for name in map(str, range(400))}
    with closing(SharedState(tmp_path / "machine")) as machine:
        worker = Worker("", "", machine=machine)
        strategy = partial(choose.build, Services(machine=machine))
        catalog = build_catalog(entries, worker.upstreams, strategy, watch=worker.monitor.watch)

        def use(name: str) -> None:
            model = catalog.model(name).for_operation(lambda target: "")
            target, other = model.groups[0].targets
            assert not any(each.state.turn(worker.clock.now) for each in (target, other))
            attempt = OpenAttempt(target.state.observers, RequestRecord(), worker.clock)
            attempt.answered()
            attempt.close()

        first, *others = entries
        use(first)
        tracemalloc.start()
        try:
            for name in others:
                use(name)
            for watched in worker.monitor.watched():
                watched.health.member(worker.clock.now)  # as `judge` does
            gc.collect()
            assert tracemalloc.get_traced_memory()[0] < 4_000 * len(others)
        finally:
            tracemalloc.stop()


# --- replicas

A, B = Address("10.0.0.1", 80), Address("10.0.0.2", 80)


class Moving(Worker):
    """A worker with one upstream whose addresses a test changes."""

    def __init__(self, options: str = "") -> None:
        super().__init__(f"resolve: {{}}, {options}")
        self.upstreams["a"].follow()
        self.group = group(*self.targets())
        self.monitor.watch([self.group])

    def move(self, *addresses: Address) -> None:
        self.clients["a"].move({address: Share() for address in addresses})


def test_replicas_are_watched_as_they_come_and_go() -> None:
    worker = Moving()
    worker.move(A, B)
    first, second = worker.group.targets
    assert observers([first, second]) == [2, 2]
    worker.move(B)
    assert observers([first, second]) == [0, 2]
    assert len(first.state.conditions) == 0
    worker.move(A, B)
    assert observers(list(worker.group.targets)) == [2, 2]
    assert worker.group.targets[0].state is first.state


def test_replicas_of_two_groups_are_watched_until_both_have_lost_them() -> None:
    worker = Moving()
    other = group(*worker.targets("n"), *worker.targets())
    worker.monitor.watch([other])
    worker.move(A)
    before = [*worker.group.targets, *other.targets]
    assert observers(before) == [2, 2, 2]
    worker.move(B)
    assert observers([*worker.group.targets, *other.targets]) == [2, 2, 2]
    assert observers(before) == [0, 0, 0]


def test_health_and_load_of_a_replica_have_the_labels_of_its_breaker() -> None:
    worker = Moving()
    upstream = worker.upstreams["a"]
    worker.move(A)
    for target in (upstream.target("gpt", 1, "gpt", "m"), upstream.target("", 1)):
        configured = group(target)
        worker.monitor.watch([configured])
        worker.ask(configured)
        load_of(configured.targets[0], LocalState())
    collect = upstream_collector(worker.upstreams)
    breakers = {labels for metric, labels, _ in collect() if metric is BREAKER}
    loads = {labels for metric, labels, _ in collect() if metric is ANSWER}
    watched = {(target.upstream, target.name) for target in worker.monitor.watched()}
    assert watched == breakers == loads
    assert watched == {("a", "m/gpt/10.0.0.1:80"), ("a", "10.0.0.1:80")}


def test_each_address_is_probed() -> None:
    worker = Moving("health: {path: /health}")
    assert list(worker.monitor.probes) == [("a", "")]
    worker.move(A, B)
    first, second = worker.monitor.probes.values()
    assert [first.name, second.name] == ["a@10.0.0.1:80", "a@10.0.0.2:80"]
    worker.clients["a"].clients[A].responses = [FakeResponse(500)]
    for probe in (first, second):
        probe.run()
    assert [len(worker.clients["a"].clients[each].requests) for each in (A, B)] == [1, 1]
    now = worker.clock.now
    assert [target.state.turn(now) for target in worker.group.targets] == [LAST, FIRST]
    worker.move(B)
    assert list(worker.monitor.probes.values()) == [second]
