"""The open sessions of a worker."""

from __future__ import annotations

import time

import gevent
import gevent.socket

from engine.exchange.request_record import Traffic
from engine.relay.websocket import close_frames
from engine.relay.websocket.session import SessionLimits
from tests.support.frames import (
    CLOSE,
    TEXT,
    close,
)
from tests.support.session import session, until


def test_a_session_ends_when_its_token_is_revoked_and_the_others_go_on():
    with session(error=lambda error: error.code.encode()) as between:
        between.sessions.end(Traffic(), close_frames.token_revoked())  # another session's
        between.caller.send(TEXT, b"hi")
        assert between.upstream.next().data == b"hi"
        between.sessions.end(between.traffic, close_frames.token_revoked())
        assert between.caller.next().data == b"invalid_api_key"
        assert between.caller.closed() == (1008, "the token was revoked or has expired")
        assert between.upstream.closed()[0] == 1001
        between.caller.close(1008)
        between.upstream.close(1001)
        between.over()
        assert (between.traffic.outcome, between.traffic.code) == ("revoked", 1008)


def test_an_idle_session_is_closed_with_words():
    with session(SessionLimits(idle=0.3)) as between:
        start = time.monotonic()
        between.caller.text("hello")
        assert between.upstream.next().data == b"hello"
        for peer in (between.caller, between.upstream):
            assert peer.closed() == (1001, "no message for 0.3 s")
        assert time.monotonic() - start >= 0.3


def test_a_session_ends_at_its_longest_duration():
    with session(SessionLimits(session=0.6)) as between:
        talking = gevent.spawn(chatter, between.caller)
        while (next_frame := between.upstream.next()).opcode != CLOSE:
            assert next_frame.data == b"and"
        assert next_frame.data == close(1001, b"the session reached its limit of 0.6 s")
        talking.kill()


def chatter(peer):
    while True:
        peer.text("and")
        gevent.sleep(0.05)


def test_a_worker_that_ends_closes_its_sessions_with_1012():
    with session() as between:
        until(lambda: len(between.sessions) == 1)
        between.sessions.restart()
        for peer in (between.caller, between.upstream):
            assert peer.closed() == (1012, "the gateway restarts; connect again")
        between.over()
        assert len(between.sessions) == 0
        assert between.traffic.code == 1012
