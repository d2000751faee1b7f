"""gunicorn's master process: replaces the workers on a reload (see `reload.py`), and stops."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from types import FrameType

from gunicorn.sock import BaseSocket

from engine.server.serving_processes import ReloadableApp, ServingProcesses
from engine.server.shutdown import SIGNALS, in_order
from engine.server.supervisor import Supervisor


class _Interrupted(Exception):
    """A reload was cut short by a signal that ends the master."""


BOOT_SECONDS = 60.0
"""How long new workers may take to boot on a reload."""

RECORDER_SECONDS = 7.0
"""How long the recorder may take to ship the rest when the workers have ended: it has 3 s to end a
round, and 3 s for another."""

_KILL_SECONDS = 10.0
"""How long the master may take to end when the grace is over."""


class Master(Supervisor):
    """gunicorn's master process, with reloads that take over completely or not at all.

    SIGHUP reloads if the application agrees (`renew`); it may also ask for a reload (`changed`).
    One reload runs, and at most one more waits.
    A signal that ends the master ends a reload. On SIGTERM the workers accept connections until the
    `delay` of the application is over; the files of Unix sockets remain until then.
    """

    _ending = False
    _stopping = False

    def __init__(self, app: ReloadableApp, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(app, clock)
        self.old_listeners: list[BaseSocket] = []
        self._old_group: ServingProcesses | None = None

    def signal(self, sig: int, frame: FrameType | None) -> None:
        if sig in SIGNALS:
            self._ending = True
            self.app.interrupt()
        super().signal(sig, frame)

    def wait_for_signals(self, timeout: float = 1.0) -> list[int]:
        """The signals since the last call: those that end the master first, and repeatable ones,
        like SIGHUP, once."""
        return in_order(super().wait_for_signals(timeout))

    def handle_hup(self) -> None:
        if not self.app.renew():
            return
        self._reloading = True
        try:
            super().handle_hup()
        except _Interrupted:
            self.log.warning("the gateway is stopped: the reload does not wait for old workers")
        finally:
            self._reloading = False

    def manage_workers(self) -> None:
        """gunicorn calls this about once a second, and within a reload."""
        self._start_workers(super().manage_workers)
        if not self._reloading and self.app.changed():
            self.handle_hup()

    def reap_workers(self) -> None:
        """A reload calls this again and again while it waits for workers, and so does a stop, in
        which the recorder may die as well."""
        self._reap()
        if self._stopping:
            self.keep_recorder()
        if self._reloading and self._ending:
            raise _Interrupted

    def reload(self) -> None:
        """Start the new workers; end the old ones when all of the new have booted.

        gunicorn would end the old ones at once. If the new workers do not boot, they are ended, the
        application reverts, and the old workers continue.
        """
        listeners = self.LISTENERS
        addresses, last = self.cfg.address, self.worker_age
        self.app.boots.failures.clear()
        self._states.forget_failures()
        self._backoff.reset()
        try:
            self.app.reload()
            self.setup(self.app)
            self.log.reopen_files()
            if self.cfg.address != addresses:
                self.LISTENERS = self.app.listen(listeners, self.log)
            self.old_listeners = [old for old in listeners if old not in self.LISTENERS]
            self._old_group, self._group = self._group, self._new_group(last)
            self.keep_recorder()
            for _ in range(self.cfg.workers):
                self.spawn_worker()
            self._await_boot(last)
        except _Interrupted:
            self.LISTENERS = [*self.LISTENERS, *self.old_listeners]  # all are closed with the rest
            raise
        except (BootError, OSError, RuntimeError, SystemExit) as error:
            if os.getpid() != self.pid:  # a worker that ends
                raise
            self._go_back(listeners, last, _reason(error))
            return
        addresses = [old.cfg_addr for old in self.old_listeners]
        self.close_old_sockets()
        self.app.sockets.remove_files(addresses)
        super().manage_workers()  # which ends the oldest; ours might begin another reload
        self._report()
        self.app.confirm()
        self._await_exit(lambda age: age <= last, lambda: self._replace_dead(last))

    def close_old_sockets(self) -> None:
        """Close the sockets that only old workers have a use for. Also called in each new worker,
        which inherits these sockets."""
        while self.old_listeners:
            self.old_listeners.pop().close()
        if self._old_group is not None:
            self._old_group.close()
            self._old_group = None

    def _await_boot(self, last: int) -> None:
        """Wait until every worker after the age `last` has booted. Raises BootError."""
        boots, deadline = self.app.boots, time.monotonic() + BOOT_SECONDS
        while True:
            self.reap_workers()
            boots.receive()
            new = {worker.age for worker in self.WORKERS.values() if worker.age > last}
            if len(new) < self.cfg.workers:
                raise BootError(boots.failures[-1] if boots.failures else "a new worker died")
            if new <= boots.booted:
                return
            if time.monotonic() > deadline:
                raise BootError(f"the new workers did not start within {BOOT_SECONDS:g} s")
            time.sleep(0.02)

    def _await_exit(
        self, matches: Callable[[int], bool], poll: Callable[[], None] = lambda: None
    ) -> None:
        """Wait, at most the grace period, until no worker `matches` by its age."""
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while time.monotonic() < deadline and any(matches(w.age) for w in self.WORKERS.values()):
            self.reap_workers()
            poll()
            time.sleep(0.1)

    def _replace_dead(self, last: int) -> None:
        """Replace workers newer than the age `last` that have died. gunicorn counts old workers as
        well, and so would start none until those have ended."""

        def start() -> None:
            serving = sum(worker.age > last for worker in self.WORKERS.values())
            for _ in range(self.cfg.workers - serving):
                self.spawn_worker()

        self.murder_workers()
        self._start_workers(start)

    def _go_back(self, listeners: list[BaseSocket], last: int, reason: str) -> None:
        """End the new workers and continue with the old ones."""
        for pid, worker in list(self.WORKERS.items()):
            if worker.age > last:
                booted = worker.age in self.app.boots.booted
                self.kill_worker(pid, signal.SIGTERM if booted else signal.SIGKILL)
        try:
            self._await_exit(lambda age: age > last)
            for pid, worker in list(self.WORKERS.items()):
                if worker.age > last:
                    self.kill_worker(pid, signal.SIGKILL)
        finally:  # also if a signal ends the master meanwhile
            self._restore(listeners, reason)

    def _restore(self, listeners: list[BaseSocket], reason: str) -> None:
        """Restore the old addresses and settings."""
        new = [listener for listener in self.LISTENERS if listener not in listeners]
        addresses = [listener.cfg_addr for listener in new]
        self.app.sockets.close(new)
        self.app.sockets.remove_files(addresses)
        self.old_listeners = []
        self.LISTENERS = listeners
        if self._old_group is not None:
            self._group.close()
            self._group, self._old_group = self._old_group, None
        self._report()
        self.app.revert(reason)
        self.app.reload()
        self.setup(self.app)
        self.app.boots.crashes = 0
        self._backoff.reset()

    def stop(self, graceful: bool = True) -> None:
        """End the workers, and return when they have ended or the grace is over."""
        listeners, self.LISTENERS = self.LISTENERS, []
        addresses = [listener.cfg_addr for listener in listeners]
        # Workers detect this, and know that they have no successor (`shutdown.master_listens`).
        self.app.sockets.close(listeners)
        groups = [group for group in (self._group, self._old_group) if group is not None]
        for group in groups:
            group.close_heavy_channel()
        self._stopping = True
        self._service_manager.stopping(self.cfg.graceful_timeout + _KILL_SECONDS)
        self.kill_workers(signal.SIGTERM if graceful else signal.SIGQUIT)
        self._report()
        if graceful:
            graceful = self._await_delay()
        self.app.sockets.remove_files(addresses)
        super().stop(graceful)
        for group in groups:
            group.close()  # no worker is left: the recorders ship the rest
        for recorder in self.recorders:
            recorder.await_end(RECORDER_SECONDS)

    def _await_delay(self) -> bool:
        """Wait while workers accept connections. False if a signal ends the delay."""
        deadline = self._clock() + self.app.delay
        while self.WORKERS and self._clock() < deadline:
            if not {signal.SIGINT, signal.SIGQUIT}.isdisjoint(self.wait_for_signals(0.1)):
                return False
            self._reap()
        return True


class BootError(Exception):
    """New workers did not boot; `str` says why."""


def _reason(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "the new settings cannot be applied, or an address cannot be listened on"
    return str(error)
