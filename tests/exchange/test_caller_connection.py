"""The caller's connection under a server of which only WSGI is known."""

from __future__ import annotations

import io

import pytest

from engine.exchange.caller_connection import (
    NO_CONNECTION,
    CallerConnection,
    InternalCaller,
    InternalConnection,
    WSGIConnection,
)
from engine.values.caller import Caller


def test_under_any_wsgi_server_the_body_can_be_read_and_nothing_else():
    connection: CallerConnection = WSGIConnection(io.BytesIO(b"abc"))
    assert (connection.read(2), connection.read(2)) == (b"ab", b"c")
    assert not connection.can_take_over
    assert connection.buffered_body() is None
    assert not connection.close_after()
    assert (connection.try_send, connection.fileno()) == (None, -1)
    with pytest.raises(RuntimeError, match="does not support taking over"):
        connection.take_over()


def test_an_exchange_without_a_server_has_an_empty_body():
    assert NO_CONNECTION.read(9) == b""


def test_only_a_connection_from_inside_has_an_internal_caller():
    caller = InternalCaller(Caller("alice"), "digest")
    inside: CallerConnection = InternalConnection(b"abc", caller)
    assert (inside.internal, inside.buffered_body()) == (caller, b"abc")
    assert (inside.read(2), inside.read(2), inside.read(2)) == (b"ab", b"c", b"")
    assert WSGIConnection(io.BytesIO()).internal is None
    assert NO_CONNECTION.internal is None
