"""What the command writes: the machine, the table, and what was measured of the gateway alone."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.compare import machine
from benchmarks.compare.alone import Crowd
from benchmarks.compare.figures import KB, Round
from benchmarks.compare.system import System
from benchmarks.compare.systems import ours
from benchmarks.compare.table import table


@dataclass(slots=True)
class Results:
    """All that a run found. `left_out` says why a system is not in the table, `without_tls` why it
    has no figures for an upstream over TLS."""

    systems: list[System] = field(default_factory=list)
    rounds: dict[str, list[Round]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    without_tls: dict[str, str] = field(default_factory=dict)
    crowd: Crowd | None = None
    scaling: Sequence[float] = ()


def report(results: Results, seconds: float, streams: int) -> str:
    """The text between the markers."""
    rounds = max(map(len, results.rounds.values()), default=0)
    lines = [
        f"Measured {machine.today()} on {machine.machine()}: {rounds} alternating rounds, "
        f"{seconds:g} s for each load, {streams} streams held open. "
        f"{'; '.join(system.version for system in results.systems)}; {machine.tools()}.",
        "",
        table(ours_first(results.rounds), ours.NAME),
        "",
        *(f"{name} is left out: {why}" for name, why in results.left_out.items()),
        *([""] if results.left_out else []),
        *(f"- {name} over TLS: no figures ({why})" for name, why in results.without_tls.items()),
        *_alone(results),
    ]
    return "\n".join(lines)


def ours_first(rounds: Mapping[str, Sequence[Round]]) -> dict[str, Sequence[Round]]:
    """Ours first, then the others in the order in which they were measured."""
    return dict(sorted(rounds.items(), key=lambda item: item[0] != ours.NAME))


def _alone(results: Results) -> list[str]:
    lines = []
    if results.crowd is not None:
        crowd = results.crowd
        size = crowd.bytes_per_stream * KB
        lines.append(
            f"- {crowd.count:,} open streams on one worker of ours: {size:.0f} KB each, "
            f"no event more than {crowd.late * 1e3:.0f} ms late "
            f"({crowd.direct * 1e3:.0f} ms without the gateway)."
        )
    if results.scaling:
        times = sorted(results.scaling)
        lines.append(
            f"- Two workers answer {statistics.median(times):.2f} times the requests of one "
            f"({times[0]:.2f} to {times[-1]:.2f}), the load generator's share taken out."
        )
    return lines
