"""A worker with Redis and its own memory, in a process of its own (`tests.support.stepping`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT
from tests.support.waiting import Deadline


class Stepper:
    """A worker that runs one step for each call of `do`."""

    def __init__(self, url: str, path: Path, machines: int = 1) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.stepping", url, str(path), str(machines)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def do(self, step: str, *arguments: int) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(" ".join([step, *map(str, arguments)]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def passes(self, times: int) -> int:
        """How many of `times` concurrent requests pass. AssertionError if one fails."""
        outcomes = self.do("take", times)
        assert outcomes["failed"] == 0
        return int(outcomes["passed"])

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


def until_redis_decides(worker: Stepper) -> None:
    """Take until requests are no longer counted locally. AssertionError after 20 s."""
    deadline = Deadline(20)
    while True:
        before = worker.do("take", 1)["locally"]
        if worker.do("take", 1)["locally"] == before:
            return
        assert not deadline.passed(), "Redis does not decide again"
        time.sleep(0.05)
