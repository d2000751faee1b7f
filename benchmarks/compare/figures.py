"""The figures of a system, and what becomes of those of several rounds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
FIGURES = (
    Figure("cpu_16", "CPU per request, 16 connections", "us", US),
    Figure("cpu_64", "CPU per request, 64 connections", "us", US),
    Figure("cpu_16_tls", "CPU per request, 16 connections, upstream over TLS", "us", US),
    Figure("per_core", "requests per second per core", "", ratio=False),
    Figure("p50_1", "latency added, p50, 1 connection", "us", US),
    Figure("p99_1", "latency added, p99, 1 connection", "us", US),
    Figure("p50_64", "latency added, p50, 64 connections", "us", US),
    Figure("p99_64", "latency added, p99, 64 connections", "us", US),
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
    """How many times of ours: the median over the rounds, and the least and the most."""

    median: float
    least: float
    most: float


def median(rounds: Sequence[Round], name: str) -> float | None:
    """Of those rounds that have the figure; None when none has."""
    values = [figures[name] for figures in rounds if name in figures]
    return statistics.median(values) if values else None


def ratio(theirs: Sequence[Round], ours: Sequence[Round], name: str) -> Ratio | None:
    """Theirs by ours, round by round: what else the machine did in a round fell on both.

    None where no round has both, or ours is not above zero.
    """
    values = [
        their[name] / our[name]
        for their, our in zip(theirs, ours, strict=False)
        if name in their and our.get(name, 0) > 0
    ]
    return Ratio(statistics.median(values), min(values), max(values)) if values else None


def scaling(one: Round, two: Round) -> float:
    """What a second worker is worth: requests per second with two by those with one, each as if the
    gateway had its cores for itself.

    `rate` is requests per second, `others` the share of the whole machine that load generator,
    upstream and anybody else took, `busy` the cores that the gateway kept busy.
    """
    return (two["rate"] / (1 - two["others"])) / (one["rate"] / one["busy"])
