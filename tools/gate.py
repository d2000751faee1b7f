"""The parts of the gate that take minutes, side by side where one leaves processors idle.

`tox` calls `python -m tools.gate`; with arguments, pytest runs these tests alone. Tests begin once
the types are right: an error ends the gate early. Then there are two runs of pytest: that of the
tests which mostly wait, for processes and timeouts, has more workers than there are processors, and
beside it that of the tests which compute uses what it leaves. Each worker imports only the tests of
its run. Counts and audit come when the second has ended.

Tests of an empty checkout are compiled before pytest starts its workers: each of them would do it
for itself, at the same time, which takes a third of a minute of each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

_PYTHON = (sys.executable, "-m")
PYTEST = (*_PYTHON, "pytest")
FIRST = (*_PYTHON, "mypy")
BESIDE = ((*_PYTHON, "benchmarks.counts"), (*_PYTHON, "tools.audit"))
TESTS = Path("tests")
WAITING = (
    "tests/e2e",
    "tests/deploy",
    "tests/docs",
    "tests/examples",
    "tests/stores",
    "tests/trials",
)
"""The folders whose tests wait more than they compute."""

_STEAL = ("--dist", "worksteal")
_PORTS = "MODELWAY_TEST_PORTS"


def main(arguments: Sequence[str]) -> int:
    """Run everything. Returns the exit status: 1 unless all parts succeed."""
    tests, beside = runs(arguments)
    checks = Checks(FIRST, [*beside, *BESIDE])
    checks.start()
    if beside and not are_compiled(TESTS):
        subprocess.run([*PYTEST, "--collect-only", "-qq"], capture_output=True, check=False)
    wait_for_programs()
    checks.go_on()
    success = checks.passes_first()
    if success:
        success = subprocess.run(tests, check=False).returncode == 0
    checks.join()
    print(checks.report(), flush=True)
    return 0 if success and not checks.failures else 1


def wait_for_programs() -> None:
    """Wait while the file is there that MODELWAY_INSTALLING names: `.ci/run` installs what tests
    start."""
    file = os.environ.get("MODELWAY_INSTALLING")
    while file and Path(file).exists():
        time.sleep(0.2)


def runs(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The run of pytest whose output is shown as it comes, and those beside it."""
    if arguments:
        return [*PYTEST, "-n", "4", *_STEAL, *arguments], []
    others = [f"--ignore={folder}" for folder in WAITING]
    ports = ("env", f"{_PORTS}=8")  # others than those of the workers of the first run
    computing = [*ports, *PYTEST, "-q", "-n", "2", *_STEAL, *others]
    return [*PYTEST, "-n", "6", *_STEAL, *WAITING], [computing]


class Checks(Thread):
    """Commands in a thread: the `first`, and if it succeeds, after `go_on`, `others`. Their output
    is kept until `report`."""

    def __init__(self, first: Sequence[str], others: Sequence[Sequence[str]]) -> None:
        super().__init__(name="checks", daemon=True)
        self.failures: list[str] = []
        self._first, self._others = first, others
        self._first_ended, self._may_go_on = Event(), Event()
        self._output: list[str] = []

    def run(self) -> None:
        try:
            self._call(self._first)
        finally:
            self._first_ended.set()
        self._may_go_on.wait()
        for command in () if self.failures else self._others:
            self._call(command)

    def go_on(self) -> None:
        """Let the others begin when the first has ended."""
        self._may_go_on.set()

    def passes_first(self) -> bool:
        """Wait for the first command. Returns whether it succeeded."""
        self._first_ended.wait()
        return not self.failures

    def report(self) -> str:
        """What all commands wrote, and which failed."""
        return "\n".join([*self._output, *(f"failed: {name}" for name in self.failures)])

    def _call(self, command: Sequence[str]) -> None:
        name = _name(command)
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


def _name(command: Sequence[str]) -> str:
    """The module that a command runs, as it is written behind `python -m`."""
    return command[command.index("-m") + 1] if "-m" in command else " ".join(command[-2:])


def are_compiled(tests: Path) -> bool:
    """Whether most test modules below a folder have bytecode of this Python and pytest."""
    ending = f".{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    modules = [*tests.rglob("test_*.py")]
    caches = [m.parent / "__pycache__" / f"{m.stem}{ending}" for m in modules]
    return 2 * sum(cache.exists() for cache in caches) > len(modules)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
