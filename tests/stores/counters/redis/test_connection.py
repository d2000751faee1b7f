"""Connections to Redis servers: over sockets, with TLS, as users of an ACL."""

from __future__ import annotations

import pytest

from engine.stores.counters.redis.counters import RedisCounters
from engine.values.calendar import Calendar
from engine.values.counters import CountersAway
from tests.support.counters import RATE, Limit, take, wait_for_corrections
from tests.support.redis_server import ACL


@pytest.mark.parametrize("database", ["", "/0", "/3"])
def test_a_unix_socket_works(server, database):
    store = RedisCounters(server.unix_url + (f"?db={database[1:]}" if database else ""))
    assert take(store, RATE).remaining[0] == 8
    store.close()


def test_a_user_of_an_acl_needs_no_more_than_the_manual_says(server):
    server.say(f"ACL SETUSER gateway on >s3cret {ACL}")
    store = RedisCounters(server.url.replace("redis://", "redis://gateway:s3cret@"))
    limits = [*RATE, Limit("slots:a", 5, 0), Limit("month:a", 50, Calendar("month"), 2)]
    for _ in range(3):
        result = take(store, limits)
        assert result.denied is None
        store.settle(result.receipt, [1, 1, 1])
        wait_for_corrections(store)
    assert take(store, limits).remaining == [5, 4, 45]
    store.close()


def test_what_a_user_may_not_do_is_named(server):
    server.say("ACL SETUSER gateway on >s3cret ~* +@all -evalsha -eval")
    store = RedisCounters(server.url.replace("redis://", "redis://gateway:s3cret@"))
    with pytest.raises(CountersAway, match="permissions"):
        take(store, RATE)
    store.close()


@pytest.mark.parametrize("data", [b"", b'["5f3', b"\0" * 20, b"\xff", b"{}", b"[1, 2]"])
def test_a_worker_starts_although_the_id_of_the_data_was_torn(server, tmp_path, data, caplog):
    store = RedisCounters(server.url, folder=tmp_path)
    take(store, RATE)
    store.close()
    (file,) = tmp_path.iterdir()
    file.write_bytes(data)
    store = RedisCounters(server.url, folder=tmp_path)
    assert take(store, RATE).remaining == [6]
    assert str(file) in caplog.text
    store.close()
    store = RedisCounters(server.url, folder=tmp_path)
    assert caplog.text.count(str(file)) == 1, "it is written again"
    store.close()
