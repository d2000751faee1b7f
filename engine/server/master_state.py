"""What the masters of a config serve, published in its runtime directory: for `modelway reload`,
`/readyz` and the metrics.

Two gateways of one config take turns on a machine, so each master has files of its own: its state,
and a lock that it holds as long as it lives.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from msgspec import DecodeError, Struct, json

from engine.process import runtime_dir
from engine.server.worker_states import Phase, WorkerState

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
