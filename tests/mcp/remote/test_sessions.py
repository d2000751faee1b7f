"""Sessions with older servers."""

from engine.mcp.remote.client import RemoteSession
from engine.mcp.remote.sessions import IDLE_SECONDS, MAX_SESSIONS, RemoteSessions


def session(name):
    return RemoteSession("2025-06-18", str(name))


def test_a_session_is_that_of_its_caller_until_it_was_idle_for_long():
    sessions = RemoteSessions()
    sessions.put("a", session(1), 0.0)
    assert sessions.get("a", IDLE_SECONDS) == session(1)
    assert sessions.get("a", IDLE_SECONDS * 1.9) == session(1)
    assert sessions.get("a", IDLE_SECONDS * 3) is None
    assert sessions.get("b", 0.0) is None


def test_the_one_that_was_not_used_for_longest_ends_first():
    sessions = RemoteSessions()
    for number in range(MAX_SESSIONS):
        assert sessions.put(number, session(number), 0.0) == []
    sessions.get(0, 1.0)
    assert sessions.put("more", session("more"), 1.0) == [session(1)]
    assert len(sessions) == MAX_SESSIONS


def test_idle_ones_end_when_another_begins():
    sessions = RemoteSessions()
    sessions.put("a", session(1), 0.0)
    assert sessions.put("b", session(2), IDLE_SECONDS + 1) == [session(1)]


def test_those_that_are_dropped_or_taken_are_known_no_longer():
    sessions = RemoteSessions()
    sessions.put("a", session(1), 0.0)
    sessions.put("b", session(2), 0.0)
    sessions.drop("a")
    assert sessions.take_all() == [session(2)]
    assert len(sessions) == 0
