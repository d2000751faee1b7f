"""What the command writes: the machine, the table, and what was measured of the gateway alone."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.compare import machine
from benchmarks.compare.alone import Crowd
from benchmarks.compare.figures import KB, Round, verdict
from benchmarks.compare.system import System
from benchmarks.compare.systems import ours
from benchmarks.compare.table import ratios, table


@dataclass(slots=True)
class Results:
    """All that a run found. `left_out` says why a system is not in the table, `without` which one
    has no figures of some kind, and why."""

    systems: list[System] = field(default_factory=list)
    rounds: dict[str, list[Round]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    without: list[str] = field(default_factory=list)
    crowd: Crowd | None = None
    scaling: Sequence[float] = ()


def report(results: Results, seconds: float, streams: int) -> str:
    """The text between the markers: ratios first."""
    count = max(map(len, results.rounds.values()), default=0)
    rounds = ours_first(results.rounds)
    lines = [
        f"Measured {machine.today()} on {machine.machine()}: {count} alternating rounds, "
        f"{seconds:g} s for each load, {streams} streams held open. "
        f"{'; '.join(system.version for system in results.systems)}; {machine.tools()}.",
        "",
    ]
    if ours.NAME in rounds and len(rounds) > 1:
        lines += [ratios(rounds, ours.NAME), "", *_where_others_are_better(results), ""]
    lines += [table(rounds), ""]
    lines += [f"- {name} is left out: {why}" for name, why in results.left_out.items()]
    lines += [f"- No figures for {text}" for text in results.without]
    return "\n".join([*lines, *_alone(results)])


def _where_others_are_better(results: Results) -> list[str]:
    """A line for each peer."""
    lines = []
    for system in results.systems:
        if system.peer and system.name in results.rounds:
            result = verdict(results.rounds[system.name], results.rounds[ours.NAME])
            better = "; ".join(f"{title} ({value:.2f})" for title, value in result.better)
            unclear = "; ".join(result.unclear)
            line = f"- **{system.name} is better** in every round at: {better or 'nothing'}."
            lines.append(f"{line} In some rounds at: {unclear}." if unclear else line)
    return lines


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
