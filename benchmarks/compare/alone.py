"""What is measured of the gateway alone: many open streams, and a second worker."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.figures import scaling
from benchmarks.compare.load import wrk
from benchmarks.compare.measure import Plan
from benchmarks.compare.proc import TICKS, cpu, memory
from benchmarks.compare.streaming import Streams
from benchmarks.compare.system import Endpoint, System, Upstream, running
from benchmarks.compare.systems import ours

_PAUSE = 2.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """Streams open at once on one worker: bytes of each, and the longest that an event was late,
    in seconds; `direct` is the same without any gateway, upstream and callers by themselves."""

    count: int
    bytes_per_stream: float
    late: float
    direct: float


def crowd(system: System, upstream: Upstream, plan: Plan, count: int) -> Crowd:
    """Hold `count` streams open, an event every 2 s on each, and see how late any comes."""
    with running(system, plan.chat) as pid:
        wrk(system.endpoint, 16, 1, plan.small)
        before = memory(pid)
        with _streams(system.endpoint, count) as streams_of_system:
            streams_of_system.all_open()
            time.sleep(1)
            bytes_per_stream = (memory(pid) - before) / count
            streams_of_system.finish()
    with _streams(Endpoint(upstream.port), count) as alone:
        alone.finish()
    late, direct = (max(0.0, streams.longest - _PAUSE) for streams in (streams_of_system, alone))
    return Crowd(count, bytes_per_stream, late, direct)


def _streams(endpoint: Endpoint, count: int) -> Streams:
    """Streams begun at 500 a second, and held for a while after the last of them."""
    spread = count / 500
    events = round(spread / _PAUSE) + 6
    return Streams(endpoint, count, spread, f"{_PAUSE:g} {events} 1")


def two_workers(folder: Path, upstream: Upstream, plan: Plan, rounds: int) -> list[float]:
    """What a second worker is worth, round by round (see `figures.scaling`)."""
    systems = []
    for workers in (1, 2):
        place = folder / f"workers-{workers}"
        place.mkdir()
        systems.append(ours.prepare(place, upstream, workers))
    return [scaling(*(_saturated(system, plan) for system in systems)) for _ in range(rounds)]


def _saturated(system: System, plan: Plan) -> dict[str, float]:
    with running(system, plan.chat) as pid:
        wrk(system.endpoint, 64, 1, plan.small)
        before = _moment(pid)
        load = wrk(system.endpoint, 64, plan.seconds, plan.small)
        wall, busy, own = (b - a for a, b in zip(before, _moment(pid), strict=True))
    others = max(0.0, busy - own) / (wall * (os.cpu_count() or 1))
    return {"rate": load.rate, "others": others, "busy": min(1.0, own / wall)}


def _moment(pid: int) -> tuple[float, float, float]:
    """Seconds now, and of CPU: spent on anything, and by the process and all below it."""
    return time.monotonic(), _busy(), cpu(pid)


def _busy() -> float:
    """Seconds of CPU that all of the machine has spent on anything."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) / TICKS
