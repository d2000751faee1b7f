"""Calls to a Redis server: resending, time limits, and a server that goes away."""

from __future__ import annotations

import logging
import time
from typing import Any

import gevent
import pytest
from redis import Connection

from engine.stores.counters.redis.address import RedisOptions
from engine.stores.counters.redis.call import Unsent
from engine.stores.counters.redis.deadlines import Late
from engine.stores.counters.redis.server import FixedServer
from engine.values.counters import CountersAway
from tests.support.counters import client_at
from tests.support.redis_faults import back, break_next_answer


def test_a_worker_reconnects_any_number_of_times(server):
    client = client_at(server.url)
    for _ in range(250):
        assert client.call(("PING",)) == b"PONG"
        server.say("CLIENT KILL TYPE normal SKIPME yes")
    client.close()


def test_a_server_that_restarts_again_and_again_is_used_again(server):
    client = client_at(server.url)
    for _ in range(5):
        server.kill()
        with pytest.raises(CountersAway):
            client.call(("PING",))
        server.start()
        back(client.raise_if_away)
        assert client.call(("PING",)) == b"PONG"
    client.close()


def test_calls_fail_at_once_while_the_server_is_away(server, monkeypatch):
    server.kill()
    client = client_at(server.url)
    with pytest.raises(Unsent):
        client.call(("PING",))
    connections = []
    monkeypatch.setattr(FixedServer, "new_connection", connections.append)
    for _ in range(100):
        with pytest.raises(Unsent, match="is away"):
            client.call(("PING",))
    assert connections == []
    client.close()


def test_an_outage_and_its_end_are_logged_once_each_without_the_password(server, caplog):
    with caplog.at_level(logging.DEBUG):
        client = client_at(server.url.replace("redis://", "redis://somebody:s3cret@"))
        for _ in range(20):
            with pytest.raises(CountersAway) as excinfo:
                client.call(("PING",))
            assert "s3cret" not in str(excinfo.value)
            gevent.sleep(0.01)
        server.say("ACL SETUSER somebody on >s3cret ~* +@all")
        back(client.raise_if_away)
        client.call(("PING",))
    messages = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert [message.split(" is ")[1].split(":")[0] for message in messages] == ["away", "back"]
    assert "s3cret" not in caplog.text
    client.close()


def test_only_a_server_that_lost_its_data_counts_as_lost(server, caplog):
    client = client_at(server.url)
    client.call(("PING",))
    server.say("CLIENT KILL TYPE normal SKIPME yes")
    client.call(("PING",))
    assert client.lost_at < 0
    server.kill()
    server.start()
    client.call(("PING",))
    assert time.monotonic() - client.lost_at < 60
    assert caplog.text.count("has lost its counters") == 1
    client.close()


def test_a_folder_that_takes_no_file_is_logged_and_the_server_stays_in_use(
    server, tmp_path, caplog
):
    folder = tmp_path / "folder"
    client = client_at(server.url, folder=folder)
    for _ in range(2):
        client.call(("PING",))
        server.say("CLIENT KILL TYPE normal SKIPME yes")
    assert not client.is_away
    assert caplog.text.count("cannot write") == 1
    folder.mkdir()
    client.call(("PING",))
    assert len(list(folder.iterdir())) == 1, "it is written once it can be"
    client.close()


def test_a_call_to_a_missing_server_is_unsent(server):
    server.kill()
    with pytest.raises(Unsent):
        client_at(server.url).call(("PING",), resend=False)


def test_an_answer_that_arrived_while_the_worker_was_busy_is_not_late(server, monkeypatch):
    """The deadline may end before the answer is read when a worker was busy."""
    client = client_at(server.url)
    client.call(("PING",))
    read, late = Connection.read_response, []

    def busy(connection: Connection, **options: Any) -> object:
        if not late:
            while not connection.can_read(0.01):
                pass
            late.append(Late(2.0, is_silent=True))
            raise late[0]
        return read(connection, **options)

    monkeypatch.setattr(Connection, "read_response", busy)
    assert client.call(("PING",)) == b"PONG"
    assert late
    client.close()


def test_a_call_that_waits_for_a_free_connection_has_not_begun(server):
    """While the server answers others, it waits for as long as it takes."""
    client = client_at(server.url, RedisOptions(timeout=0.5, connections=1))
    waits = [gevent.spawn(client.call, ("BLPOP", "nothing", 0.2)) for _ in range(5)]
    gevent.sleep(0)
    assert client.call(("PING",)) == b"PONG"
    assert [waiting.get(timeout=0) for waiting in waits] == [None] * 5
    client.close()


@pytest.mark.parametrize(("again", "times"), [(True, b"2"), (False, b"1")])
def test_only_idempotent_commands_are_sent_again(server, monkeypatch, again, times):
    client = client_at(server.url)
    client.call(("PING",))

    break_next_answer(monkeypatch)
    if again:
        client.call(("INCR", "once"))
    else:
        with pytest.raises(CountersAway) as excinfo:
            client.call(("INCR", "once"), resend=False)
        assert not isinstance(excinfo.value, Unsent)
    arrived = client_at(server.url)
    assert arrived.call(("GET", "once")) == times
    arrived.close()
