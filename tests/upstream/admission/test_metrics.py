"""The slots of upstreams with a bound, and the waits for them."""

from __future__ import annotations

from engine.upstream.admission import metrics as admission
from engine.upstream.admission.gate import Gate, GateConfig
from engine.values.admission import NORMAL
from tests.support.admission import QueueInProcess


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
