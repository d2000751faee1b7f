"""What the masters of a config serve, published in its runtime directory: for `modelway reload`,
`/readyz` and the metrics.

Two gateways of one config take turns on a machine, so each master has files of its own: its state,
and a lock that it holds as long as it lives.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from msgspec import DecodeError, Struct, json
from msgspec.structs import replace

from engine.process import runtime_dir

_MAX_FAILED = 8
"""Failed workers that are remembered, the last ones."""


class Phase(StrEnum):
    """The life of a worker. Once it `ends`, it accepts nothing and finishes its requests."""

    STARTS = "starts"
    SERVES = "serves"
    ENDS = "ends"
    FAILED = "failed"


class WorkerState(Struct, frozen=True):
    """A worker by its process id: the hash of the config that it serves, its phase, and `since`
    when (Unix seconds). `error` is why it failed; `is_heavy`: it serves large requests only."""

    pid: int
    config: str
    phase: Phase
    since: float
    error: str = ""
    is_heavy: bool = False


class WorkerStates:
    """The workers of a master, and the last ones that failed. `clock` gives Unix seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._states: dict[int, WorkerState] = {}

    def all(self) -> tuple[WorkerState, ...]:
        """The states, the oldest worker first."""
        return tuple(self._states.values())

    def start(self, pid: int, config: str, *, is_heavy: bool = False) -> None:
        """A worker was started."""
        since = self._clock()
        self._states[pid] = WorkerState(pid, config, Phase.STARTS, since, is_heavy=is_heavy)

    def serve(self, pids: Collection[int]) -> None:
        """These workers have booted."""
        for pid in pids:
            if pid in self._states and self._states[pid].phase is Phase.STARTS:
                self._enter(pid, Phase.SERVES)

    def end(self, pid: int) -> None:
        """A worker got a signal to end."""
        if pid in self._states and self._states[pid].phase in (Phase.STARTS, Phase.SERVES):
            self._enter(pid, Phase.ENDS)

    def keep(self, living: Collection[int], errors: Mapping[int, str]) -> None:
        """Only these processes live: forget those that ended, and note those that failed, with
        their errors."""
        for pid, state in list(self._states.items()):
            if pid in living or state.phase is Phase.FAILED:
                continue
            if pid in errors:
                self._enter(pid, Phase.FAILED, errors[pid])
            elif state.phase is Phase.ENDS:
                del self._states[pid]
            else:
                self._enter(pid, Phase.FAILED, "it died")
        failed = [pid for pid, state in self._states.items() if state.phase is Phase.FAILED]
        for pid in failed[:-_MAX_FAILED]:
            del self._states[pid]

    def forget_failures(self) -> None:
        """Forget the workers that failed."""
        self._states = {
            pid: state for pid, state in self._states.items() if state.phase is not Phase.FAILED
        }

    def _enter(self, pid: int, phase: Phase, error: str = "") -> None:
        state = self._states[pid]
        self._states[pid] = replace(state, phase=phase, since=self._clock(), error=error)


_STATE, _LOCK = "gateway-{}.json", "gateway-{}.lock"


class State(Struct, frozen=True):
    """What the master `pid` serves: the `hash` of all files of its config, and the times, in Unix
    seconds, when it was `loaded` and when a config was last `tried`. `error` is why that trial
    failed, "" if it succeeded."""

    pid: int
    hash: str
    loaded: float
    tried: float
    error: str = ""
    workers: tuple[WorkerState, ...] = ()

    @property
    def stops(self) -> bool:
        """Whether it accepts no more requests: all of its workers end."""
        return bool(self.workers) and all(w.phase is Phase.ENDS for w in self.workers)


def read_all(folder: Path) -> list[State]:
    """The states of the running masters of this runtime directory, oldest first."""
    locks = sorted(folder.glob(_LOCK.format("*")), key=_age)
    states = (_read(lock.with_suffix(".json")) for lock in locks if _is_held(lock))
    return [state for state in states if state is not None and _lives(state.pid)]


def read(folder: Path) -> State | None:
    """The state of the master that started last; None if no master serves."""
    states = read_all(folder)
    return states[-1] if states else None


class Publication:
    """The files of a master in a runtime directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pid = os.getpid()
        self._lock: int | None = None

    @property
    def is_removed(self) -> bool:
        """Whether what was published has been removed, as when the user has logged out and systemd
        removes their files in /dev/shm."""
        return self._lock is not None and not os.fstat(self._lock).st_nlink

    def publish(self, state: State) -> None:
        """Write the state. Raises OSError."""
        if self._lock is None or self.is_removed:
            runtime_dir.prepare(self._folder)
            self._remove_dead()
            before, self._lock = self._lock, self._take_lock()
            if before is not None:
                os.close(before)
        draft = self._folder / f"{_STATE.format(self._pid)}.new"
        draft.write_bytes(json.encode(state))
        draft.replace(self._folder / _STATE.format(self._pid))

    def _take_lock(self) -> int:
        """Lock a file, then give it its name: other processes never see it unlocked."""
        draft = self._folder / f"{_LOCK.format(self._pid)}.new"
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.replace(self._folder / _LOCK.format(self._pid))
        return descriptor

    def _remove_dead(self) -> None:
        """Remove the files of masters that have ended."""
        for lock in self._folder.glob(_LOCK.format("*")):
            if not _is_held(lock):
                lock.unlink(missing_ok=True)
                for suffix in (".json", ".tokens"):
                    lock.with_suffix(suffix).unlink(missing_ok=True)


def _read(file: Path) -> State | None:
    with suppress(OSError, DecodeError):
        return json.decode(file.read_bytes(), type=State)
    return None


def _lives(pid: int) -> bool:
    """Whether a process lives. Workers have the lock of their master, and may outlive it."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _is_held(lock: Path) -> bool:
    """Whether a process holds a lock."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # it was removed meanwhile
        return False
    return False


def _age(lock: Path) -> float:
    try:
        return lock.stat().st_mtime_ns
    except OSError:
        return 0.0
