"""Starts the workers and the recorder of a master, watches them, and replaces those that end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from gunicorn.arbiter import Arbiter
from gunicorn.errors import HaltServer
from gunicorn.sock import BaseSocket

from engine.server import gevent_patches
from engine.server.heavy_worker import HeavyWorker
from engine.server.master_state import WorkerStates
from engine.server.recorder_process import RecorderProcess
from engine.server.serving_processes import ALONE, ReloadableApp, Role, ServingProcesses
from engine.server.shutdown import SIGNALS
from engine.server.systemd import ServiceManager
from engine.server.watchdog import Watchdog

_CRASHED = -1
"""gunicorn's exit status of a worker that failed after it had booted."""
MAX_PAUSE = 30.0
"""The longest pause, in seconds."""


class BootBackoff:
    """2 s after the first failure, then twice as long each time, at most MAX_PAUSE. It starts
    again at 2 s once no worker has failed for MAX_PAUSE. `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """Forget the failures: the next worker may start at once."""
        self._failures, self._next = 0, 0.0

    @property
    def is_over(self) -> bool:
        """Whether a worker may be started."""
        return self._clock() >= self._next

    def fail(self) -> float:
        """A worker failed. Returns the seconds until the next one may start."""
        now = self._clock()
        if now > self._next + MAX_PAUSE:
            self._failures = 0
        self._failures += 1
        pause = min(2.0 ** min(self._failures, 10), MAX_PAUSE)
        self._next = now + pause
        return pause


class Supervisor(Arbiter):
    """gunicorn's arbiter, for workers and heavy workers.

    A new worker has its master's signal handlers until it has set its own, and would lose a signal
    that comes before. So the signals that end a worker are blocked over the fork, and
    `server/worker.py` unblocks them.

    `recorders` are those of the config and of earlier ones that still have workers.

    Once a worker has served, only a signal ends the master. gunicorn exits when a worker fails to
    boot, and replaces a crashed worker at once; this one waits first, with backoff, in both cases.
    """

    LISTENERS: list[BaseSocket]
    num_workers: int
    _reloading = False

    def __init__(self, app: ReloadableApp, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(app)
        self._clock = clock
        self._backoff = BootBackoff(clock)
        self._states = WorkerStates(time.time)
        self._service_manager = ServiceManager()
        self._watchdog = Watchdog(self.timeout, clock)
        gevent_patches.gevent_plugins()  # its processes inherit them
        self.recorders: list[RecorderProcess] = []
        self._group = self._new_group(0)

    def handle_ttou(self) -> None:
        """Fewer workers: one stays, besides the heavy ones."""
        if self.num_workers > 1 + self._group.server.heavy_processes:
            super().handle_ttou()  # type: ignore[misc]  # its stubs do not know

    def _new_group(self, after: int) -> ServingProcesses:
        """The processes that serve the config of the application."""
        run = self.app.recorder
        recorder = RecorderProcess(run, self.timeout, self._clock) if run is not None else None
        if recorder is not None:
            self.recorders.append(recorder)
        return ServingProcesses(self.app.server, after, recorder)

    def keep_recorder(self) -> None:
        """Start the recorder, or replace it if it has ended; forget those of earlier configs that
        have."""
        current = self._group.recorder
        self.recorders = [each for each in self.recorders if each is not current and each.lives()]
        if current is not None:
            self.recorders.append(current)  # also after a reload that failed
            current.keep(self._leave_to_workers)

    def _leave_to_workers(self) -> None:
        """Called in the recorder: close what it inherits from the master for workers."""
        for listener in self.LISTENERS:
            listener.close()
        for worker in self.WORKERS.values():
            worker.tmp.close()
        self.close_old_sockets()
        self._group.close_heavy_channel()

    def leave_to_master(self) -> None:
        """Called in a new worker: close what it inherits that is not for workers of its config."""
        self.close_old_sockets()
        for recorder in self.recorders:
            recorder.leave_to_master()

    def close_old_sockets(self) -> None:
        """Close what only workers of an earlier config use, in a new process."""

    def _living(self) -> list[tuple[int, Role]]:
        """The ages and roles of all processes."""
        return [(w.age, getattr(w, "role", ALONE)) for w in self.WORKERS.values()]

    def _start_workers(self, start: Callable[[], None]) -> None:
        """Call `start`, unless a worker failed a moment ago. The recorder comes first: it takes
        longer than a worker until it serves, and a caller whose token it knows waits for it."""
        self.keep_recorder()
        boots = self.app.boots
        boots.receive()
        if boots.crashes:
            boots.crashes = 0
            self._pause(boots.failures[-1])
        if self._backoff.is_over:
            try:
                start()
                if self._group.lacks_heavy_workers(self._living()):
                    self.spawn_worker()
            except (OSError, RuntimeError) as error:
                if os.getpid() != self.pid or not boots.booted:
                    raise
                self._pause(f"cannot fork a worker: {error}")
        self._report()

    def murder_workers(self) -> None:
        """End workers that are stuck (see `engine.server.watchdog`): gunicorn's own would end each
        whose loop has not turned for 30 seconds, though it computes. Called about once a second."""
        self._watchdog.keep(self.WORKERS)
        for pid, worker in list(self.WORKERS.items()):
            remedy = self._watchdog.check(pid, worker.tmp.last_update())
            if remedy is not None:
                self.log.critical(remedy.message, pid)
                self.kill_worker(pid, remedy.signal)

    def _reap(self) -> None:
        while True:
            before = dict(self.WORKERS)
            try:
                super().reap_workers()
            except HaltServer as halt:
                self.app.boots.receive()
                if not self.app.boots.booted:
                    raise
                for pid in before.keys() - self.WORKERS.keys():
                    before[pid].tmp.close()
                self._pause(self.app.boots.failures[-1] if self.app.boots.failures else halt.reason)
            else:
                return

    def _pause(self, reason: str) -> None:
        """Wait before the next worker is started."""
        pause = self._backoff.fail()
        self.log.error("a worker failed; the next worker starts in %g s: %s", pause, reason)

    def spawn_workers(self) -> None:
        """Start those that are missing. gunicorn would sleep up to 0.1 s after each."""
        for _ in range(self.num_workers - len(self.WORKERS)):
            self.spawn_worker()

    def spawn_worker(self) -> int:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        role = self.app.next_role = self._group.next_role(self._living(), self.num_workers)
        self.worker_class = HeavyWorker if role.is_heavy else self.cfg.worker_class
        try:
            pid = super().spawn_worker()
            self._states.start(pid, self.app.config, is_heavy=role.is_heavy)
            return pid
        except SystemExit as ended:  # in the worker's process
            if ended.code == _CRASHED:
                self.app.boots.tell_crashed(repr(ended.__context__))
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def kill_worker(self, pid: int, sig: int) -> None:
        if sig != signal.SIGUSR1:
            self._states.end(pid)
        super().kill_worker(pid, sig)

    def _report(self) -> None:
        """Report the states of the workers to the application."""
        boots = self.app.boots
        boots.receive()
        serving = [pid for pid, w in self.WORKERS.items() if w.age in boots.booted]
        self._states.serve(serving)
        self._states.keep(self.WORKERS.keys(), boots.errors)
        self.app.report(self._states.all())
        if len(serving) == self.cfg.workers and not self._reloading:
            self._service_manager.serving(self.app.config, self._group.server.workers)
