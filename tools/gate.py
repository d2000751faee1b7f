"""The parts of the gate that take minutes, side by side where one leaves processors idle.

`tox` calls `python -m tools.gate`; arguments go to pytest. Types, counts and audit run one after
the other beside the tests, which begin once the types are right: an error ends the gate early.

Tests of an empty checkout are compiled before pytest starts its workers: each of them would do it
for itself, at the same time, which takes a third of a minute of each.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

_PYTHON = (sys.executable, "-m")
PYTEST = (*_PYTHON, "pytest")
FIRST = (*_PYTHON, "mypy")
BESIDE = ((*_PYTHON, "benchmarks.counts"), (*_PYTHON, "tools.audit"))
TESTS = Path("tests")


def main(arguments: Sequence[str]) -> int:
    """Run everything. Returns the exit status: 1 unless all parts succeed."""
    checks = Checks(FIRST, BESIDE)
    checks.start()
    if not arguments and not are_compiled(TESTS):
        subprocess.run([*PYTEST, "--collect-only", "-qq"], capture_output=True, check=False)
    success = checks.passes_first()
    if success:
        tests = [*PYTEST, "-n", "4", "--dist", "worksteal", *arguments]
        success = subprocess.run(tests, check=False).returncode == 0
    checks.join()
    print(checks.report(), flush=True)
    return 0 if success and not checks.failures else 1


class Checks(Thread):
    """Commands in a thread: the `first`, and if it succeeds, `others`. Their output is kept until
    `report`."""

    def __init__(self, first: Sequence[str], others: Sequence[Sequence[str]]) -> None:
        super().__init__(name="checks", daemon=True)
        self.failures: list[str] = []
        self._first, self._others = first, others
        self._first_ended = Event()
        self._output: list[str] = []

    def run(self) -> None:
        try:
            self._call(self._first)
        finally:
            self._first_ended.set()
        for command in () if self.failures else self._others:
            self._call(command)

    def passes_first(self) -> bool:
        """Wait for the first command. Returns whether it succeeded."""
        self._first_ended.wait()
        return not self.failures

    def report(self) -> str:
        """What all commands wrote, and which failed."""
        return "\n".join([*self._output, *(f"failed: {name}" for name in self.failures)])

    def _call(self, command: Sequence[str]) -> None:
        name = " ".join(command[-2:])
        try:
            result = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except OSError as error:
            self._output.append(f"{name}: {error}")
            self.failures.append(name)
            return
        self._output.append(f"{name}\n{result.stdout.rstrip()}")
        if result.returncode != 0:
            self.failures.append(name)


def are_compiled(tests: Path) -> bool:
    """Whether most test modules below a folder have bytecode of this Python and pytest."""
    ending = f".{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    modules = [*tests.rglob("test_*.py")]
    caches = [m.parent / "__pycache__" / f"{m.stem}{ending}" for m in modules]
    return 2 * sum(cache.exists() for cache in caches) > len(modules)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
