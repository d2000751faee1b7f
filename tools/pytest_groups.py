"""Runs test modules in groups, each by a process of pytest, several at a time.

A worker of pytest-xdist collects every test of a run and sends five messages for each; a process of
its own imports the modules of its group and sends nothing: a tenth of the gate's CPU time less.
Each is a copy of one that has imported what most tests import, which takes two seconds. Neighbours
by name share a group, so their fixtures of a session serve most of those who use them.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Event, Lock

from tests.support.warm import Warm, WarmProcess

_PORTS = "MODELWAY_TEST_PORTS"
_COUNT = re.compile(r"(\d+) (passed|failed|skipped|errors?|xfailed|deselected)")
_NOTHING = 5
"""The status of pytest without any test."""
_STEP = 0.1
"""Seconds between two looks whether a process has ended."""


@dataclass(frozen=True)
class Group:
    """Test modules for one process."""

    modules: Sequence[Path]

    def __str__(self) -> str:
        first, last = self.modules[0], self.modules[-1]
        return str(first) if first == last else f"{first} to {last}"


def groups_of(folders: Sequence[Path], size: int) -> list[Group]:
    """The test modules below each folder, in the order of their names: at most `size` to a group,
    and groups of nearly equal size."""
    groups = []
    for folder in folders:
        modules = _modules(folder)
        count = -(-len(modules) // size)
        bounds = [len(modules) * number // count for number in range(count + 1)] if count else []
        groups += [Group(modules[a:b]) for a, b in pairwise(bounds)]
    return groups


def shrinking_groups(folder: Path, share: int, least: int, ignore: Sequence[Path]) -> list[Group]:
    """The test modules below a folder and not below those to ignore, in the order of their names:
    in each group one part of `share` of those that are left, and `least` or more. The last groups
    are small, so that all processes end at about the same time."""
    modules, groups = _modules(folder, ignore), []
    while modules:
        count = max(least, len(modules) // share)
        groups.append(Group(modules[:count]))
        modules = modules[count:]
    return groups


def _modules(folder: Path, ignore: Sequence[Path] = ()) -> list[Path]:
    """The test modules below a folder and not below others, in the order of their names."""
    modules = sorted(folder.rglob("test_*.py"))
    return [m for m in modules if not any(m.is_relative_to(other) for other in ignore)]


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
    options: Sequence[str],
    queues: Sequence[Sequence[Group]],
    processes: Sequence[int],
    imports: Sequence[str] = ("pytest",),
    may_begin: Callable[[], bool] = lambda: True,
) -> Results:
    """Run all groups with options of pytest. There are as many processes at a time for each queue
    as `processes` says; one whose queue is empty takes from the others. The last process begins at
    once, the others when they `may_begin`; if that returns False, it ends and no group counts.
    `imports` are modules that the groups share."""
    waiting = [deque(queue) for queue in queues]
    results = Results()
    copies = Copies(imports)
    owners = [index for index, count in enumerate(processes) for _ in range(count)]
    stopped = Event()

    def begins() -> bool:
        if not may_begin():
            stopped.set()
            for queue in waiting:
                queue.clear()
            copies.kill()
        return not stopped.is_set()

    def work(number: int, own: int) -> None:
        others = [queue for queue in waiting if queue is not waiting[own]]
        environ = {**os.environ, _PORTS: str(number)}
        for order in ([waiting[own]], others):
            if (order is others or number < len(owners) - 1) and not begins():
                return
            while (group := _next(order)) is not None:
                result = copies.run([*options, *map(str, group.modules)], environ)
                if not stopped.is_set():
                    results.add(group, *result)

    with ThreadPoolExecutor(len(owners)) as pool:
        try:
            tasks = [pool.submit(work, number, own) for number, own in enumerate(owners)]
            for task in tasks:
                task.result()
        except BaseException:  # Ctrl-C, which does not reach the sessions of copies
            for queue in waiting:
                queue.clear()
            copies.kill()
            raise
        finally:
            copies.stop()
    return results


class Copies:
    """Processes of pytest, copies of one that has imported modules, those of this folder first as
    for `python -m pytest`."""

    def __init__(self, imports: Sequence[str]) -> None:
        self._warm = Warm(imports, Path.cwd())
        self._running: set[WarmProcess] = set()
        self._is_ending = False

    def run(self, arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str]:
        """The status and output of `pytest` with arguments."""
        with tempfile.TemporaryFile() as out:
            process = self._warm.start(arguments, Path.cwd(), environ, out, module="pytest")
            self._running.add(process)
            if self._is_ending:
                process.send_signal(signal.SIGTERM)
            while (status := process.poll()) is None:
                time.sleep(_STEP)
            self._running.discard(process)
            out.seek(0)
            return status, out.read().decode("utf-8", "replace")

    def kill(self) -> None:
        """End all that run, and at once what is started later."""
        self._is_ending = True
        for process in [*self._running]:
            process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        self._warm.stop()


def _next(queues: Sequence[deque[Group]]) -> Group | None:
    """The first group of the first queue that has one."""
    for queue in queues:
        try:
            return queue.popleft()
        except IndexError:
            continue
    return None
