"""wrk: so many connections for so many seconds, and what it says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.system import Endpoint

_RESULT = re.compile(
    r"^RESULT requests=(\d+) seconds=([\d.]+) p50=([\d.]+) p99=([\d.]+) p99\.9=([\d.]+) "
    r"status=(\d+) socket=(\d+)$",
    re.MULTILINE,
)
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
"""The percentiles that are shown, as shares of all requests."""
_MIN_ABOVE = 5
"""Requests that must be above a percentile: one that hangs on fewer is chance."""


class LoadFailed(Exception):
    """Not every request was answered with success; `str` says how many were not."""


@dataclass(frozen=True, slots=True)
class Load:
    """What wrk saw: requests, seconds, and the latency in seconds by name of the percentile."""

    requests: int
    seconds: float
    latency: Mapping[str, float]

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds


def is_known(name: str, requests: int) -> bool:
    """Whether so many requests are enough for that percentile."""
    return round(requests * (1 - PERCENTILES[name]), 6) >= _MIN_ABOVE


def parse(text: str) -> Load:
    """What chat.lua prints. Raises LoadFailed; ValueError for anything else."""
    match = _RESULT.search(text)
    if match is None:
        raise ValueError(f"not what wrk prints: {text[-300:]!r}")
    requests, status, broken = int(match[1]), int(match[6]), int(match[7])
    if status or broken or not requests:
        raise LoadFailed(f"of {requests} requests {status} refused, {broken} broken or late")
    latency = {
        name: float(value)
        for name, value in zip(PERCENTILES, match.groups()[2:5], strict=True)
        if is_known(name, requests)
    }
    return Load(requests, float(match[2]), latency)


def wrk(endpoint: Endpoint, connections: int, seconds: float, body: Path) -> Load:
    """Ask over and over. Raises LoadFailed."""
    script = Path(__file__).with_name("chat.lua")
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--timeout", "30s"]
    command += ["-s", str(script), f"http://127.0.0.1:{endpoint.port}", "--", endpoint.path]
    command += [endpoint.model, ",".join(endpoint.tokens), str(body), *endpoint.headers]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise LoadFailed(process.stderr[-300:])
    return parse(process.stdout)
