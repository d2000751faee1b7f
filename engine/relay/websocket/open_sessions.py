"""The open sessions of a worker, and their limits."""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import gevent

from engine.exchange.request_record import Traffic
from engine.relay.websocket import close_frames
from engine.relay.websocket.close_frames import Ending

CHECK_INTERVAL = 0.5
"""Seconds between two checks of the time limits."""


class SessionLimits(NamedTuple):
    """`max_message` in bytes; `idle` (no message either way), `session` and `ping` in seconds.

    `max_pings` is how many pings, and unsolicited pongs, one side may send per minute.
    """

    max_message: int = 16 * 1024 * 1024
    idle: float = 600.0
    session: float = 7200.0
    ping: float = 20.0
    compression: bool = False
    max_pings: int = 600


class OpenSession(Protocol):
    """A session as a worker knows it: `run` returns at its end, which `end` begins."""

    @property
    def traffic(self) -> Traffic: ...

    def run(self) -> None: ...

    def end(self, end: Ending, /) -> None: ...

    def leave(self) -> None:
        """The worker stops soon: end when nothing is under way."""

    def check_time(self, now: float, /) -> None:
        """End the session if a limit of time is over; called twice a second."""


class Sessions:
    """The open sessions of one worker. One greenlet checks the time limits of all."""

    def __init__(self) -> None:
        self._open: set[OpenSession] = set()
        self._checking = False
        self._stopping = False

    def __len__(self) -> int:
        return len(self._open)

    def run(self, session: OpenSession) -> None:
        """Run a session to its end."""
        self._open.add(session)
        if not self._checking:
            self._checking = True
            gevent.spawn(self._check)
        if self._stopping:
            session.end(close_frames.restart())
        try:
            session.run()
        finally:
            self._open.discard(session)

    def leave(self) -> None:
        """The worker stops soon: sessions that can end without harm do."""
        for session in list(self._open):
            session.leave()

    def restart(self) -> None:
        """The worker stops: end every session, and those that begin later, with code 1012."""
        self._stopping = True
        for session in list(self._open):
            session.end(close_frames.restart())

    def end(self, traffic: Traffic, end: Ending) -> None:
        """End the session that counts in `traffic`, if it is open."""
        for session in list(self._open):
            if session.traffic is traffic:
                session.end(end)

    def _check(self) -> None:
        while self._open:
            gevent.sleep(CHECK_INTERVAL)
            now = time.monotonic()
            for session in list(self._open):
                session.check_time(now)
        self._checking = False


def duration_text(seconds: float) -> str:
    """A duration for people."""
    return f"{seconds / 60:g} min" if seconds >= 120 else f"{seconds:g} s"
