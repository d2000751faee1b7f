"""One round of one system: started, asked, streamed through, ended."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.figures import CPU_AT, LATENCY_AT
from benchmarks.compare.load import Load, wrk
from benchmarks.compare.mixed import beside_large
from benchmarks.compare.proc import cpu, largest, memory
from benchmarks.compare.streaming import Streams, first_byte
from benchmarks.compare.system import (
    Endpoint,
    System,
    Upstream,
    ask,
    end,
    first_answer,
    running,
    spawn,
)

_SLOW_PACE = 20
"""Streams of 20 ms that even a slow system takes with ease."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how much: `seconds` of each load, `streams` held open at once; and what is sent:
    the file of each chat by its name, and a `large` one."""

    seconds: float
    streams: int
    chats: Mapping[str, Path]
    large: bytes

    @property
    def small(self) -> Path:
        """The file of the chat of which there is only one figure."""
        return self.chats["plain"]

    @property
    def chat(self) -> bytes:
        return self.small.read_bytes()


@dataclass(frozen=True, slots=True)
class Direct:
    """The upstream by itself: latency without any system, by chat and connections."""

    loads: Mapping[tuple[str, int], Load]
    first_byte: float


def direct(upstream: Upstream, plan: Plan) -> Direct:
    """Ask the upstream without a system."""
    endpoint = Endpoint(upstream.port)
    loads = {
        (name, connections): wrk(endpoint, connections, plan.seconds, body)
        for name, body in plan.chats.items()
        for connections in LATENCY_AT
    }
    return Direct(loads, first_byte(endpoint))


def one_round(system: System, plan: Plan, base: Direct) -> dict[str, float]:
    """All figures of a fresh start; those that the system has none of are left out.

    Raises LeftOut when it does not start, LoadFailed when it refuses what it should answer.
    """
    start = time.monotonic()
    process = spawn(system, {})
    try:
        first_answer(system, plan.chat, process)
        figures = {"start_warm": time.monotonic() - start}
        wrk(system.endpoint, 16, plan.seconds, plan.small)  # to warm up
        if system.streams:
            figures |= _open_streams(system, process.pid, plan)
            figures |= _streamed(system, process.pid, plan, base)
        for name in plan.chats:
            figures |= _loads(system, process.pid, plan, base, name)
        figures |= {"per_core": 1 / figures["cpu_plain_16"]}
        return figures | {"memory": memory(process.pid), "worker": largest(process.pid)}
    finally:
        end(process)


def cold_start(system: System, plan: Plan, empty: Path) -> float:
    """Seconds to the first answer when nothing that it compiles is there yet. `empty` is an empty
    folder for that."""
    caches: Mapping[str, str] = {name: str(empty) for name in system.caches}
    start = time.monotonic()
    process = spawn(system, caches)
    try:
        first_answer(system, plan.chat, process)
        return time.monotonic() - start
    finally:
        end(process)


def mixed(system: System, plan: Plan) -> dict[str, float]:
    """What small chats take beside large ones, of a fresh start.

    Raises LeftOut when it does not start, LoadFailed when it refuses what it should answer.
    """
    with running(system, plan.chat):
        wrk(system.endpoint, 16, plan.seconds, plan.small)  # to warm up
        rate, seconds = 2.0 * system.paced, 2 * plan.seconds
        return beside_large(system.endpoint, plan.small, plan.large, rate, seconds)


def _loads(system: System, pid: int, plan: Plan, base: Direct, name: str) -> dict[str, float]:
    """CPU and latency of one kind of chat."""
    figures = {}
    for connections in CPU_AT:
        before = cpu(pid)
        load = wrk(system.endpoint, connections, plan.seconds, plan.chats[name])
        figures[f"cpu_{name}_{connections}"] = (cpu(pid) - before) / load.requests
        if connections in LATENCY_AT:
            figures |= added_latency(f"{name}_{connections}", load, base.loads[name, connections])
    return figures


def added_latency(name: str, load: Load, base: Load) -> dict[str, float]:
    """The percentiles of a load less those of the upstream by itself, where both are known."""
    return {
        f"{percentile}_{name}": seconds - base.latency[percentile]
        for percentile, seconds in load.latency.items()
        if percentile in base.latency
    }


def _open_streams(system: System, pid: int, plan: Plan) -> dict[str, float]:
    before = memory(pid)
    with Streams(system.endpoint, plan.streams, plan.streams / 250, "2 1000 1") as open_:
        open_.all_open()
        time.sleep(1)
        return {"per_stream": (memory(pid) - before) / plan.streams}


def _streamed(system: System, pid: int, plan: Plan, base: Direct) -> dict[str, float]:
    _drained(system, plan.chat)
    figures = {"first_byte": first_byte(system.endpoint) - base.first_byte}
    figures["event_paced"] = _paced(system, pid, plan)
    events = 50_000 if system.paced > _SLOW_PACE else 1000
    before = cpu(pid)
    with Streams(system.endpoint, 4, 0, f"0 {events} 50") as burst:
        burst.finish()
    figures["event_burst"] = (cpu(pid) - before) / (4 * events)
    return figures


def _paced(system: System, pid: int, plan: Plan) -> float:
    """CPU seconds per event of streams whose events are 20 ms apart."""
    events = round((plan.seconds + 3) / 0.02)
    with Streams(system.endpoint, system.paced, 1, f"0.02 {events} 1") as paced:
        paced.all_open()
        time.sleep(0.5)
        start, before = time.monotonic(), cpu(pid)
        time.sleep(plan.seconds)
        finish, after = time.monotonic(), cpu(pid)
        return (after - before) / paced.events_between(start, finish)


def over_tls(system: System, plan: Plan) -> dict[str, float]:
    """CPU per request and event of a system that asks its upstream over TLS.

    Raises LeftOut when it does not start, LoadFailed when it refuses what it should answer.
    """
    process = spawn(system, {})
    try:
        first_answer(system, plan.chat, process)
        wrk(system.endpoint, 16, plan.seconds, plan.small)  # to warm up
        before = cpu(process.pid)
        load = wrk(system.endpoint, 16, plan.seconds, plan.small)
        figures = {"cpu_tls": (cpu(process.pid) - before) / load.requests}
        if system.streams:
            figures["event_paced_tls"] = _paced(system, process.pid, plan)
        return figures
    finally:
        end(process)


def _drained(system: System, chat: bytes) -> None:
    """Wait until what callers left open is over: the system answers at once again."""
    for _ in range(50):
        start = time.monotonic()
        ask(system.endpoint, chat)
        if time.monotonic() - start < 0.05:
            return
        time.sleep(0.2)
