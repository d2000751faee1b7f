"""The parts of the gate that take minutes, side by side where one leaves processors idle.

`tox` calls `python -m tools.gate`; with arguments, pytest runs these tests alone. Groups of test
modules run, each in a process of its own (`pytest_groups.py`): those of tests which mostly wait,
for processes and timeouts, in more processes than there are processors, and beside them those which
compute. One process begins beside the check of types, and the others once the types are right: an
error ends the gate early. Counts and audit run beside the tests.

Of an empty checkout, what most tests import is compiled before: each process would do it for
itself, at the same time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.support.warm import opened_door
from tools.pytest_groups import Group, groups_of, run_groups, shrinking_groups

_PYTHON = (sys.executable, "-m")
PYTEST = (*_PYTHON, "pytest")
_NOT_REWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
"""Plug-ins that are imported already need no messages of their assertions."""
_INITIALISED = "ignore::hypothesis.errors.HypothesisSideeffectWarning"
"""Hypothesis has been initialised before its plug-in is loaded, on purpose."""
FIRST = (*_PYTHON, "mypy")
BESIDE = ((*_PYTHON, "benchmarks.counts"), (*_PYTHON, "tools.audit"))
TESTS = Path("tests")
WAITING = ("e2e", "deploy", "docs", "examples", "stores", "trials")
"""The folders whose tests wait more than they compute."""
ELSEWHERE = ("corpus", "field")
"""Those of other environments of tox."""

IMPORTS = (
    *(
        "pytest",
        "hypothesis",
        "openai",
        "anthropic",
        "google.genai",
        "sqlalchemy",
        "alembic.command",
    ),
    *("engine.app.build", "engine.cli.serve", "engine.mock", "engine.offline", "engine.plan"),
    *("engine.server.reload", "engine.spec", "engine.translations", "engine.upstream"),
    "tests.support.first_example",
)
"""What tests import, once for all groups; the last finds what the others have."""
_GROUP = (
    "-q",
    "-p",
    "no:xdist",
    "-p",
    "no:cacheprovider",
    "-W",
    _NOT_REWRITTEN,
    "-W",
    _INITIALISED,
)
_SIZE = 12
"""The most modules of a group of tests that wait, and the fewest of tests that compute."""
_PROCESSES = (6, 2)
"""How many of each run at a time."""


def main(arguments: Sequence[str]) -> int:
    """Run everything. Returns the exit status: 1 unless all parts succeed."""
    checks = Checks(FIRST, BESIDE)
    checks.start()
    if not arguments and not are_compiled(TESTS):
        command = [*PYTEST, "--collect-only", "-qq", str(TESTS / "e2e")]
        subprocess.run(command, capture_output=True, check=False)
    wait_for_programs()
    checks.go_on()
    success = run_tests(arguments, checks.passes_first)
    checks.join()
    print(checks.report(), flush=True)
    return 0 if success and not checks.failures else 1


def run_tests(arguments: Sequence[str], may_begin: Callable[[], bool]) -> bool:
    """Run the tests that arguments for pytest name, all without, if they `may_begin`. Returns
    whether they passed."""
    if arguments:
        command = [*PYTEST, "-n", "4", "--dist", "worksteal", *arguments]
        return may_begin() and subprocess.run(command, check=False).returncode == 0
    with opened_door():
        results = run_groups(_GROUP, queues(), _PROCESSES, IMPORTS, may_begin)
    print(results, flush=True)
    return bool(results.counts) and not results.failures


def queues() -> list[list[Group]]:
    """The groups of tests that wait, and those of all others."""
    waiting = [TESTS / folder for folder in WAITING]
    ignored = [*waiting, *(TESTS / name for name in ELSEWHERE)]
    others = shrinking_groups(TESTS, sum(_PROCESSES), _SIZE, ignored)
    return [groups_of(waiting, _SIZE), others]


def wait_for_programs() -> None:
    """Wait while the file is there that MODELWAY_INSTALLING names: `.ci/run` installs what tests
    start."""
    file = os.environ.get("MODELWAY_INSTALLING")
    while file and Path(file).exists():
        time.sleep(0.2)


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
