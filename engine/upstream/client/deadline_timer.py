"""Waiting for a socket with a time limit, cheap enough to be set for every piece of a stream.

gevent makes a timer for each wait and takes it down again, though hardly one ever rings. Here one
timer serves many waits: it rings when the earliest could have ended, and is set anew if none has.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from gevent import get_hub, getcurrent


class DeadlineTimer:
    """The time limit of one wait after another. To be closed, or it rings once more for nobody."""

    def __init__(self) -> None:
        self._timer: Any = None
        self._rings = 0.0  # when, if there is a timer
        self._deadline = 0.0  # of the wait of now
        self._waiting: Any = None

    def wait(self, watcher: Any, seconds: float) -> None:
        """Wait until an I/O watcher of gevent is ready. Raises TimeoutError after `seconds`."""
        self.extend(seconds)
        self._waiting = getcurrent()
        try:
            get_hub().wait(watcher)
        finally:
            self._waiting = None

    def watch(self, watcher: Any, seconds: float, arrived: Callable[[], bool]) -> None:
        """Wait while `arrived` is called each time a watcher is ready, from the event loop, where
        nothing may wait: nobody is woken for it. Until it returns False, or raises, which is raised
        here; or until the time is over as for `wait`, which it may `extend`."""
        self.extend(seconds)
        self._waiting = getcurrent()
        try:
            watcher.start(self._ready, arrived)
            get_hub().switch()
        finally:
            watcher.stop()
            self._waiting = None

    def extend(self, seconds: float) -> None:
        """The wait of now may last so long from now."""
        self._deadline = deadline = monotonic() + seconds
        if self._timer is None or deadline < self._rings:
            self._set(seconds)

    def left(self) -> float:
        """Seconds until the latest wait would have been over; at least 0."""
        return max(0.0, self._deadline - monotonic())

    def close(self) -> None:
        """Take the timer down."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.stop()
            timer.close()

    def _set(self, seconds: float) -> None:
        self.close()
        self._rings = monotonic() + seconds
        self._timer = get_hub().loop.timer(seconds)
        self._timer.start(self._ring)

    def throw(self, error: BaseException) -> None:
        """Wake whoever watches with an error. gevent does so when it closes what is watched."""
        self._waiting.throw(error)

    def _ready(self, arrived: Callable[[], bool]) -> None:
        try:
            if arrived():
                return
        except BaseException as error:  # noqa: BLE001 - raised again, where it is waited for
            self.throw(error)
        else:
            self._waiting.switch()

    def _ring(self) -> None:
        """From the hub, where nobody runs: whoever is woken still waits."""
        self.close()
        if self._waiting is None:
            return
        left = self._deadline - monotonic()
        if left > 0:
            self._set(left)
        else:
            self._waiting.throw(TimeoutError)
