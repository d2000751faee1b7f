"""wrk: so many connections for so many seconds, and what it says."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compare.system import Endpoint

_RESULT = re.compile(
    r"^RESULT requests=(\d+) seconds=([\d.]+) p50=([\d.]+) p99=([\d.]+) status=(\d+) socket=(\d+)$",
    re.MULTILINE,
)


class LoadFailed(Exception):
    """Not every request was answered with success; `str` says how many were not."""


@dataclass(frozen=True, slots=True)
class Load:
    """What wrk saw: requests, and all times in seconds."""

    requests: int
    seconds: float
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds


def parse(text: str) -> Load:
    """What chat.lua prints. Raises LoadFailed; ValueError for anything else."""
    match = _RESULT.search(text)
    if match is None:
        raise ValueError(f"not what wrk prints: {text[-300:]!r}")
    requests, status, broken = int(match[1]), int(match[5]), int(match[6])
    if status or broken or not requests:
        raise LoadFailed(f"of {requests} requests {status} refused, {broken} broken or late")
    return Load(requests, float(match[2]), float(match[3]), float(match[4]))


def wrk(endpoint: Endpoint, connections: int, seconds: float, body: Path) -> Load:
    """Ask over and over. Raises LoadFailed."""
    script = Path(__file__).with_name("chat.lua")
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--timeout", "30s"]
    command += ["-s", str(script), f"http://127.0.0.1:{endpoint.port}", "--", endpoint.path]
    command += [endpoint.model, ",".join(endpoint.tokens), str(body)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise LoadFailed(process.stderr[-300:])
    return parse(process.stdout)
