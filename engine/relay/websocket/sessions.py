"""The open sessions of one worker: one greenlet keeps the time for all of them."""

from __future__ import annotations

import time

import gevent

from engine.relay.websocket.session import Session

EVERY = 0.5
"""Seconds between two looks."""


class Sessions:
    """The sessions that are open; the time is kept as long as there are any."""

    def __init__(self) -> None:
        self._open: set[Session] = set()
        self._looking = False
        self._ending = False

    def __len__(self) -> int:
        return len(self._open)

    def run(self, session: Session) -> None:
        """Run a session to its end."""
        self._open.add(session)
        if not self._looking:
            self._looking = True
            gevent.spawn(self._look)
        if self._ending:
            session.restart()
        try:
            session.run()
        finally:
            self._open.discard(session)

    def restart(self) -> None:
        """The worker ends: so does every session, each with close code 1012, and a new one too."""
        self._ending = True
        for session in list(self._open):
            session.restart()

    def _look(self) -> None:
        while self._open:
            gevent.sleep(EVERY)
            now = time.monotonic()
            for session in list(self._open):
                session.look(now)
        self._looking = False
