"""The metric of guards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.values.metric import Collector, Sample, counter

VERDICTS = counter(
    "modelway_guard_verdicts_total",
    "webhook stage verdict",
    "Verdicts of guards: pass, redact, block, failed (the webhook did not answer as it should) or "
    "dropped (of a guard that only reports, with too many questions at one time). stage is request "
    "or response; webhook is the host of its URL, or the name of its upstream.",
)


def verdict_collector(counts: Mapping[tuple[str, str, str], int]) -> Collector:
    """The verdicts of this worker, by webhook, stage and verdict."""

    def collect() -> Iterator[Sample]:
        for labels, count in [*counts.items()]:
            yield VERDICTS, labels, count

    return collect
