"""The recorder's process, seen by its master: started, watched, and replaced when it ends.

It is none of gunicorn's workers: it must outlive them, and nobody counts it as one. It ends when no
worker is left, and ignores the signals that end the others, as it has to ship their last rows.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import gevent
from gevent import monkey

from engine.process.channel import Channel
from engine.server.gevent_patches import patching
from engine.server.shutdown import DUMP_SIGNAL
from engine.server.watchdog import Watchdog

log = logging.getLogger("modelway")

RECORDER_NAME = "modelway-record"
"""The name of its process, for `ps` and `top`: at most 15 characters."""
MAX_PAUSE = 30.0
"""The longest pause in seconds before one that has ended is replaced."""
_BEAT_SECONDS = 1.0
_POLL_SECONDS = 0.02
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1)

Run = Callable[[Channel], None]
"""What the process does: returns when no worker is left."""


class RecorderProcess:
    """Keeps one process alive that runs `run`. Workers reach it over `channel`. `last_beat` is when
    it last said that it goes on.

    `limit` is after how many seconds without progress it is killed (0: never), as the `Watchdog`
    counts them. The first that ends is replaced at once, further ones after pauses; those are
    forgotten once one has lived for MAX_PAUSE. `clock` gives monotonic seconds.
    """

    def __init__(
        self, run: Run, limit: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.channel = Channel()
        self.pid = 0
        self._run = run
        self._clock = clock
        self._watchdog = Watchdog(limit, clock)
        self._life: socket.socket | None = None
        self._started = self.last_beat = self._next_start = -1e300
        self._failures = -1

    def keep(self, release: Callable[[], None]) -> None:
        """Start the process if there is none. Called about once a second; `release` is called in
        the new process, to close what belongs to others."""
        now = self._clock()
        if self.lives():
            if self._watchdog.check(self.pid, self.last_beat) is not None:
                log.critical("the recorder, process %s, is stuck and is killed", self.pid)
                self._kill()
            return
        if self.pid:
            pid, self.pid = self.pid, 0
            self._pause(now, f"the recorder, process {pid}, has ended")
        if now >= self._next_start:
            self._start(now, release)

    def lives(self) -> bool:
        """Whether the process runs."""
        if self._life is None:
            return False
        try:
            while self._life.recv(4096):
                self.last_beat = self._clock()
        except BlockingIOError:
            return True
        except ConnectionResetError:  # as the end of the stream
            pass
        self._life.close()
        self._life = None
        return False

    def leave_to_master(self) -> None:
        """Called in a new worker: only the master watches the recorder."""
        if self._life is not None:
            self._life.close()

    def await_end(self, seconds: float) -> None:
        """Wait until the process has shipped the rest and ended; after so many seconds kill it."""
        deadline = self._clock() + seconds
        while self.lives() and self._clock() < deadline:
            time.sleep(_POLL_SECONDS)
        if self.lives():
            log.error("the recorder does not end: what it has not shipped stays in the journal")
            self._kill()
            while self.lives():
                time.sleep(_POLL_SECONDS)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _pause(self, now: float, reason: str) -> None:
        self._failures = 0 if now - self._started > MAX_PAUSE else self._failures + 1
        pause = min(2.0**self._failures - 1, MAX_PAUSE)
        self._next_start = now + pause
        log.error("%s; the next one starts in %g s, and rows wait in the journal", reason, pause)

    def _start(self, now: float, release: Callable[[], None]) -> None:
        life, beat = socket.socketpair()
        try:
            pid = os.fork()
        except OSError as error:
            life.close()
            self._pause(now, f"the recorder cannot be started: {error.strerror}")
        else:
            if not pid:
                life.close()
                _become(self._run, self.channel, beat, release)
            life.setblocking(False)
            self.pid, self._life = pid, life
            self._started = self.last_beat = now
        finally:
            beat.close()


def _become(
    run: Run, channel: Channel, beat: socket.socket, release: Callable[[], None]
) -> NoReturn:
    """Be the recorder from now on, in a child of the master."""
    status = 1
    try:
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        faulthandler.register(DUMP_SIGNAL, 2, all_threads=True)
        with suppress(OSError):  # not Linux
            Path("/proc/self/comm").write_text(RECORDER_NAME)
        release()
        channel.keep_receiving()
        with patching():
            monkey.patch_all()
        gevent.reinit()
        gevent.spawn(_beat, beat)
        run(channel)
        status = 0
    except BaseException:
        log.exception("the recorder has failed")
    finally:
        os._exit(status)


def _beat(beat: socket.socket) -> None:
    """Tell the master once a second that this process goes on."""
    beat.setblocking(False)
    while True:
        with suppress(OSError):  # the master is gone
            beat.send(b".")
        gevent.sleep(_BEAT_SECONDS)
