"""Runs test modules in groups, each by a process of pytest, several at a time.

A worker of pytest-xdist collects every test of a run and sends five messages for each; a process of
its own imports the modules of its group and sends nothing: a tenth of the gate's CPU time less.
Neighbours by name share a group, so their fixtures of a session serve most of those who use them.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Lock

_PORTS = "MODELWAY_TEST_PORTS"
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|errors?|xfailed|deselected)")
_NOTHING = 5
"""The status of pytest without any test."""


@dataclass(frozen=True)
class Group:
    """Test modules for one process."""

    modules: Sequence[Path]

    def __str__(self) -> str:
        first, last = self.modules[0], self.modules[-1]
        return str(first) if first == last else f"{first} to {last}"


def groups_of(folders: Sequence[Path], size: int, ignore: Sequence[Path] = ()) -> list[Group]:
    """The test modules below each folder and not below the folders to ignore, in the order of their
    names: at most `size` to a group, and groups of nearly equal size."""
    groups = []
    for folder in folders:
        modules = sorted(
            module
            for module in folder.rglob("test_*.py")
            if not any(module.is_relative_to(other) for other in ignore)
        )
        count = -(-len(modules) // size)
        bounds = [len(modules) * number // count for number in range(count + 1)] if count else []
        groups += [Group(modules[a:b]) for a, b in pairwise(bounds)]
    return groups


@dataclass
class Results:
    """What the processes said: the output of each, the number of tests by outcome, and the groups
    that failed."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Group] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def add(self, group: Group, status: int, output: str) -> None:
        """Note the result of a group and print it: all of it if a test failed."""
        *_, last = output.rstrip().splitlines() or [""]
        with self._lock:
            self.counts.update({name: int(n) for n, name in _COUNT.findall(last)})
            if status not in (0, _NOTHING):
                self.failures.append(group)
                print(f"{group}: failed\n{output}", flush=True)
            else:
                summary = output.rpartition("short test summary info")[2].partition("\n")[2]
                print(f"{group}\n{summary or last}".rstrip(), flush=True)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
        return "\n".join([*(f"failed: {group}" for group in self.failures), f"tests: {counts}"])


def run_groups(
    command: Sequence[str], queues: Sequence[Sequence[Group]], processes: Sequence[int]
) -> Results:
    """Run all groups with a command of pytest. There are as many processes at a time for each queue
    as `processes` says; one whose queue is empty takes from the others."""
    waiting = [deque(queue) for queue in queues]
    results = Results()

    def work(number: int, own: int) -> None:
        order = [waiting[own], *(queue for queue in waiting if queue is not waiting[own])]
        environ = {**os.environ, _PORTS: str(number)}
        while (group := _next(order)) is not None:
            results.add(group, *_run([*command, *map(str, group.modules)], environ))

    owners = [index for index, count in enumerate(processes) for _ in range(count)]
    with ThreadPoolExecutor(len(owners)) as pool:
        try:
            done = [pool.submit(work, number, own) for number, own in enumerate(owners)]
            for future in done:
                future.result()
        except BaseException:  # Ctrl-C: the processes got it as well
            for queue in waiting:
                queue.clear()
            raise
    return results


def _next(queues: Sequence[deque[Group]]) -> Group | None:
    """The first group of the first queue that has one."""
    for queue in queues:
        try:
            return queue.popleft()
        except IndexError:
            continue
    return None


def _run(command: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """The status and output of a command."""
    result = subprocess.run(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    return result.returncode, result.stdout
