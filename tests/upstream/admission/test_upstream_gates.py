"""The gates of an upstream, as the config has them."""

from __future__ import annotations

from engine.config.upstreams import UpstreamConfig
from engine.upstream.admission import upstream_gates as admission
from engine.upstream.admission.gate import Gate, GateConfig
from engine.upstream.admission.upstream_gates import Gates
from engine.values.admission import NORMAL
from tests.support.admission import QueueInProcess
from tests.support.configs import read_config


class Queues:
    """The queues that were asked for, by name."""

    def __init__(self) -> None:
        self.made: dict[str, QueueInProcess] = {}

    def queue(self, name: str) -> QueueInProcess:
        return self.made.setdefault(name, QueueInProcess())


def upstream(text: str = "") -> UpstreamConfig:
    return read_config(f"upstreams: {{main: {{url: 'https://a.test'{text}}}}}\n").upstreams["main"]


def test_without_a_bound_there_is_no_gate():
    assert Gates(upstream(), Queues()).of_target("m", "entry", None) == ()


def test_the_targets_of_an_upstream_share_its_gate():
    gates = Gates(upstream(", max_in_flight: 3"), Queues())
    one, other = gates.of_target("m", "a", None), gates.of_target("m", "b", None)
    assert one == other
    assert [gate.config for gate in one] == [GateConfig(3)]


def test_a_target_with_a_bound_has_its_own_gate_before_that_of_the_upstream():
    gates = Gates(upstream(", max_in_flight: 3"), Queues())
    own, shared = gates.of_target("m", "a", 2, "m")
    assert (own.upstream, own.target, own.config.bound) == ("main", "a/m", 2)
    assert (shared.upstream, shared.target, shared.config.bound) == ("main", "", 3)
    assert gates.all == [shared, own]


def test_a_gate_has_the_label_of_its_targets_breaker_or_the_name_of_its_upstream():
    gates = Gates(upstream(), Queues())
    for model, entry, configured in (("m", "a", "m"), ("a", "a", ""), ("", "", "")):
        gates.of_target(model, entry, 2, configured)
    assert [gate.target for gate in gates.all] == ["a/m", "a", "main"]


def test_the_queue_of_the_upstream_counts_for_every_gate():
    gates = Gates(upstream(", max_in_flight: 3, queue: {size: 7, wait: 2s}"), Queues())
    assert [gate.config for gate in gates.of_target("m", "a", 2)] == [
        GateConfig(2, 7, 2.0),
        GateConfig(3, 7, 2.0),
    ]


def test_the_queue_has_defaults():
    (gate,) = Gates(upstream(", max_in_flight: 3, queue: {}"), Queues()).of_target("m", "a", None)
    assert gate.config == GateConfig(3, 100, 10.0)


def test_targets_of_different_entries_share_no_places():
    gates = Gates(upstream(), Queues())
    (one,), (other,) = gates.of_target("m", "a", 1), gates.of_target("m", "b", 1)
    assert one.try_enter(NORMAL)
    assert other.try_enter(NORMAL)


def test_a_rehearsal_has_no_gates():
    assert Gates(upstream(", max_in_flight: 3"), None).of_target("m", "a", 2) == ()


def test_places_and_waits_are_collected_by_upstream_and_target():
    gate = Gate("one", "one/m", GateConfig(2), QueueInProcess(), clock=lambda: 0.0)
    gate.try_enter(NORMAL)
    gate.wait(NORMAL, 0.0)
    values = {(m, *labels): v for m, labels, v in admission.queue_collector(lambda: [gate])()}
    assert values == {
        (admission.IN_FLIGHT, "one", "one/m"): 1,
        (admission.WAITING, "one", "one/m"): 0,
        (admission.BOUND, "one", "one/m"): 2,
        (admission.SECONDS, "one", "one/m"): 0.0,
        (admission.WAITS, "one", "one/m", "admitted"): 0,
        (admission.WAITS, "one", "one/m", "full"): 1,
        (admission.WAITS, "one", "one/m", "shed"): 0,
        (admission.WAITS, "one", "one/m", "timeout"): 0,
    }


def test_targets_of_one_name_are_one_sample():
    gates = [Gate("one", "one/m", GateConfig(bound), QueueInProcess()) for bound in (2, 5)]
    gates[0].try_enter(NORMAL)
    for gate in gates:
        gate.wait(NORMAL, 0.0)
    samples = [*admission.queue_collector(lambda: gates)()]
    values = {(m, *labels): v for m, labels, v in samples}
    assert len(samples) == len(values)
    assert values[admission.IN_FLIGHT, "one", "one/m"] == 1
    assert values[admission.WAITS, "one", "one/m", "full"] == 2
