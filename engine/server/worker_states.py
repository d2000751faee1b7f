"""The states of a master's workers, for `modelway reload`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

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
