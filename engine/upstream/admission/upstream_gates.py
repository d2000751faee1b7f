"""The gates of an upstream and of its targets, built from the config."""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.upstreams import UpstreamConfig
from engine.upstream.admission.gate import Gate, GateConfig
from engine.values.admission import AdmissionQueues
from engine.values.metric import target_label


class Gates:
    """Makes the gates of one upstream in one worker; none without `queues`, as in a rehearsal.

    `all` are the gates made so far. Each has the size and the wait time of the upstream's `queue`.
    """

    def __init__(self, config: UpstreamConfig, queues: AdmissionQueues | None) -> None:
        self.all: list[Gate] = []
        self._name, self._queue, self._queues = config.name, config.queue, queues
        self._shared = self._gates(f"upstream/{config.name}", "", config.max_in_flight)

    def of_target(
        self, model: str, entry: str, bound: int | None, configured: str = ""
    ) -> tuple[Gate, ...]:
        """The gates of a target, its own bound first, for an `entry` under `models`; `model` is the
        upstream's name for the model, `configured` the one in the config. Targets that share the
        first three share their slots."""
        key = f"target/{entry}/{self._name}/{model}" if model else f"target/{entry}/{self._name}"
        # Empty is the bound of the upstream itself.
        label = target_label((entry, configured)) or self._name
        return (*self._gates(key, label, bound), *self._shared)

    def _gates(self, key: str, target: str, bound: int | None) -> tuple[Gate, ...]:
        if bound is None or self._queues is None:
            return ()
        config = GateConfig(bound)
        if self._queue is not None:
            config = GateConfig(bound, self._queue.size, self._queue.wait)
        gate = Gate(self._name, target, config, self._queues.queue(key))
        self.all.append(gate)
        return (gate,)


def gates_of(upstreams: Iterable[Gates | None]) -> list[Gate]:
    """The gates of several upstreams."""
    return [gate for gates in upstreams if gates is not None for gate in gates.all]
