"""Finds threads, child processes and sockets that a test leaves behind in this process.

A pytest plugin, switched on in `conftest.py`. A test fails if something that was not there before
is still there after its fixtures have been torn down. What a fixture of a wider scope started in
its own set-up may stay: it lives as long as that fixture. `@pytest.mark.keeps("why")` lets a test
leave something that such a fixture will end.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gevent
import pytest

from tests.support.waiting import Deadline
from tests.support.warm import CONNECTIONS, PROCESSES

_HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Processes that Python starts once, on first use, and keeps, as tests do those of PROCESSES."""


@dataclass(frozen=True)
class Resources:
    """Threads, child processes by id, sockets as `socket:[inode]`."""

    threads: frozenset[threading.Thread]
    processes: frozenset[int]
    sockets: frozenset[str]

    def __sub__(self, other: Resources) -> Resources:
        return self._by(frozenset.difference, other)

    def __or__(self, other: Resources) -> Resources:
        return self._by(frozenset.union, other)

    def _by(self, combine: Callable[..., Any], other: Resources) -> Resources:
        return Resources(
            combine(self.threads, other.threads),
            combine(self.processes, other.processes),
            combine(self.sockets, other.sockets),
        )

    def __bool__(self) -> bool:
        return bool(self.threads or self.processes or self.sockets)

    def __str__(self) -> str:
        lines = [f"thread {thread.name}" for thread in self.threads]
        lines += [f"process {pid}: {_command(pid)}" for pid in self.processes]
        lines += [f"{name}: {_address(name)}" for name in self.sockets]
        return "; ".join(sorted(lines))


NOTHING = Resources(frozenset(), frozenset(), frozenset())


def current_resources() -> Resources:
    """The resources of this process."""
    return Resources(
        frozenset(threading.enumerate()), frozenset(_children()), frozenset(_sockets())
    )


def _children() -> Iterator[int]:
    for task in os.listdir("/proc/self/task"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            for pid in map(int, Path(f"/proc/self/task/{task}/children").read_text().split()):
                yield pid
    for pid in tuple(PROCESSES):  # what they fork is a child of the test, too
        yield from _children_of(pid)


def _children_of(pid: int) -> Iterator[int]:
    with suppress(FileNotFoundError, ProcessLookupError):
        yield from map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def _sockets() -> Iterator[str]:
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the one that lists them
            target = os.readlink(f"/proc/self/fd/{number}")
            if target.startswith("socket:") and int(target[8:-1]) not in CONNECTIONS:
                yield target


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "gone"
    return b" ".join(words)[:200].decode(errors="replace") or "ended, but nobody waited for it"


def _address(name: str) -> str:
    """The addresses of a TCP socket and whether it listens, as Linux tells them."""
    inode = name[len("socket:[") : -1]
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(file).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] == inode:
                kind = "listens" if fields[3] == "0A" else f"connected to {_port(fields[2])}"
                return f"port {_port(fields[1])}, {kind}"
    return "no TCP socket"


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


class Leaks:
    """The plugin."""

    def __init__(self) -> None:
        self._allowed = NOTHING
        self._before = NOTHING
        self._wide: set[str] = set()  # the names of fixtures of a wider scope than a test

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before = current_resources()
        try:
            return (yield)
        finally:
            self._allowed |= current_resources() - before
            self._wide.add(fixturedef.argname)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        self._before = current_resources()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        try:
            return (yield)
        finally:
            if leftovers := self._leftovers(item):
                pytest.fail(f"left behind: {leftovers}", pytrace=False)

    def _leftovers(self, item: pytest.Item) -> Resources:
        """The resources that a test leaves behind; waits up to PATIENCE for them to end."""
        keeps = item.get_closest_marker("keeps")
        if keeps is not None:
            self._allowed |= current_resources() - self._before
            return NOTHING
        allowed = self._before | self._allowed
        shared = not self._wide.isdisjoint(getattr(item, "fixturenames", ()))
        deadline = Deadline()
        collected = False
        while leftovers := _without_allowed(current_resources() - allowed, shared):
            if not collected:
                gc.collect()  # closes what only a reference cycle holds
                collected = True
            elif deadline.passed():
                break
            else:
                gevent.sleep(0.01)  # lets greenlets run to their end
        return leftovers


def _without_allowed(leftovers: Resources, shared: bool) -> Resources:
    """The leftovers that are errors. A test with a `shared` client or server may leave connections,
    and the daemon threads that serve them: other tests reuse them."""
    processes = frozenset(
        pid
        for pid in leftovers.processes - PROCESSES
        if not any(name in _command(pid) for name in _HELPERS)
    )
    sockets = leftovers.sockets
    if shared and sockets:
        sockets = frozenset(name for name in sockets if "listens" in _address(name))
    threads = frozenset(thread for thread in leftovers.threads if not (shared and thread.daemon))
    return Resources(threads, processes, sockets)
