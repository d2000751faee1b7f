"""The figures of a system, and what becomes of those of several rounds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.compare.load import PERCENTILES

Round = Mapping[str, float]
"""What one round found of one system, by name of the figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `scale` turns the measured unit into `unit`; `digits` are shown."""

    name: str
    title: str
    unit: str
    scale: float = 1.0
    digits: int = 0
    ratio: bool = True


US, KB, MB = 1e6, 1 / 1024, 1 / 1024**2
CPU_AT = (16, 64, 1)
"""Connections at which CPU is measured, in this order."""
LATENCY_AT = (1, 16)
_CHATS = {"plain": "", "tools": ", with tools"}


def _connections(count: int) -> str:
    return f"{count} connection{'s' if count > 1 else ''}"


FIGURES = (
    *(
        Figure(f"cpu_{chat}_{count}", f"CPU per request{words}, {_connections(count)}", "us", US)
        for chat, words in _CHATS.items()
        for count in sorted(CPU_AT)
    ),
    Figure("cpu_tls", "CPU per request, 16 connections, upstream over TLS", "us", US),
    Figure("per_core", "requests per second per core", "", ratio=False),
    *(
        Figure(
            f"{percentile}_{chat}_{count}",
            f"latency added{words}, {percentile}, {_connections(count)}",
            "us",
            US,
        )
        for chat, words in _CHATS.items()
        for count in LATENCY_AT
        for percentile in PERCENTILES
    ),
    Figure("paced_alone", "p99 of paced chats", "us", US),
    Figure("paced_beside", "p99 of paced chats beside one of 10 MB a second", "us", US),
    Figure("paced_growth", "growth of that p99 beside the large ones", "times", 1, 1, ratio=False),
    Figure("first_byte", "time to first byte added, streamed", "us", US),
    Figure("event_paced", "CPU per SSE event, 20 ms apart", "us", US, 1),
    Figure("event_paced_tls", "CPU per SSE event, 20 ms apart, upstream over TLS", "us", US, 1),
    Figure("event_burst", "CPU per SSE event, in bursts", "us", US, 2),
    Figure("memory", "memory after load, all processes", "MB", MB),
    Figure("worker", "memory after load, the largest process", "MB", MB),
    Figure("per_stream", "memory per open stream", "KB", KB),
    Figure("start_cold", "start to first answer, cold", "s", 1, 2),
    Figure("start_warm", "start to first answer, warm", "s", 1, 2),
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times of ours: the median over the rounds, the least and the most, and how many
    rounds there were."""

    median: float
    least: float
    most: float
    rounds: int


def median(rounds: Sequence[Round], name: str) -> float | None:
    """Of those rounds that have the figure; None when none has."""
    values = [figures[name] for figures in rounds if name in figures]
    return statistics.median(values) if values else None


def ratio(theirs: Sequence[Round], ours: Sequence[Round], name: str) -> Ratio | None:
    """Theirs by ours, round by round: what else the machine did in a round fell on both.

    None where no round has both above zero: what a gateway adds to a rare percentile may be less
    than what two loads of the upstream differ by.
    """
    values = [
        their[name] / our[name]
        for their, our in zip(theirs, ours, strict=False)
        if their.get(name, 0) > 0 and our.get(name, 0) > 0
    ]
    if not values:
        return None
    return Ratio(statistics.median(values), min(values), max(values), len(values))


class Verdict(NamedTuple):
    """Titles of the figures in which another takes less than ours in all rounds, with the medians
    of the ratios, and of those in which some rounds say so and some do not."""

    better: list[tuple[str, float]]
    unclear: list[str]


def verdict(theirs: Sequence[Round], ours: Sequence[Round]) -> Verdict:
    """Where another is better. One round alone decides nothing."""
    result = Verdict([], [])
    for figure in FIGURES:
        against = ratio(theirs, ours, figure.name) if figure.ratio else None
        if against is None:
            continue
        if against.most < 1 and against.rounds > 1:
            result.better.append((figure.title, against.median))
        elif against.least < 1:
            result.unclear.append(figure.title)
    return result


def scaling(one: Round, two: Round) -> float:
    """What a second worker is worth: requests per second with two by those with one, each as if the
    gateway had its cores for itself.

    `rate` is requests per second, `others` the share of the whole machine that load generator,
    upstream and anybody else took, `busy` the cores that the gateway kept busy.
    """
    return (two["rate"] / (1 - two["others"])) / (one["rate"] / one["busy"])
