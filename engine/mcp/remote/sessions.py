"""The sessions with servers of the years before 2026-07-28: one for a caller and a server, bounded
in number, and ended when it was idle for long."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from engine.mcp.remote.client import RemoteSession

MAX_SESSIONS = 256
"""Sessions of one server in one worker; the one that was not used for longest ends first."""
IDLE_SECONDS = 600.0


class RemoteSessions:
    """Sessions by caller. Times are on a monotonic clock."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[Hashable, tuple[RemoteSession, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, key: Hashable, now: float) -> RemoteSession | None:
        """The session of a caller, None for none."""
        entry = self._sessions.get(key)
        if entry is None or now - entry[1] > IDLE_SECONDS:
            return None
        self._sessions[key] = entry[0], now
        self._sessions.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, session: RemoteSession, now: float) -> list[RemoteSession]:
        """Keep the session of a caller. Returns those that are kept no longer: end them."""
        old_sessions = []
        self._sessions.pop(key, None)  # one that others of this caller may still use
        while self._sessions:
            first = next(iter(self._sessions.values()))
            if len(self._sessions) < MAX_SESSIONS and now - first[1] <= IDLE_SECONDS:
                break
            old_sessions.append(self._sessions.popitem(last=False)[1][0])
        self._sessions[key] = session, now
        return old_sessions

    def drop(self, key: Hashable) -> None:
        """Forget the session of a caller, which its server has ended."""
        self._sessions.pop(key, None)

    def take_all(self) -> list[RemoteSession]:
        """All sessions, which are kept no longer."""
        sessions = [session for session, _ in self._sessions.values()]
        self._sessions.clear()
        return sessions
