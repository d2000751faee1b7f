"""Small chats at a steady pace: how long the slowest take alone, and beside large ones."""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from benchmarks.compare.load import LoadFailed
from benchmarks.compare.system import Endpoint, ask

_ROOT = Path(__file__).resolve().parents[2]
_LARGE_PER_SECOND = 1.0
_PATIENCE = 60.0
"""Seconds in which the last large chats have to be answered."""


def beside_large(
    endpoint: Endpoint, small: Path, large: bytes, rate: float, seconds: float
) -> dict[str, float]:
    """The 99th percentile of small chats, `rate` a second, alone and beside large ones, one a
    second, in seconds. Raises LoadFailed when any is refused."""
    alone = p99(_probe(endpoint, small, rate, seconds))
    with _large_ones(endpoint, large):
        beside = p99(_probe(endpoint, small, rate, seconds))
    return {"paced_alone": alone, "paced_beside": beside, "paced_growth": beside / alone}


def p99(durations: Sequence[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(durations, n=100, method="inclusive")[98]


def _probe(endpoint: Endpoint, small: Path, rate: float, seconds: float) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.compare.prober", endpoint.to_json(), str(small)]
    command += [str(rate), str(seconds)]
    process = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise LoadFailed(f"a small chat: {process.stderr.strip()[-300:]}")
    durations: list[float] = json.loads(process.stdout)
    return durations


@contextmanager
def _large_ones(endpoint: Endpoint, body: bytes) -> Iterator[None]:
    """Send large chats at a steady pace until the block ends, whether or not those before have been
    answered. Raises LoadFailed when one is refused."""
    failures: list[str] = []
    ends = Event()

    def send() -> None:
        try:
            status, text = ask(endpoint, body)
        except (OSError, http.client.HTTPException) as error:
            status, text = 0, str(error)
        if status != 200:
            failures.append(f"a chat of 10 MB: {status or ''} {text[:200]}".strip())

    def pace() -> None:
        begin, number = time.monotonic(), 0
        while not failures and not ends.wait(
            max(0.0, begin + number / _LARGE_PER_SECOND - time.monotonic())
        ):
            senders.append(Thread(target=send, daemon=True))
            senders[-1].start()
            number += 1

    senders: list[Thread] = []
    pacer = Thread(target=pace, daemon=True)
    pacer.start()
    try:
        yield
    finally:
        ends.set()
        pacer.join()
        until = time.monotonic() + _PATIENCE
        for sender in senders:
            sender.join(max(0.0, until - time.monotonic()))
    if any(sender.is_alive() for sender in senders):
        failures.append(f"a chat of 10 MB: no answer in {_PATIENCE:g} s")
    if failures:
        raise LoadFailed(failures[0])
